"""Dead letters of real Java consumers on real brokers, 5.5.0 and 4.9.7: counted, shown, replayed, purged."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, popping
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.dead_letters import FailingConsumers, GrpcConsumers, count_lines, kill_replay
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.proxies import JavaProxy
from tests.support.examples import list_cases_elsewhere, split_example

MESSAGE_COUNT = int(os.environ.get("NSADMIN_DEAD_LETTERS", "500"))
"""Messages of the proof with kills; 10,000 take about a minute."""
TOPIC, GROUP, OTHER = "payments", "payments-consumer", "shipping"
KILLS = 3


class Cluster(NamedTuple):
    server: OurNameServer
    broker: JavaBroker
    clients: FailingConsumers
    state: Path

    def __call__(self, *words: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *words, env={"NSADMIN_STATE": str(self.state)})

    def letters(self) -> int:
        return count_letters(self, GROUP)

    def die(self, count: int, first: int) -> None:
        """Send messages that become dead letters."""
        before, patience = self.letters(), 120 + count / 20
        self.clients.order("fail")
        self.clients.order(f"send {count} {first}", patience)
        wait_for("dead letters", lambda: self.letters() >= before + count, patience, interval=0.5)
        self.clients.order("mend")

    def times(self, first: int, count: int, group: str = GROUP) -> list[int]:
        """How often the group consumed each of these messages."""
        wanted = {str(number) for number in range(first, first + count)}
        rows = [row for row in self.clients.consumed(group) if row.key in wanted]
        assert {row.topic for row in rows} <= {TOPIC}
        return sorted(row.times for row in rows)


@pytest.fixture(scope="module", params=[jars.NEWEST, jars.OLD])
def cluster(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("dead-letters")
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "broker", [server.address], version=request.param) as broker,
    ):
        wait_for_broker([server], broker.name)
        create_topic(broker.port, TOPIC)
        wait_for_topic([server], TOPIC)
        clients = FailingConsumers(
            home / "clients", server.address, TOPIC, GROUP, OTHER, version=request.param
        )
        with clients:
            yield Cluster(server, broker, clients, home / "state")


def test_only_the_group_gets_a_replay_that_is_killed_three_times(cluster: Cluster) -> None:
    cluster.die(MESSAGE_COUNT, 0)
    [row] = cluster("dlq", "list").rows
    assert (row["group"], row["messageCount"], row["originTopics"], row["brokerNames"]) == (
        GROUP, MESSAGE_COUNT, [TOPIC], ["broker-a"],
    )  # fmt: skip
    assert cluster.times(0, MESSAGE_COUNT) == []
    once = [1] * MESSAGE_COUNT
    wait_for("the other group", lambda: cluster.times(0, MESSAGE_COUNT, OTHER) == once, interval=0.5)

    line = ("dlq", "replay", GROUP, "--rate", str(MESSAGE_COUNT // 2))
    kills = [kill_replay(cluster.server.address, cluster.state, line, lines) for lines in (1, 3, 4)]
    assert kills == [True] * KILLS
    assert count_lines(cluster.state) > 1
    result = cluster(*line, "--yes")
    assert (result.code, result.err) == (0, "")
    [row] = result.rows
    assert (row["deadLetters"], row["failed"], row["result"]) == (MESSAGE_COUNT, 0, "done")
    assert row["replayed"] + row["replayedBefore"] == MESSAGE_COUNT
    assert 0 < row["replayed"] < MESSAGE_COUNT

    wait_for("the group", lambda: len(cluster.times(0, MESSAGE_COUNT)) == MESSAGE_COUNT, interval=0.5)
    times = cluster.times(0, MESSAGE_COUNT)
    assert sum(times) - MESSAGE_COUNT <= KILLS
    assert cluster.times(0, MESSAGE_COUNT, OTHER) == once
    again = cluster("dlq", "replay", GROUP, "--yes")
    assert [(row["replayed"], row["replayedBefore"]) for row in again.rows] == [(0, MESSAGE_COUNT)]
    other_account = cluster._replace(state=cluster.state / "other")
    again = other_account("dlq", "replay", GROUP, "--yes")
    assert [(row["replayed"], row["replayedBefore"]) for row in again.rows] == [(0, MESSAGE_COUNT)]


def test_selected_dead_letters_are_shown_counted_and_replayed(cluster: Cluster) -> None:
    cluster.die(20, 20_000)
    new = ("--body", "body of 200[01][0-9]")
    rows = cluster("dlq", "show", GROUP, *new, "--tag", "even").rows
    assert sorted(row["body"] for row in rows) == [f"body of {20_000 + number}" for number in range(0, 20, 2)]
    assert {(row["originTopic"], row["attempts"], row["replays"]) for row in rows} == {(TOPIC, 1, 0)}
    assert all(row["originMsgId"] != row["offsetMsgId"] for row in rows)
    preview = cluster("dlq", "replay", GROUP, *new, "--dry-run").rows
    assert [(row["originTopic"], row["age"], row["messageCount"]) for row in preview] == [(TOPIC, "1h", 20)]
    [row] = cluster("dlq", "replay", GROUP, *new, "--key", "20001", "--yes").rows
    assert row["replayed"] == 1
    [row] = cluster("dlq", "replay", GROUP, *new, "--limit", "5", "--yes").rows
    assert row["replayed"] == 5
    [row] = cluster("dlq", "replay", GROUP, *new, "--yes").rows
    assert (row["replayed"], row["failed"]) == (14, 0)
    wait_for("the group", lambda: cluster.times(20_000, 20) == [1] * 20, interval=0.5)


def test_a_group_that_fails_again_stops_the_replay_and_a_message_is_not_replayed_for_ever(
    cluster: Cluster,
) -> None:
    cluster.die(30, 30_000)
    new = ("--body", "body of 300[0-2][0-9]")
    cluster.clients.order("fail")
    letters = cluster.letters()
    result = cluster("dlq", "replay", GROUP, *new, "--rate", "10", "--max-failures", "2", "--yes")
    assert (result.code, "failed again (the limit is 2): fix the consumer" in result.err) == (1, True)
    [row] = result.rows
    assert 2 < row["failedAgain"] <= row["replayed"] < 30
    wait_for("dead letters again", lambda: cluster.letters() >= letters + row["replayed"], interval=0.5)
    rows = cluster("dlq", "show", GROUP, *new, "--limit", "100").rows
    assert {row["replays"] for row in rows} == {0, 1}

    key = next(row["keys"][0] for row in rows if row["replays"] == 1)
    assert [row["replayed"] for row in replay_key(cluster, key)] == [1]
    wait_for_replays(cluster, key, 2)
    # A failure after the last message ends it, too, while nsadmin waits for failures.
    waiting = replay_key(cluster, key, "--max-failures", "0", "--settle", "60s")
    assert [(row["replayed"], row["failedAgain"], row["result"]) for row in waiting] == [(1, 1, "failed")]
    wait_for_replays(cluster, key, 3)
    assert [(row["replayed"], row["skipped"]) for row in replay_key(cluster, key)] == [(0, 1)]
    cluster.clients.order("mend")
    assert [row["replayed"] for row in replay_key(cluster, key, "--force")] == [1]
    wait_for("the group", lambda: cluster.times(int(key), 1) == [1], interval=0.5)
    story = cluster("message", "track", TOPIC, rows[0]["msgId"]).rows
    assert [row["step"] for row in story][:3] == ["produced", "stored", "dead letter"]
    assert {row["group"] for row in story if row["step"] == "group"} == {GROUP, OTHER}


def replay_key(cluster: Cluster, key: str, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cluster("dlq", "replay", GROUP, "--key", key, *words, "--yes").rows
    return rows


def wait_for_replays(cluster: Cluster, key: str, replays: int) -> None:
    """Wait until a message has died after so many replays."""

    def is_dead() -> bool:
        rows = cluster("dlq", "show", GROUP, "--key", key).rows
        return replays in {row["replays"] for row in rows}

    wait_for("its death", is_dead, interval=0.5)


def test_with_to_topic_every_group_gets_the_message_and_is_named(cluster: Cluster) -> None:
    cluster.die(5, 40_000)
    result = cluster("dlq", "replay", GROUP, "--body", "body of 4000[0-4]", "--to-topic", "--yes")
    assert (result.code, [row["replayed"] for row in result.rows]) == (0, [5])
    assert result.err == f"nsadmin: other groups get the messages of {TOPIC} again: {OTHER}\n"
    wait_for("the group", lambda: cluster.times(40_000, 5) == [1] * 5, interval=0.5)
    wait_for("the other", lambda: cluster.times(40_000, 5, OTHER) == [2] * 5, interval=0.5)


def make_letter(cluster: Cluster, topic: str, group: str, **settings: object) -> None:
    """A dead letter of a group whose consumer did not even get the message."""
    popping.create_group(cluster.broker.port, group, **settings)
    offset_id = popping.send(cluster.broker.port, topic, b"lost", f"lost by {group}")
    popping.make_dead_letter(cluster.broker.port, topic, group, offset_id)
    wait_for("the dead letter", lambda: count_letters(cluster, group) == 1, interval=0.5)


@pytest.mark.parametrize("kind", ["broadcast", "pull"])
def test_consumers_without_retries_are_refused_by_their_kind(cluster: Cluster, kind: str) -> None:
    group = f"{kind}-consumer"
    make_letter(cluster, TOPIC, group)
    cluster.clients.order(f"join {kind} {group}")
    wait_for("the client", lambda: cluster("consumerConnection", group).code == 0, interval=0.5)
    result = cluster("dlq", "replay", group, "--yes")
    assert (result.code, result.rows) == (1, None)
    assert f"consumers, which do not read %RETRY%{group}: pass --to-topic" in result.err
    result = cluster("dlq", "replay", group, "--to-topic", "--yes")
    assert (result.code, [row["replayed"] for row in result.rows]) == (0, [1])


@pytest.mark.parametrize("cluster", [jars.NEWEST], indirect=True)
def test_an_ordered_group_behind_a_proxy_is_refused(cluster: Cluster) -> None:
    make_letter(cluster, TOPIC, "ordered-consumer", consumeMessageOrderly=True)
    result = cluster("dlq", "replay", "ordered-consumer", "--yes")
    assert (result.code, "its gRPC consumers do not read retry topics: pass --to-topic" in result.err) == (
        1,
        True,
    )
    assert cluster("dlq", "replay", "ordered-consumer", "--to-topic", "--yes").code == 0


@pytest.mark.parametrize("cluster", [jars.NEWEST], indirect=True)
def test_a_push_consumer_that_pops_gets_the_replay(cluster: Cluster) -> None:
    """It pulls the retry topic also while it pops all others. Brokers of 4.9 do not know POP."""
    topic, group, count = "popped", "pop-consumer", 40
    create_topic(cluster.broker.port, topic)
    wait_for_topic([cluster.server], topic)
    place = (cluster.broker.home / "pushing", cluster.server.address, topic, group, "pop-others")
    with FailingConsumers(*place) as clients:
        clients.order("fail")
        clients.order(f"send {count} 0")
        wait_for("dead letters", lambda: count_letters(cluster, group) == count, interval=0.5)
    assert cluster("setConsumeMode", topic, group, "POP", "-b", "broker-a", "--yes").code == 0
    place = (cluster.broker.home / "popping", *place[1:])
    with FailingConsumers(*place, pops=True) as clients:
        # Popping has offsets of its own, and begins with the first message.
        wait_for("popped messages", lambda: times_of(clients, group) == [1] * count, interval=0.5)
        assert [row["replayed"] for row in cluster("dlq", "replay", group, "--yes").rows] == [count]
        wait_for("replayed messages", lambda: times_of(clients, group) == [2] * count, interval=0.5)
        others = times_of(clients, "pop-others")
        assert set(others) <= {1}


@pytest.mark.parametrize("cluster", [jars.NEWEST], indirect=True)
def test_a_popped_dead_letter_goes_back_to_the_group_that_pops(cluster: Cluster) -> None:
    """A proxy pops for its gRPC clients. These retry topics are named by group and origin topic."""
    topic, group, other, port = "grpc", "grpc-consumer", "grpc-others", cluster.broker.port
    create_topic(port, topic, 1)
    wait_for_topic([cluster.server], topic)
    for name in (group, other):
        popping.create_group(port, name)
    retry_topic = f"%RETRY%{group}_{topic}"
    for number in range(5):
        offset_id = popping.send(port, retry_topic, b"%d" % number, f"id{number}")
        popping.make_dead_letter(port, retry_topic, group, offset_id)
    # A proxy that fails to acknowledge the message makes another dead letter of it.
    popping.make_dead_letter(port, retry_topic, group, offset_id)
    first = wait_for("the attempts before", lambda: pop_all(port, topic, group, 5), interval=0.5)
    wait_for("dead letters", lambda: count_letters(cluster, group) == 6, interval=0.5)
    rows = cluster("dlq", "show", group).rows
    assert {row["originTopic"] for row in rows} == {topic}

    result = cluster("dlq", "replay", group, "--yes")
    assert (result.code, [(row["replayed"], row["copies"]) for row in result.rows]) == (0, [(5, 1)])
    assert f'no consumer of "{group}" is connected to a broker (gRPC consumers' in result.err
    assert wait_for("the replay", lambda: pop_all(port, topic, group, 5), interval=0.5) == first
    assert popping.pop(port, topic, other) == []


@pytest.mark.parametrize("cluster", [jars.NEWEST], indirect=True)
def test_a_grpc_consumer_behind_a_proxy_gets_the_replay(cluster: Cluster) -> None:
    topic, group, other, count, port = "shop", "shop-consumer", "shop-others", 20, cluster.broker.port
    create_topic(port, topic)
    wait_for_topic([cluster.server], topic)
    policy = {"initial": 1000, "max": 1000, "multiplier": 1}
    for name in (group, other):
        retries = {"type": "EXPONENTIAL", "exponentialRetryPolicy": policy}
        popping.create_group(port, name, retryMaxTimes=0, groupRetryPolicy=retries)
    home = cluster.broker.home
    # By default, a consumer that polls does not see a new message in the retry topic for up to 20 seconds.
    polls = {f"grpcClientConsumer{bound}LongPollingTimeoutMillis": 2000 for bound in ("Min", "Max")}
    with (
        JavaProxy(home / "proxy", [cluster.server.address], polls) as proxy,
        GrpcConsumers(home / "grpc", proxy.grpc_address, topic, group, other) as clients,
    ):
        clients.order("fail")
        clients.order(f"send {count} 0")
        wait_for("dead letters", lambda: count_letters(cluster, group) >= count, interval=0.5)
        rows = cluster("dlq", "show", group).rows
        assert {row["properties"]["RETRY_TOPIC"] for row in rows} == {f"%RETRY%{group}_{topic}"}
        result = cluster("dlq", "replay", group, "--max-failures", "0", "--settle", "60s", "--yes")
        assert (result.code, [row["failedAgain"] > 0 for row in result.rows]) == (1, [True])
        wait_for("dead letters again", lambda: count_letters(cluster, group) >= 2 * count, interval=0.5)
        clients.order("mend")
        result = cluster("dlq", "replay", group, "--yes")
        assert (result.code, [(row["replayed"], row["replayedBefore"]) for row in result.rows]) == (
            0,
            [(count, count)],
        )
        wait_for("the replay", lambda: times_of(clients, group) == [1] * count, interval=0.5)
        assert times_of(clients, other) == [1] * count


def pop_all(port: int, topic: str, group: str, count: int) -> list[bytes] | None:
    """Pop until there are so many messages; brokers look into retry topics at only some requests."""
    bodies: list[bytes] = []
    for _ in range(50):
        bodies += popping.pop(port, topic, group)
        if len(bodies) >= count:
            return sorted(bodies)
        time.sleep(0.1)
    return None


def count_letters(cluster: Cluster, group: str) -> int:
    return sum(row["messageCount"] for row in cluster("dlq", "list").rows if row["group"] == group)


def times_of(clients: FailingConsumers, group: str) -> list[int]:
    return sorted(row.times for row in clients.consumed(group))


def test_an_export_has_a_line_for_each_dead_letter(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "dead.jsonl"
    [row] = cluster("dlq", "show", GROUP, "--out", str(file)).rows
    assert row["messageCount"] == cluster.letters() == len(file.read_text().splitlines())


def test_a_dead_letter_is_not_sent_to_its_own_topic(cluster: Cluster) -> None:
    [row] = cluster("dlq", "show", GROUP, "--limit", "1").rows
    result = cluster("queryMsgById", f"%DLQ%{GROUP}", row["offsetMsgId"], "-s", "true", "--yes")
    assert (result.code, f"`nsadmin dlq replay {GROUP} " in result.err) == (2, True)


def test_the_examples_of_the_manual(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for case in list_cases_elsewhere("dlqList", "dlqShow", "dlqReplay"):
        for example in case.examples:
            result = cluster(*split_example(example))
            assert result.code == example.exit_code, (example.command_line, result.err)


def test_only_a_dead_letter_topic_that_is_old_as_a_whole_is_purged(cluster: Cluster) -> None:
    letters = cluster.letters()
    result = cluster("dlq", "purge", GROUP, "--before", "1h", "--yes")
    assert (result.code, [(row["result"], row["newer"]) for row in result.rows]) == (
        1,
        [("blocked", letters)],
    )
    assert cluster.letters() == letters
    assert cluster("dlq", "purge", GROUP, "--before", "now").code == 2
    [case] = list_cases_elsewhere("dlqPurge")
    preview, result = (cluster(*split_example(example)) for example in case.examples)
    assert [(row["result"], row["older"]) for row in preview.rows] == [("dry-run", letters)]
    assert (result.code, [(row["result"], row["older"], row["newer"]) for row in result.rows]) == (
        0, [("done", letters, 0)],
    )  # fmt: skip
    assert cluster.letters() == 0
    assert cluster("dlq", "show", GROUP).code == 5


def test_after_a_purge_new_dead_letters_are_not_taken_for_those_replayed_before(cluster: Cluster) -> None:
    cluster.die(3, 50_000)
    [row] = cluster("dlq", "replay", GROUP, "--yes").rows
    assert (row["replayed"], row["replayedBefore"]) == (3, 0)
    wait_for("the group", lambda: cluster.times(50_000, 3) == [1] * 3, interval=0.5)
