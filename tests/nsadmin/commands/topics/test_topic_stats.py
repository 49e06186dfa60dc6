"""topicStatus."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, Handler, answer_json, refuse_with
from tests.support.lab import start_lab
from tests.support.topic_brokers import TopicBroker

NOW = 1_795_900_000_000
HOUR = 3_600_000


def answer_times(*spans: tuple[int, int, int, int, int]) -> Handler:
    keys = ("minTimeStamp", "maxTimeStamp", "consumeTimeStamp", "delayTime")
    return lambda asked: answer_json(
        asked,
        {
            "consumeTimeSpanSet": [
                {"messageQueue": {"queueId": queue_id}, **dict(zip(keys, times, strict=True))}
                for queue_id, *times in spans
            ]
        },
    )


@pytest.fixture
def broker() -> Iterator[TopicBroker]:
    with TopicBroker() as broker:
        broker.handlers[303] = answer_times(
            (0, NOW - 70 * HOUR, NOW, NOW - 70 * HOUR, 70 * HOUR), (1, NOW - HOUR, NOW, NOW, 0),
            (2, NOW - 2 * HOUR, NOW, NOW - 2 * HOUR, NOW + 1), (3, -1, -1, -1, NOW + 1),
        )  # fmt: skip
        broker.offsets["T"] = {
            0: {"minOffset": 3, "maxOffset": 14, "lastUpdateTimestamp": 1795231796713},
            1: {"minOffset": 0, "maxOffset": 0, "lastUpdateTimestamp": 0},
        }
        yield broker


@pytest.fixture
def server(broker: TopicBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
        running.routes = {"T": {"broker-a": 6}, "C": {"broker-a": 6}}
        yield running


@pytest.mark.parametrize("words", [("T",), ("-t", "T"), ("--topic", "T", "--cluster", "C")])
def test_a_row_for_each_queue_and_the_sum_of_messages(
    run: Run, server: FakeNameServer, words: tuple[str, ...]
) -> None:
    result = run("topicStatus", *words, "-n", server.addr)
    assert (result.code, result.err) == (0, "nsadmin: T has 11 messages\n")
    assert [line.split() for line in result.out.splitlines()] == [
        ["brokerName", "queueId", "minOffset", "maxOffset", "lastUpdated", "topicPutTps", "error"],
        ["broker-a", "0", "3", "14", "2026-11-21T03:29:56.713Z", "0.50", "-"],
        ["broker-a", "1", "0", "0", "-", "0.50", "-"],
    ]
    first, second = json.loads(run("topicStatus", *words, "-n", server.addr, "--json").out)
    assert (first["lastUpdated"], second["lastUpdated"]) == ("2026-11-21T03:29:56.713Z", None)


def test_a_wrong_cluster_is_not_told_as_a_missing_topic(run: Run, server: FakeNameServer) -> None:
    result = run("topicStatus", "T", "-c", "D", "-n", server.addr)
    assert (result.code, result.err) == (5, 'nsadmin: no cluster "D": name servers list C\n')


def test_a_dead_broker_does_not_hide_the_other(run: Run, server: FakeNameServer, dead_addr: str) -> None:
    server.clusters = {"C": {**server.clusters["C"], "broker-b": {0: dead_addr}}}
    server.routes["T"]["broker-b"] = 6
    result = run("topicStatus", "T", "-n", server.addr, "--json")
    assert result.code == 3
    assert result.err == "nsadmin: broker broker-b: connection refused, no server listens on this port\n"
    assert [(row["brokerName"], row["queueId"]) for row in json.loads(result.out)] == [
        ("broker-a", 0),
        ("broker-a", 1),
        ("broker-b", None),
    ]


def test_times_say_whether_a_lag_expires(run: Run, server: FakeNameServer) -> None:
    result = run("topicStatus", "T", "--times", "-g", "G", "-n", server.addr, "--json")
    assert (result.code, result.err) == (
        0,
        "nsadmin: G on broker-a: the oldest unread message expires in 2.0 h (fileReservedTime is 72 h)\n",
    )
    assert [(row["queueId"], row["unreadAgeMs"], row["expiresInMs"]) for row in json.loads(result.out)] == [
        (0, 70 * HOUR, 2 * HOUR),
        (1, None, None),
        (2, 2 * HOUR, 70 * HOUR),
        (3, None, None),
    ]
    assert run("topicStatus", "T", "-g", "G", "-n", server.addr).code == 2


def test_times_say_how_long_messages_are_kept(run: Run, server: FakeNameServer, broker: TopicBroker) -> None:
    broker.items |= {"fileReservedTime": "48", "deleteWhen": "04"}
    words = ("topicStatus", "T", "--times", "-n", server.addr)
    rest = "(fileReservedTime), and delete older ones at hour 04 of the day (deleteWhen)"
    assert f"nsadmin: brokers keep messages for 48 hours {rest}" in run(*words).err
    with TopicBroker() as other:
        other.items |= {"fileReservedTime": "24", "deleteWhen": "04"}
        other.offsets, other.handlers[303] = broker.offsets, broker.handlers[303]
        server.clusters = {"C": {**server.clusters["C"], "broker-b": {0: other.addr}}}
        server.routes["T"]["broker-b"] = 6
        lines = run(*words).err.splitlines()
    kept = [(line.split()[5], line.rpartition(": ")[2]) for line in lines if rest in line]
    assert kept == [("48", "broker-a"), ("24", "broker-b")]


def test_a_line_has_the_oldest_and_the_newest_message_of_the_topic(run: Run, server: FakeNameServer) -> None:
    words = ("topicStatus", "T", "--times", "-n", server.addr)
    rows = json.loads(run(*words, "--json").out)
    oldest = min(row["oldest"] for row in rows if row["oldest"])
    newest = max(row["newest"] for row in rows if row["newest"])
    assert oldest < newest
    assert f"nsadmin: the oldest message of T is of {oldest}, the newest of {newest}\n" in run(*words).err


def test_times_of_a_group_without_an_offset_are_unknown(
    run: Run, server: FakeNameServer, broker: TopicBroker
) -> None:
    table = {"subscriptionGroupTable": {"G": {"groupName": "G"}}}
    broker.handlers |= {14: refuse_with(22, "Not found"), 201: lambda asked: answer_json(asked, table)}
    words = ("topicStatus", "T", "--times", "-n", server.addr, "--json", "-g")
    result = run(*words, "G")
    assert (result.code, result.err) == (
        0,
        "nsadmin: G on broker-a: lag unknown on 2 queues (no consumer offset)\n",
    )
    columns = ("queueId", "lastConsumed", "unreadAgeMs", "expiresInMs")
    rows = [tuple(row[column] for column in columns) for row in json.loads(result.out)]
    assert (rows[0], rows[2], rows[3]) == tuple((queue, None, None, None) for queue in (0, 2, 3))
    broker.handlers[303] = answer_times((0, NOW - HOUR, NOW, NOW - HOUR, HOUR))
    nobody = run(*words, "nobody")
    assert (nobody.code, nobody.out) == (5, "")
    assert 'no broker has the consumer group "nobody"' in nobody.err


def test_messages_between_two_times_are_counted(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path) as lab:
        words = ("payments", "--from", "1h", "--until", "50m", "-n", lab.namesrv_addr, "--json")
        [first, *_] = json.loads(run("printMsg", *words, "--limit", "1").out)
        begin = datetime.fromisoformat(first["storeTime"]) + timedelta(seconds=2)
        until = begin + timedelta(seconds=20)
        window = ("--from", begin.isoformat(), "--until", until.isoformat(), "-n", lab.namesrv_addr)
        printed = json.loads(run("printMsg", "payments", *window, "--limit", "5000", "--json").out)
        result = run("topicStatus", "payments", *window, "--json")
        whole = run("topicStatus", "payments", "--from", "30d", "-n", lab.namesrv_addr)
        one_cluster = run("topicStatus", "payments", *window, "-c", "cluster-a", "--json")
        sums = run("topicStatus", "payments,orders", *window, "--sum", "--json")
    assert {row["topic"]: row["messageCount"] for row in sums.json}["payments"] == sum(
        row["messageCount"] for row in result.json
    )
    assert len(sums.json) == len({row["topic"] for row in sums.json}) == 2
    total = sum(row["messageCount"] for row in sums.json)
    assert sums.err.startswith(f"nsadmin: total of {len(sums.json)} topics: {total} messages from ")
    assert sums.err.count("\n") == 1
    # The end belongs to the next count.
    found = [message for message in printed if datetime.fromisoformat(message["storeTime"]) < until]
    counts = Counter((message["brokerName"], message["queueId"]) for message in found)
    assert 100 < len(found) < 5000
    assert {(row["brokerName"], row["queueId"]): row["messageCount"] for row in result.json} == counts
    assert {
        (row["brokerName"], row["queueId"], offset)
        for row in result.json
        for offset in range(row["beginOffset"], row["endOffset"])
    } == {(message["brokerName"], message["queueId"], message["queueOffset"]) for message in found}
    assert one_cluster.json == [row for row in result.json if row["brokerName"].startswith("broker-a")] != []
    assert f"nsadmin: payments received {len(found)} messages from " in result.err
    assert "have deleted messages" not in result.err
    assert "brokers have deleted messages of payments, and some of this time may be among them" in whole.err


def test_a_queue_that_does_not_answer_is_not_counted_as_empty(
    run: Run, server: FakeNameServer, dead_addr: str
) -> None:
    server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    result = run("topicStatus", "T", "--from", "1h", "-n", server.addr, "--json")
    assert [row["messageCount"] for row in result.json] == [None] * len(result.json) != []
    assert "received" not in result.err
    assert result.code == 4
    [row] = run("topicStatus", "T", "--from", "1h", "--sum", "-n", server.addr, "--json").json
    assert (row["messageCount"], row["error"]) == (
        None,
        f"without {len(result.json)} queues that did not answer",
    )
    several = run("topicStatus", "T*", "--from", "1h", "--sum", "-n", server.addr)
    assert "the total is unknown: no queue answered\n" in several.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--until", "1h"), "--until TIME needs --from TIME"),
        (("--sum",), "--sum needs --from TIME"),
        (("--from", "1h", "--times"), "pass --times or --from TIME, not both"),
    ],
)
def test_times_of_a_count(run: Run, server: FakeNameServer, words: tuple[str, ...], said: str) -> None:
    result = run("topicStatus", "T", *words, "-n", server.addr)
    assert (result.code, result.err) == (2, f"nsadmin: {said}\n")


def test_a_topic_that_is_not_there(run: Run, server: FakeNameServer) -> None:
    assert run("topicStatus", "U", "-n", server.addr).code == 5
    assert run("topicStatus", "-n", server.addr).code == 2


def test_two_names_of_one_process_are_told(run: Run, server: FakeNameServer) -> None:
    groups = server.clusters["C"]
    server.clusters = {"C": {**groups, "broker-b": groups["broker-a"]}}
    server.routes["T"]["broker-b"] = 6
    result = run("topicStatus", "T", "-n", server.addr)
    assert result.err == (
        f"nsadmin: broker-a and broker-b are one process, at {groups['broker-a'][0]}: its queues are shown "
        "once for each name\nnsadmin: T has 11 messages\n"
    )
