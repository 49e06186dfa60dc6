"""updateOrderConf."""

import json
from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config

SPACE = "ORDER_TOPIC_CONFIG"


@pytest.fixture(autouse=True)
def _enabled(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    for server in (first_server, second_server):
        server.config["orderMessageEnable"] = "true"


@pytest.mark.parametrize(
    "words",
    [
        ("T", "put", "a:4;b:8"),
        ("-t", "T", "-m", "put", "-v", "a:4;b:8"),
        ("--topic", "T", "--method", "put", "--orderConf", "a:4;b:8"),
    ],
)
def test_it_is_put_read_and_deleted_everywhere(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    words: tuple[str, ...],
) -> None:
    result = run("updateOrderConf", *words, both_servers, "--json")
    assert (result.code, result.err) == (
        0,
        "nsadmin: T: a is not registered, but clients send to it\n"
        "nsadmin: T: b is not registered, but clients send to it\n"
        "nsadmin: T: the order configuration leaves out 1 broker of the topic: clients do not send to it; to "
        "use it, add broker-a:8\nnsadmin: to undo it: nsadmin updateOrderConf T delete\n",
    )
    assert first_server.kv[SPACE] == second_server.kv[SPACE] == {"T": "a:4;b:8"}
    warnings, _, _ = result.err.partition("nsadmin: to undo it")
    assert run("updateKvConfig", SPACE, "T", "a:4;b:8", both_servers, "--json").err == warnings
    result = run("updateOrderConf", "T", "get", both_servers, "--json")
    assert [(row["orderConf"], row["result"]) for row in json.loads(result.out)] == [("a:4;b:8", "found")] * 2
    second_server.kv[SPACE] = {"T": "a:1"}
    result = run("updateOrderConf", "T", "put", "a:4;b:8", both_servers, "--json")
    assert [(row["changes"], row["result"]) for row in json.loads(result.out)] == [
        (None, "unchanged"),
        ("a:1 -> a:4;b:8", "done"),
    ]
    del second_server.kv[SPACE]["T"]
    result = run("updateOrderConf", "T", "delete", both_servers, "--yes", "--json")
    assert [row["before"] for row in json.loads(result.out)] == ["a:4;b:8", None]
    assert (result.code, [row["result"] for row in json.loads(result.out)]) == (0, ["done", "not found"])
    assert first_server.kv[SPACE] == {}
    assert run("updateOrderConf", "T", "delete", both_servers, "--yes").code == 5
    assert run("updateOrderConf", "T", "get", both_servers).code == 5


@pytest.fixture
def ordered_broker(first_server: FakeNameServer, second_server: FakeNameServer) -> Iterator[TopicBroker]:
    """Brokers of 5.x keep a topic ordered after its order configuration is gone."""
    with TopicBroker(topic_config("T", order=True)) as broker:
        for server in (first_server, second_server):
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
            server.kv[SPACE] = {"T": "broker-a:4"}
        yield broker


def test_brokers_no_longer_order_a_topic_whose_configuration_is_deleted(
    run: Run, both_servers: str, ordered_broker: TopicBroker
) -> None:
    dry = run("updateOrderConf", "T", "delete", both_servers, "--dry-run", "--json")
    assert [row["result"] for row in json.loads(dry.out)] == ["dry-run"] * 3
    assert ordered_broker.configs["T"]["order"] is True
    result = run("updateOrderConf", "T", "delete", both_servers, "--yes", "--json")
    row = json.loads(result.out)[-1]
    assert (result.code, row["brokerAddr"], row["changes"]) == (0, ordered_broker.addr, "order true -> false")
    assert ordered_broker.configs["T"]["order"] is False


def test_a_broker_that_does_not_order_the_topic_is_left_alone(
    run: Run, both_servers: str, ordered_broker: TopicBroker
) -> None:
    ordered_broker.configs["T"]["order"] = False
    result = run("updateOrderConf", "T", "delete", both_servers, "--yes", "--json")
    assert (result.code, [row["brokerAddr"] for row in json.loads(result.out)]) == (0, [None, None])
    assert RequestCode.UPDATE_AND_CREATE_TOPIC not in ordered_broker.asked_codes()


def test_brokers_keep_the_order_while_a_name_server_keeps_the_configuration(
    run: Run, both_servers: str, second_server: FakeNameServer, ordered_broker: TopicBroker
) -> None:
    second_server.handlers[RequestCode.DELETE_KV_CONFIG] = refuse_with(1, "no")
    result = run("updateOrderConf", "T", "delete", both_servers, "--yes", "--json")
    assert result.code == 3
    assert ordered_broker.configs["T"]["order"] is True
    assert "stays ordered on brokers while a name server may have its order configuration" in result.err


def test_dry_runs_write_nothing(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    result = run("updateOrderConf", "T", "put", "a:4", both_servers, "--dry-run", "--json")
    assert (result.code, [row["result"] for row in json.loads(result.out)]) == (0, ["dry-run"] * 2)
    assert [(row["changes"], row["after"]) for row in json.loads(result.out)] == [("new: a:4", "a:4")] * 2
    assert run("updateOrderConf", "T", "delete", both_servers, "--dry-run").code == 5
    assert RequestCode.PUT_KV_CONFIG not in first_server.asked_codes()
    assert RequestCode.DELETE_KV_CONFIG not in first_server.asked_codes()


def test_servers_that_keep_it_to_themselves_are_told(
    run: Run, both_servers: str, second_server: FakeNameServer
) -> None:
    second_server.config["orderMessageEnable"] = "false"
    result = run("updateOrderConf", "T", "put", "broker-a:8", both_servers)
    assert (result.code, result.err) == (
        0,
        f"nsadmin: clients get no order configuration from {second_server.addr}, "
        "because orderMessageEnable is false. Without it, messages stay in order only while all brokers of "
        "the topic run: to send it, run nsadmin updateNamesrvConfig orderMessageEnable true\n"
        "nsadmin: to undo it: nsadmin updateOrderConf T delete\n",
    )


def test_a_preview_says_what_clients_would_do_if_they_got_it(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.config["orderMessageEnable"] = second_server.config["orderMessageEnable"] = "false"
    result = run("updateOrderConf", "T", "put", "broker-a:8;gone:8", both_servers, "--dry-run")
    assert result.err.splitlines() == [
        "nsadmin: T: gone is not registered, but clients would send to it if name servers get "
        "orderMessageEnable=true",
        # No advice to send a configuration to clients with which their sends would fail.
        f"nsadmin: clients get no order configuration from {first_server.addr}, {second_server.addr}, "
        "because orderMessageEnable is false",
    ]


@pytest.mark.parametrize("words", [("put",), ("put", "a"), ("put", "a:b"), ("set", "a:1")])
def test_bad_lines(run: Run, both_servers: str, first_server: FakeNameServer, words: tuple[str, ...]) -> None:
    result = run("updateOrderConf", "T", *words, both_servers)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert first_server.asked == []


def test_a_read_only_context_may_be_asked_but_not_written(run: Run, first_server: FakeNameServer) -> None:
    run("contextSet", "p", "-n", first_server.addr, "--read-only")
    first_server.kv[SPACE] = {"T": "a:4"}
    result = run(
        "updateOrderConf", "T", "get", "--context", "p", "--columns", "orderConf", "--output", "value"
    )
    assert result == (0, "a:4\n", "")
    for words in (("put", "a:5"), ("delete", "-y")):
        result = run("updateOrderConf", "T", *words, "--context", "p")
        assert (result.code, result.out, "read-only" in result.err) == (6, "", True)
    assert first_server.kv[SPACE] == {"T": "a:4"}
    assert run("updateOrderConf", "T", "put", "a:5", "--context", "p", "--dry-run").code == 0


def test_a_missing_order_configuration_needs_no_consent_to_its_deletion(
    run: Run, both_servers: str, first_server: FakeNameServer
) -> None:
    for words in (("get",), ("delete",), ("delete", "--yes")):
        result = run("updateOrderConf", "T", *words, both_servers)
        assert (result.code, result.err) == (5, "nsadmin: T has no order configuration\n")
    first_server.kv[SPACE] = {"T": "a:4"}
    result = run("updateOrderConf", "T", "delete", both_servers)
    assert (result.code, "this would delete the order configuration of T" in result.err) == (2, True)
    assert first_server.kv[SPACE] == {"T": "a:4"}
