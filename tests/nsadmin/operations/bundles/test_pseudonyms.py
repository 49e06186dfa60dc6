"""Pseudonyms: consistent, of the same kind, and without the names."""

import json

from namesrv_core.protocol.codes import RequestCode
from nsadmin.operations.bundles.pseudonyms import ADDRESSES, NAMES, Pseudonyms
from tests.support.bundles import NAMESRV, json_answer, request_key

BROKER = "mq1.example.com:10911"
TABLES = {
    NAMESRV: {
        request_key(RequestCode.GET_BROKER_CLUSTER_INFO): json_answer(
            {
                "brokerAddrTable": {
                    "mq-a": {"brokerName": "mq-a", "cluster": "prod", "brokerAddrs": {"0": BROKER}}
                },
                "clusterAddrTable": {"prod": ["mq-a"]},
            }
        ),
        request_key(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER): json_answer(
            {"topicList": ["orders", "tenant%pay", "%RETRY%billing", "TBW102", "rmq_sys_X_prod", "topic"]}
        ),
        request_key(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS): json_answer({"topicList": ["TBW102"]}),
    },
    BROKER: {
        request_key(RequestCode.GET_ALL_CONSUMER_OFFSET): json_answer(
            {"offsetTable": {"orders@billing": {}}}
        ),
        request_key(RequestCode.GET_ALL_PRODUCER_INFO): json_answer(
            {"data": {"shop": [{"clientId": "app7@1234#5"}, {"clientId": "10.1.2.3@shop-worker"}]}}
        ),
        request_key(RequestCode.AUTH_LIST_USER): json_answer([{"username": "alice"}]),
    },
}


def make(*kinds: str) -> Pseudonyms:
    return Pseudonyms(TABLES, [NAMESRV], kinds, key=b"k" * 32)


def test_the_same_address_has_the_same_pseudonym_of_the_same_kind() -> None:
    pseudonyms = make(ADDRESSES)
    private, loopback, public = (pseudonyms.rename_text(ip) for ip in ("10.1.2.3", "127.0.0.1", "8.8.8.8"))
    assert private.startswith("10.")
    assert private != "10.1.2.3"
    assert loopback.startswith("127.")
    assert public.startswith("1.")
    assert pseudonyms.rename_text('a="10.1.2.3:10911;10.1.2.3"') == f'a="{private}:10911;{private}"'
    assert (
        pseudonyms.rename_text("0.0.0.0:80 5.5.0 1.2.3.4.5 12:30:45") == "0.0.0.0:80 5.5.0 1.2.3.4.5 12:30:45"
    )
    assert pseudonyms.rename_text("[2001:db8::1]:80").startswith("[fd00:")
    assert pseudonyms.rename_text("::1") == "::1"


def test_host_names_of_addresses_and_clients_are_replaced() -> None:
    pseudonyms = make(ADDRESSES)
    renamed = pseudonyms.rename_text(f"{BROKER} app7@1234#5 /data/mq1.example.com/log mq1.example.com.")
    assert "example" not in renamed
    assert "app7" not in renamed
    host = renamed.partition(":")[0]
    assert host.startswith("host-")
    assert renamed.count(host) == 3
    assert pseudonyms.rename_text("orders mq-a prod billing") == "orders mq-a prod billing"


def test_names_are_replaced_within_longer_names_too() -> None:
    pseudonyms = make(NAMES)
    topic, group, broker, cluster = map(pseudonyms.rename_text, ("orders", "billing", "mq-a", "prod"))
    assert [name.split("-")[0] for name in (topic, group, broker, cluster)] == [
        "topic", "group", "broker", "cluster",
    ]  # fmt: skip
    assert pseudonyms.rename_text("orders@billing %RETRY%billing") == f"{topic}@{group} %RETRY%{group}"
    assert pseudonyms.rename_text("rmq_sys_REVIVE_LOG_prod") == f"rmq_sys_REVIVE_LOG_{cluster}"
    assert pseudonyms.rename_text("prod_REPLY_TOPIC") == f"{cluster}_REPLY_TOPIC"
    assert pseudonyms.rename_text("/store-mq-a-0/x") == f"/store-{broker}-0/x"
    kept = "TBW102 topic SYS 10.1.2.3"
    assert pseudonyms.rename_text(kept) == kept
    for name in ("tenant%pay", "alice", "shop", "shop-worker"):
        assert name not in pseudonyms.rename_text(f"{name} x")


def test_another_bundle_has_other_pseudonyms() -> None:
    names = {Pseudonyms(TABLES, [NAMESRV], (NAMES,)).rename_text("orders") for _ in range(3)}
    assert len(names) == 3


def test_members_are_renamed_with_their_contents() -> None:
    members = {
        "servers/1.json": json.dumps({"server": BROKER, "bodies": ['{"topicList":["orders"]}']}).encode(),
        "journals/mq1.example.com/0.jsonl": b'{"topic":"orders"}\nno json orders\n',
    }
    pseudonyms = make(ADDRESSES, NAMES)
    renamed = dict(pseudonyms.rename_member(*member) for member in members.items())
    assert b"orders" not in b"".join(renamed.values())
    assert not any("example" in name for name in renamed)
    topic = pseudonyms.rename_text("orders")
    assert json.loads(renamed["servers/1.json"])["bodies"] == [f'{{"topicList":["{topic}"]}}']
    assert renamed[next(name for name in renamed if name.endswith("l"))] == (
        f'{{"topic":"{topic}"}}\nno json {topic}\n'.encode()
    )
