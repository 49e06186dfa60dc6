"""statsAll."""

import json
from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with TopicBroker() as broker:
        broker.topics = {"T": ["G"], "Idle": []}
        broker.counts = {("TOPIC_PUT_NUMS", "T"): 120, ("GROUP_GET_NUMS", "T@G"): 60}
        broker.counts["TOPIC_PUT_SIZE", "T"] = 24_000
        broker.handlers[208] = broker.answer_lags((10, 4))
        with FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as running:
            running.routes = {name: {"broker-a": 6} for name in ("T", "Idle", "%RETRY%G", "%DLQ%G")}
            yield running


def test_topics_with_their_groups(run: Run, server: FakeNameServer) -> None:
    result = run("statsAll", "-n", server.addr)
    total = (
        "total of 2 topics in 24 hours: 120 messages arrived, 60 were delivered; of a calendar day: "
        "nsadmin topicStatus '*' --from yesterday --until today --sum"
    )
    assert (result.code, result.err) == (0, f"nsadmin: {total}\n")
    assert [line.split() for line in result.out.splitlines()[1:]] == [
        ["Idle", "-", "-", "0.00", "-", "0", "-", "-", "-"],
        ["T", "G", "6", "2.00", "1.00", "120", "60", "-", "-"],
    ]


def test_the_bytes_of_24_hours(run: Run, server: FakeNameServer) -> None:
    rows = json.loads(run("statsAll", "--bytes", "-n", server.addr, "--json").out)
    assert [(row["topic"], row["inMsg24Hour"], row["inBytes24Hour"]) for row in rows] == [
        ("Idle", 0, 0),
        ("T", 120, 24_000),
    ]
    assert "inBytes24Hour" not in run("statsAll", "-n", server.addr, "--json").out


def test_a_topic_of_several_groups_is_counted_once_in_the_total(run: Run, server: FakeNameServer) -> None:
    with TopicBroker() as broker:
        broker.topics = {"T": ["G", "H"], "Idle": []}
        broker.counts = {
            ("TOPIC_PUT_NUMS", "T"): 120, ("GROUP_GET_NUMS", "T@G"): 60, ("GROUP_GET_NUMS", "T@H"): 50,
        }  # fmt: skip
        broker.handlers[208] = broker.answer_lags((10, 4))
        server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        assert "120 messages arrived, 110 were delivered" in run("statsAll", "-n", server.addr).err
        server.clusters = {"C": {**server.clusters["C"], "gone": {0: "127.0.0.1:1"}}}
        server.routes["T"]["gone"] = 6
        partial = run("statsAll", "-n", server.addr)
        assert "at least 120 messages arrived, at least 110 were delivered" in partial.err
        assert "total" not in run("statsAll", "T", "-n", server.addr).err
        assert "total" not in run("statsAll", "-n", server.addr, "--json").err


def test_the_traffic_of_one_broker(run: Run, server: FakeNameServer) -> None:
    with TopicBroker() as other:
        other.topics = {"T": [], "There": []}
        other.counts = {("TOPIC_PUT_NUMS", "T"): 30, ("TOPIC_PUT_SIZE", "T"): 1_000}
        server.clusters = {**server.clusters, "D": {"broker-d": {0: other.addr}}}
        server.routes["T"]["broker-d"] = 6
        server.routes["There"] = {"broker-d": 6}

        def bytes_by_topic(*words: str) -> dict[str, int]:
            rows = json.loads(run("statsAll", "--bytes", *words, "-n", server.addr, "--json").out)
            return {row["topic"]: row["inBytes24Hour"] for row in rows}

        here = {"Idle": 0, "T": 24_000}
        assert bytes_by_topic("-b", "broker-a") == bytes_by_topic("-c", "C") == here
        assert bytes_by_topic("-c", "D") == {"There": 0, "T": 1_000}
        assert bytes_by_topic() == {**here, "There": 0, "T": 25_000}
        nothing = run("statsAll", "Idle", "-b", "broker-d", "-n", server.addr)
    assert nothing.code == 5
    assert nothing.err.startswith(f"nsadmin: no topic has queues on the master {other.addr}\n")


@pytest.mark.parametrize("flags", [("-a",), ("T",), ("-t", "T", "--activeTopic"), ("--topic", "T")])
def test_one_topic_or_those_that_move(run: Run, server: FakeNameServer, flags: tuple[str, ...]) -> None:
    [row] = json.loads(run("statsAll", *flags, "-n", server.addr, "--json").out)
    assert (row["topic"], row["inTps"], row["outMsg24Hour"]) == ("T", 2.0, 60)


def test_topics_of_rocketmq_can_be_left_out_and_a_limit_counts_topics(
    run: Run, server: FakeNameServer
) -> None:
    server.routes["RMQ_SYS_TRACE_TOPIC"] = {"broker-a": 6}

    def topics(*words: str) -> list[str]:
        return [row["topic"] for row in json.loads(run("statsAll", *words, "-n", server.addr, "--json").out)]

    assert topics() == ["Idle", "RMQ_SYS_TRACE_TOPIC", "T"]
    assert topics("--no-system") == ["Idle", "T"]
    assert topics("--no-system", "--sort", "-topic", "--limit", "1") == ["T"]


def test_retry_topics_only_by_name(run: Run, server: FakeNameServer) -> None:
    [row] = json.loads(run("statsAll", "%RETRY%G", "-n", server.addr, "--json").out)
    assert row["topic"] == "%RETRY%G"
    assert run("statsAll", "NoSuch", "-n", server.addr).code == 5


def test_a_dead_broker_is_one_line_and_no_zeros(run: Run, server: FakeNameServer, dead_addr: str) -> None:
    server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    result = run("statsAll", "-n", server.addr, "--json")
    assert result.code == 3
    assert result.err == (
        f"nsadmin: {dead_addr}: connection refused, no server listens on this port (missing in 2 rows)\n"
    )
    assert [row["inTps"] for row in json.loads(result.out)] == [None, None]
    result = run("statsAll", "--bytes", "-n", server.addr, "--json")
    assert [row["inBytes24Hour"] for row in json.loads(result.out)] == [None, None]
