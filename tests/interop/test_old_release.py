"""A 4.9.7 broker with traces on, beside mqadmin of the same release; what is left of topics, on 5.5.0 too."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import create_topic, send, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.daily import commit, committed, lines
from tests.interop.java_parts import QUICK_START, JavaBroker, MqAdmin, temporary_files
from tests.interop.our_server import OurNameServer
from tests.interop.processes import Child, wait_for

TOPIC, COUNTED = "Aged", "Counted"
COMMIT_LOG_FILE = 128 * 1024


class Cluster(NamedTuple):
    """mqadmin sees the old broker alone, by a name server of its own."""

    server: OurNameServer
    old: JavaBroker
    new: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("old-release")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        old_only = ends.enter_context(OurNameServer(home / "old-only"))
        addrs = [server.address, old_only.address]
        small: dict[str, object] = {"mappedFileSizeCommitLog": COMMIT_LOG_FILE}
        traced = {**small, "traceTopicEnable": "true"}
        old = JavaBroker(home / "old", addrs, "broker-old", version=jars.OLD, config=traced)
        new = JavaBroker(home / "new", [server.address], config=small)
        mqadmin = MqAdmin(home / "mqadmin", [old_only.address], jars.OLD)
        for part in pool.map(lambda part: part.__enter__(), (old, new, mqadmin)):
            ends.push(part)
        for broker in (old, new):
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
        wait_for_broker([old_only], "broker-old")
        for topic in (TOPIC, COUNTED):
            create_topic(old.port, topic, 2)
            wait_for_topic([server, old_only], topic)
        yield Cluster(server, old, new, mqadmin)


def are_whole(folder: Path) -> bool:
    """Whether all files have their length, and no more of them come."""
    before = sorted(folder.iterdir())
    time.sleep(0.3)
    return before == sorted(folder.iterdir()) and {file.stat().st_size for file in before} == {
        COMMIT_LOG_FILE
    }


def is_gone(queue: Path) -> bool:
    return not queue.exists()


def delayed(broker: JavaBroker, topic: str) -> None:
    """A message that the broker will put into its queue five seconds later."""
    ext = {
        "a": "P", "b": topic, "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1700000000000",
        "h": "0", "i": "DELAY\x012\x02", "j": "0", "k": "false", "l": "0", "m": "false",
    }  # fmt: skip
    assert wire.ask(broker.port, 310, ext, b"later").code == 0


def test_its_state_is_what_its_own_mqadmin_prints(cluster: Cluster) -> None:
    mqadmin_output = cluster.mqadmin("brokerStatus", "-b", cluster.old.address)
    theirs = {
        key.strip(): value.strip() for key, value in re.findall(r"^(\S+?)\s*: (.*)$", mqadmin_output, re.M)
    }
    ours, of_new = (
        {row["key"]: row["value"] for row in cluster("brokerStatus", broker.address).rows}
        for broker in (cluster.old, cluster.new)
    )
    assert ours.keys() == theirs.keys()
    still = ("bootTimestamp", "brokerVersionDesc", "commitLogMinOffset", "commitLogDirCapacity")
    assert {key: ours[key] for key in still} == {key: theirs[key] for key in still}
    assert (ours["brokerVersionDesc"], of_new["brokerVersionDesc"]) == ("V4_9_7", "V5_5_0")
    assert {key for key in ours.keys() - of_new.keys() if str(cluster.old.home) not in key} == {
        "brokerVersion", "getTransferedTps",
    }  # fmt: skip
    assert {"timerReadBehind", "ackThreadPoolQueueSize"} <= of_new.keys() - ours.keys()


def test_an_empty_store_is_as_old_for_scripts_as_mqadmin_says(cluster: Cluster) -> None:
    """It reports the time -1. Runs before any test that sends a message."""
    theirs = float(cluster.mqadmin("clusterList").strip().split("\n")[-1].split()[-2])
    mqadmin_output = command_line.mqadmin_text(cluster.server.address, "clusterList")
    [line] = [line for line in mqadmin_output.split("\n") if cluster.old.address in line]
    ours = float(line.split()[-3])
    assert theirs > 400_000
    assert abs(ours - theirs) < 0.1


@contextmanager
def traced(address: str, home: Path) -> Iterator[tuple[str, str]]:
    """The ids of a message that clients of the old release, who stay, sent and consumed with traces on."""
    flags = [*QUICK_START, "-Xmx256m", f"-Duser.home={home}", *temporary_files(home)]
    program = ["java", *flags, *jars.program("Traced", jars.OLD), address, TOPIC]
    child = Child(program, home / "traced.log", talks=True)
    try:
        _, msg_id, offset_msg_id, left = child.wait_for_line("traced ", 60).split()
        assert left == "0"
        yield msg_id, offset_msg_id
    finally:
        child.kill()


def test_traces_of_a_producer_and_a_consumer(cluster: Cluster, tmp_path: Path) -> None:
    """Consumers of 5.5.0 trace nothing of such a broker: its messages are without a region."""
    with traced(cluster.server.address, tmp_path) as (msg_id, offset_msg_id):

        def all_three() -> Any:
            rows = cluster("queryMsgTraceById", msg_id).rows or []
            return rows if len(rows) == 3 else None

        rows = wait_for("the traces", all_three)
    assert [row["type"] for row in rows] == ["Pub", "SubBefore", "SubAfter"]
    pub, _, after = rows
    trace_fields = [pub[name] for name in ("group", "topic", "status", "keys", "storeHost", "offsetMsgId")]
    assert trace_fields == ["tracers", TOPIC, "success", "trace-key", cluster.old.address, offset_msg_id]
    assert (after["group"], after["status"], after["retryTimes"]) == ("trace-readers", "success", 0)
    mqadmin_words = [line.split() for line in cluster.mqadmin("queryMsgTraceById", "-i", msg_id).splitlines()]
    for kind, row in (("Pub", pub), ("Sub", after)):
        [line] = [words for words in mqadmin_words if words[:1] == [kind]]
        assert (line[1], line[-2], line[-1]) == (row["group"], f"{row['costMs']}ms", row["status"])


def test_a_group_is_moved_to_where_its_own_mqadmin_moves_one(cluster: Cluster) -> None:
    for _ in range(5):
        send(cluster.old.port, COUNTED, 0, 1)
        # An old broker answers with any message of the same millisecond.
        time.sleep(0.005)
    send(cluster.old.port, COUNTED, 1, 2)
    for group in ("Ours", "Theirs"):
        commit(cluster.old, group, COUNTED, {0: 4, 1: 1})
        create_topic(cluster.old.port, f"%RETRY%{group}", 1)
    wait_for("the queues", lambda: ends(cluster) == [5, 2])
    [row] = cluster("queryMsgByOffset", COUNTED, "broker-old", "0", "2").rows
    millis = str(round(datetime.fromisoformat(row["storeTime"]).timestamp() * 1000))
    words = ("resetOffsetByTime", "Ours", COUNTED, "-s", millis)
    wanted = [(0, 4, 2, 0, 2), (1, 1, 0, 0, 1)]
    names = ("queueId", "from", "to", "skipped", "repeated")
    planned = cluster(*words, "--dry-run").rows
    assert [tuple(row[name] for name in names) for row in planned] == wanted
    assert committed(cluster.old, "Ours", COUNTED) == {"0": 4, "1": 1}
    result = cluster(*words, "--yes")
    assert (result.code, [tuple(row[name] for name in names) for row in result.rows]) == (0, wanted)
    assert [row["result"] for row in result.rows] == ["done", "done"]
    mqadmin_output = cluster.mqadmin("resetOffsetByTime", "-g", "Theirs", "-t", COUNTED, "-s", millis)
    theirs = sorted(words[1:4:2] + words[5:] for words in lines(mqadmin_output, "#brokerName"))
    assert theirs == [["0", "4", "2"], ["1", "1", "0"]]
    after = [committed(cluster.old, group, COUNTED) for group in ("Ours", "Theirs")]
    assert after == [{"0": 2, "1": 0}] * 2


def ends(cluster: Cluster) -> list[int]:
    return [row["maxOffset"] for row in cluster("topicStatus", COUNTED).rows]


def test_queues_of_a_topic_that_is_gone_are_deleted(cluster: Cluster) -> None:
    """A delayed message makes them anew when its time has come."""
    brokers = (cluster.old, cluster.new)
    for broker in brokers:
        create_topic(broker.port, "Left", 1)
        delayed(broker, "Left")
    wait_for_topic([cluster.server], "Left")
    assert cluster("deleteTopic", "Left", "DefaultCluster", "--yes").code == 0
    for broker in brokers:
        queue = broker.home / "store" / "consumequeue" / "Left" / "0"
        wait_for("the delayed message", queue.exists)
        result = cluster("cleanUnusedTopic", broker.address, "--yes")
        assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"])
        wait_for("the queue's end", partial(is_gone, queue))
    assert ends(cluster) == [5, 2]


def test_what_is_counted_is_what_its_own_mqadmin_prints(cluster: Cluster) -> None:
    def row() -> Any:
        rows = cluster("statsAll", COUNTED).rows
        return rows if {row["inMsg24Hour"] for row in rows} == {7} else None

    # Brokers take a sample every ten seconds.
    rows = sorted(wait_for("the samples", row, interval=0.5), key=lambda row: str(row["group"]))
    theirs = sorted(
        line.split() for line in cluster.mqadmin("statsAll", "-t", COUNTED).splitlines()
        if line.startswith(COUNTED)
    )  # fmt: skip
    names = ("topic", "group", "lag")
    assert [[str(row[name]) for name in names] for row in rows] == [line[:3] for line in theirs]
    assert [row["lag"] for row in rows] == [5, 5]
    counts = [[str(row["inMsg24Hour"]), str(row["outMsg24Hour"])] for row in rows]
    assert counts == [line[5:] for line in theirs]


def test_queues_whose_messages_have_expired_are_deleted(cluster: Cluster) -> None:
    """As if its time had come, the first file of the commit log is taken away between two starts."""
    brokers = (cluster.old, cluster.new)
    for broker in brokers:
        create_topic(broker.port, "Expired", 1)
        create_topic(broker.port, "Kept", 1)
        send(broker.port, "Expired", 0, 1)
        while len(files := sorted((broker.home / "store" / "commitlog").iterdir())) < 3:
            send(broker.port, "Kept", 0, 1, b"x" * 30_000)
        # The next file is made ahead, and a broker does not start with one that has another length.
        wait_for("whole files", partial(are_whole, files[0].parent), interval=0.3)
        broker.kill()
        files[0].unlink()
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda broker: broker.start(), brokers))
    for broker in brokers:
        wait_for_runtime_info(broker.port)
        expired, kept = (
            broker.home / "store" / "consumequeue" / topic / "0" for topic in ("Expired", "Kept")
        )
        assert expired.exists()
        [row] = cluster("cleanExpiredCQ", broker.address, "--dry-run").rows
        assert row["changes"].endswith(f"which begins at {COMMIT_LOG_FILE}")
        assert cluster("cleanExpiredCQ", broker.address).rows[0]["result"] == "done"
        wait_for("the queue's end", partial(is_gone, expired))
        assert kept.exists()
