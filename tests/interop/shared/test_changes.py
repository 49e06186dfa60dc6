"""What is told before a change is what it does; what is kept and suggested: with Java servers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.resource_attributes import (
    GROUP_ATTRIBUTES,
    TOPIC_ATTRIBUTES,
    UNCHANGEABLE,
)
from nsadmin import AdminClient
from nsadmin.client.consumers.committed_offsets import OffsetCommit
from nsadmin.client.message_queues import MessageQueue
from tests.interop import command_line, wire
from tests.interop.cluster import create_topic, permissions, send_code, wait_for_topic
from tests.interop.daily import Cluster

CLUSTER = "DefaultCluster"


@pytest.fixture(scope="module")
def cluster(cluster: Cluster) -> Cluster:
    """On Java's name server, with two topics."""
    on_java = cluster._replace(server=cluster.java)
    on_java.topic("Payments")
    create_topic(cluster.new.port, "ReadOnly", perm=4)
    wait_for_topic([cluster.java], "ReadOnly")
    return on_java


@pytest.fixture
def audit_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "audit.jsonl"
    monkeypatch.setitem(command_line.ENVIRONMENT, "NSADMIN_AUDIT", str(file))
    return file


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_name_server_does_what_the_dry_run_said(cluster: Cluster, audit_file: Path) -> None:
    for command in ("wipeWritePerm", "addWritePerm"):
        now = permissions(cluster.server, "broker-a")
        [planned_row] = cluster(command, "broker-a", "--dry-run").rows
        assert permissions(cluster.server, "broker-a") == now == planned_row["before"]
        [done] = cluster(command, "broker-a").rows
        assert permissions(cluster.server, "broker-a") == planned_row["after"] != now
        assert done["topicCount"] == planned_row["topicCount"] == len(now)
    assert [(item["command"].split()[0], item["sent"]) for item in records(audit_file)] == [
        (command, [{"server": cluster.server.address, "request": request, "outcome": "SUCCESS (0)"}])
        for command, request in (
            ("wipeWritePerm", "WIPE_WRITE_PERM_OF_BROKER"),
            ("addWritePerm", "ADD_WRITE_PERM_OF_BROKER"),
        )
    ]


def test_settings_before_and_after(cluster: Cluster) -> None:
    for words in (
        ("updateNamesrvConfig", "waitSecondsForService", "44"),
        ("updateBrokerConfig", "fileReservedTime", "47", "-c", CLUSTER),
    ):
        planned_rows = cluster(*words, "--dry-run").rows
        done = cluster(*words, "--yes").rows
        before_and_after = [(row["before"], row["after"], row["changes"]) for row in planned_rows]
        assert [(row["before"], row["after"], row["changes"]) for row in done] == before_and_after
        assert {row["changes"] for row in cluster(*words, "--dry-run").rows} == {None}


def test_synchronous_flush_breaks_sends_until_a_restart(cluster: Cluster) -> None:
    """A running broker casts its flush service to one that it does not have."""
    words = ("updateBrokerConfig", "flushDiskType", "SYNC_FLUSH", "-b", cluster.new.address)
    refused = cluster(*words)
    assert (refused.code, "refuses all sends until it restarts" in refused.err) == (2, True)
    assert send_code(cluster.new.port, "Payments") == 0
    try:
        assert cluster(*words, "--yes").code == 0
        assert send_code(cluster.new.port, "Payments") == 1
    finally:
        assert cluster(*words[:2], "ASYNC_FLUSH", *words[3:]).code == 0
    assert send_code(cluster.new.port, "Payments") == 0


def test_a_deletion_shows_what_goes_on_masters_and_name_servers(cluster: Cluster) -> None:
    planned_rows = cluster("deleteTopic", "Payments", CLUSTER, "--dry-run").rows
    queues = "readQueueNums 4, writeQueueNums 4, perm rw-"
    assert [(row["server"], row["changes"]) for row in planned_rows] == [
        (cluster.new.address, f"removed: {queues}"),
        (cluster.old.address, f"removed: {queues}"),
        (cluster.server.address, "removed: queues on broker-a, broker-old"),
    ]
    assert planned_rows[1]["before"]["topicName"] == "Payments"
    result = cluster("deleteTopic", "Payments", CLUSTER, "--yes")
    assert [(row["server"], row["changes"], row["before"]) for row in result.rows] == [
        (row["server"], row["changes"], row["before"]) for row in planned_rows
    ]
    assert cluster("topicRoute", "Payments").code == 5


def test_a_group_that_goes_and_one_that_was_meant(cluster: Cluster) -> None:
    assert cluster("updateSubGroup", "Ledger", "-c", CLUSTER, "-r", "5").code == 0
    assert 'no consumer group "Leger"; did you mean "Ledger"?' in cluster("getConsumerConfig", "Leger").err
    forbidding = {"group": "Ledger", "topic": "Orders", "readable": "false"}
    with AdminClient(cluster.server.address) as admin:
        [forbidden] = admin.groups._caller.send_to_each(
            [cluster.new.address], RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, forbidding
        )
        assert forbidden.error is None
    planned_rows = cluster("deleteSubGroup", "Ledger", "-c", CLUSTER, "--dry-run").rows
    assert [row["before"]["retryMaxTimes"] for row in planned_rows] == [5, 5]
    kept = cluster("deleteSubGroup", "Ledger", "-c", CLUSTER, "--yes")
    assert (kept.code, [row["result"] for row in kept.rows]) == (3, ["failed", "done"])
    assert kept.rows[0]["error"].startswith(
        "the broker created the group again, and its settings are restored. 5.5 does so unless"
    )
    [restored, _] = cluster("getConsumerConfig", "Ledger").rows
    assert restored["retryMaxTimes"] == 5
    with AdminClient(cluster.server.address) as admin:
        [still_forbidden] = admin.groups.list_forbidden_topics([cluster.new.address])
    assert still_forbidden.value()["Ledger"] == ["Orders"]
    assert cluster("updateSubGroup", "Ledger", "-c", CLUSTER, "-r", "5").code == 0
    result = cluster("deleteSubGroup", "Ledger", "-c", CLUSTER, "-r", "true", "--yes")
    assert [(row["changes"], row["error"]) for row in result.rows] == [
        (row["changes"], None) for row in planned_rows
    ]
    commit = OffsetCommit(cluster.old.address, "Ledger", MessageQueue("Orders", "broker-old", 0), 0)
    with AdminClient(cluster.server.address) as admin:
        [committed] = admin.queue_progress.commit_offsets([commit])
        assert committed.error is None
        result = cluster("deleteSubGroup", "Ledger", "-b", cluster.old.address, "-r", "true", "--yes")
        assert [(row["changes"], row["result"]) for row in result.rows] == [("removed: offsets", "done")]
        [offsets] = admin.consumers.get_committed_each([cluster.old.address])
    assert "Orders@Ledger" not in offsets.value()


def test_what_was_meant(cluster: Cluster) -> None:
    for words, meant in (
        (("topicRoute", "readonly"), 'no topic "readonly"; did you mean "ReadOnly"?'),
        (
            ("clusterList", "-c", "defaultcluster"),
            'no cluster "defaultcluster"; did you mean "DefaultCluster"?',
        ),
        (("wipeWritePerm", "broker-ol", "--dry-run"), 'no broker "broker-ol"; did you mean "broker-old"'),
        (
            ("updateBrokerConfig", "fileReservedtime", "1", "-b", cluster.old.address),
            'no setting "fileReservedtime"; did you mean "fileReservedTime"?',
        ),
    ):
        result = cluster(*words)
        assert result.code == 5
        assert meant in result.err


def test_an_old_broker_and_a_locked_setting_have_advice(cluster: Cluster, audit_file: Path) -> None:
    old = cluster("haStatus", "-b", cluster.old.address)
    assert (
        old.code,
        "nsadmin: the server's version is too old, or it is another kind of server" in old.err,
    ) == (1, True)
    locked = cluster("updateNamesrvConfig", "kvConfigPath", "/tmp/x")
    assert (
        locked.code,
        "nsadmin: the server forbids this" in locked.err,
    ) == (1, True)
    [kept] = records(audit_file)
    assert (kept["sent"][0]["outcome"], kept["exitCode"]) == ("NO_PERMISSION (16)", 1)


def test_a_broker_in_place_of_a_name_server_and_the_reverse(cluster: Cluster) -> None:
    for broker in (cluster.new, cluster.old):
        for words in (("clusterList",), ("topicRoute", "Payments"), ("where",), ("kv", "list", "N")):
            result = command_line.nsadmin(broker.address, *words)
            text = f"this is the broker {broker.name}, not a name server: pass -n "
            assert (result.code, text in f"{json.dumps(result.rows)}{result.err}") == (1, True)
    for server in (cluster.server, cluster.java):
        result = command_line.nsadmin(server.address, "brokerStatus", "-b", server.address)
        assert (result.code, "this is the address of a name server" in result.err) == (
            1,
            True,
        )


def test_each_request_with_its_place_and_size(cluster: Cluster) -> None:
    result = cluster("brokerStatus", "-b", cluster.new.address, "--debug")
    assert result.code == 0
    [line] = [text for text in result.err.splitlines() if "GET_BROKER_RUNTIME_INFO" in text]
    assert f" ms {cluster.new.address} GET_BROKER_RUNTIME_INFO (28): SUCCESS (0), " in line
    received = int(line.rpartition(" out, ")[2].removesuffix(" in"))
    assert received > sum(len(row["key"]) + len(row["value"]) for row in result.rows)


def test_a_timeout_that_is_too_short_is_said_with_its_value(cluster: Cluster) -> None:
    result = cluster("topicList", "--timeout", "0.00001")
    assert (result.code, "within 1e-05 s" in result.err, "Traceback" in result.err) == (4, True, False)


def test_what_a_broker_would_do_about_its_files(cluster: Cluster) -> None:
    for broker in (cluster.new, cluster.old):
        [row] = cluster("cleanExpiredCQ", broker.address, "--dry-run").rows
        assert row["changes"].startswith("deletes queue entries whose messages have left the commit log")
        assert cluster("cleanExpiredCQ", broker.address).rows[0]["result"] == "done"


def test_attributes_and_their_values_are_those_of_a_broker(cluster: Cluster) -> None:
    def put(attribute: str, value: object, topic: str = "") -> tuple[int, str | None]:
        topic = topic or "Attributed" + re.sub(r"\W", "", f"{attribute}{value}")
        ext = {
            "topic": topic, "defaultTopic": "TBW102",
            "readQueueNums": "1", "writeQueueNums": "1", "perm": "6", "topicFilterType": "SINGLE_TAG",
            "order": "false", "attributes": f"+{attribute}={value}",
        }  # fmt: skip
        answer = wire.ask(cluster.new.port, RequestCode.UPDATE_AND_CREATE_TOPIC, ext)
        return answer.code, answer.remark

    for attribute, values in TOPIC_ATTRIBUTES.items():
        ends = (values[0], values[-1]) if isinstance(values, range) else values
        # A broker without enableMixedMessageType refuses MIXED with INVALID_PARAMETER (29).
        assert {code for code, _ in (put(attribute, value) for value in ends)} <= {0, 29}
        assert put(attribute, "FIFOO")[0] == 1
        if isinstance(values, range):
            assert put(attribute, values[0] - 1) == (1, f"value is not in range({values[0]}, {values[-1]})")
        else:
            assert (put(attribute, "FIFOO")[1] or "").startswith("value is not in set: [")
    assert put("priority", 1) == (1, "unsupported key: priority")
    create_topic(cluster.new.port, "Attributed")
    for attribute, values in TOPIC_ATTRIBUTES.items():
        _, remark = put(attribute, values[1], "Attributed")
        assert ("unchangeable" in (remark or "")) == (attribute in UNCHANGEABLE)


def test_attributes_of_groups_and_their_values_are_those_of_a_broker(cluster: Cluster) -> None:
    def put(attribute: str, value: object) -> int:
        body = json.dumps({"groupName": "Attributed", "attributes": {f"+{attribute}": str(value)}})
        return wire.ask(
            cluster.new.port, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body.encode()
        ).code

    for attribute, values in GROUP_ATTRIBUTES.items():
        ends = (values[0], values[-1]) if isinstance(values, range) else values or ("any",)
        assert {put(attribute, value) for value in ends} == {0}
        assert (put(attribute, "no such") == 0) == (not values)
        assert not isinstance(values, range) or put(attribute, values[0] - 1) == 1
    assert put("lite.sub.reset.offset.exclusive", "True") == 0
    assert put("message.type", "FIFO") == 1


def test_attributes_that_brokers_refuse_are_not_sent(cluster: Cluster, tmp_path: Path) -> None:
    create_topic(cluster.new.port, "Kept")
    file = tmp_path / "topics.json"
    bad = {"topicName": "Bad", "attributes": {"message.type": "FIFOO"}}
    fixed = {"topicName": "Kept", "attributes": {"queue.type": "BatchCQ"}}
    file.write_text(json.dumps([bad, fixed, {"topicName": "Good", "attributes": {"message.type": "FIFO"}}]))
    for dry_run, done in (("--dry-run", "dry-run"), ("--yes", "done")):
        listed = cluster("updateTopicList", str(file), "-b", cluster.new.address, dry_run)
        assert {row["name"]: row["result"] for row in listed.rows} == {
            "Bad": "skipped", "Good": done, "Kept": "skipped"
        }  # fmt: skip
    group = ("updateSubGroup", "Weighted", "-b", cluster.new.address, "--attributes")
    assert cluster(*group, "+priority.factor=100").code == 0
    assert cluster(*group, "-lite.bind.topic").rows[0]["result"] == "unchanged"


def test_a_move_says_before_and_after_which_broker_lacks_the_group(cluster: Cluster) -> None:
    cluster.topic("Moved", 1)
    for broker, result in ((cluster.old, "failed"), (cluster.new, "done")):
        group = f"only-on-{broker.name}"
        assert cluster("updateSubGroup", group, "-b", broker.address).code == 0
        # 5.5.0 refuses groups that it does not have, and 4.9.7 takes an offset of any group.
        words = ("resetOffsetByTime", group, "Moved", "-s", "-1")
        planned = {row["brokerName"]: row["result"] for row in cluster(*words, "--dry-run").rows}
        moved = cluster(*words, "--yes", "--no-verify")
        assert {row["brokerName"]: row["result"] for row in moved.rows} == {
            "broker-a": result, "broker-old": "done"
        }  # fmt: skip
        assert planned["broker-a"] == result.replace("done", "dry-run")
        assert "--undo" not in moved.err
        if result == "failed":
            assert wire.ask(
                cluster.new.port,
                RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
                {"group": group, "topic": "Moved", "timestamp": "-1", "isForce": "true"},
            ).code == 26  # fmt: skip


def test_a_broker_that_is_not_asked_for_users_has_none(cluster: Cluster, tmp_path: Path) -> None:
    """Without a provider, a 5.5.0 broker can neither list nor store any."""
    user = {"username": "clerk"}
    body = b'{"password":"p","userType":"Normal","username":"clerk"}'
    for request, ext in ((RequestCode.AUTH_LIST_USER, {}), (RequestCode.AUTH_CREATE_USER, user)):
        assert wire.ask(cluster.new.port, request, ext, body).code == 1
    backup = cluster("backup", "create", CLUSTER, "--out", str(tmp_path / "c.zip"))
    assert [(row["users"], row["missing"]) for row in backup.rows] == [(0, 0)], backup.err
