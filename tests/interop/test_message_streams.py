"""produce and consume on real brokers, 5.5.0 and 4.9.7: bytes that come back, order, delays, restarts."""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from nsadmin.console.output.timestamps import format_utc
from nsadmin.operations.message_files.import_run import BATCH_MESSAGES
from tests.interop import command_line, jars
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM, CommandResult
from tests.interop.daily import make_topic
from tests.interop.java_parts import JavaBroker, client_jvm
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import forked_commands
from tests.support.examples import list_cases_elsewhere, split_example

MESSAGE_COUNT = int(os.environ.get("NSADMIN_STREAM_MESSAGES", "3000"))
"""Messages of the round trip; 100,000 take half a minute."""

IMPORTED_COUNT = int(os.environ.get("NSADMIN_IMPORTED_MESSAGES", "4000"))
"""Messages of the import that is killed; `make messages` takes more."""


class Cluster(NamedTuple):
    server: OurNameServer
    new: JavaBroker
    old: JavaBroker
    home: Path

    def __call__(self, *line: str, typed: str | None = None) -> CommandResult:
        return command_line.nsadmin(self.server.address, *line, typed=typed)

    def topic(self, topic: str) -> str:
        make_topic(self.server, (self.new, self.old), topic, 4)
        return topic

    def lines(self, *line: str) -> list[Any]:
        """The lines of JSON that a command prints."""
        result = forked_commands.run(
            [*PATIENT, "-n", self.server.address, *line, "--output", "jsonl"], ENVIRONMENT, timeout=120
        )
        assert result.returncode == 0, result.stderr
        return [json.loads(text) for text in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("streams")
    # With the default of 200 ms, a broker on a busy machine refuses messages: SYSTEM_BUSY.
    config = {
        "enablePropertyFilter": "true",
        "recallMessageEnable": "true",
        "waitTimeMillsInSendQueue": "10000",
        "traceTopicEnable": "true",
    }
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "new", [server.address], config=config) as new,
        JavaBroker(home / "old", [server.address], "broker-old", version=jars.OLD, config=config) as old,
    ):
        for broker in (new, old):
            wait_for_broker([server], broker.name)
        yield Cluster(server, new, old, home)


class Follower:
    """`consume --follow` as a process; `bodies` are those it printed so far."""

    def __init__(self, cluster: Cluster, *line: str) -> None:
        self.log = cluster.home / f"follow-{time.time_ns()}"
        command = [*PROGRAM, "-n", cluster.server.address, "consume", *line]
        with self.log.open("wb") as sink:
            self._child = subprocess.Popen(
                [*command, "--follow", "--format", "{body}"],
                stdout=sink,
                stderr=subprocess.PIPE,
                text=True,
                env=ENVIRONMENT,
            )

    @property
    def bodies(self) -> list[str]:
        return self.log.read_text().splitlines()

    def wait_for(self, count: int) -> None:
        wait_for(f"{count} messages", lambda: len(self.bodies) >= count, interval=0.2)

    def end(self) -> tuple[int, str]:
        """Ctrl-C; the exit code, and what it said."""
        self._child.send_signal(signal.SIGINT)
        _, stderr = self._child.communicate(timeout=30)
        return self._child.returncode, stderr

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()


def test_what_is_produced_is_consumed_byte_for_byte(cluster: Cluster, tmp_path: Path) -> None:
    topic, random = cluster.topic("RoundTrip"), Random(7)
    drafts: dict[str, dict[str, Any]] = {}
    for number in range(MESSAGE_COUNT):
        raw = random.randbytes(1 + number % 500)
        drafts[str(number)] = [
            {"body": b64encode(raw).decode(), "bodyEncoding": "base64"},
            {"body": f"text 中文 \u0000 {number}"},
            {"body": json.dumps({"id": number, "text": "x" * (number % 6000)})},
        ][number % 3] | {"key": str(number), "tag": "ABC"[number % 3], "properties": {"n": f"ä{number}"}}
    sent_count = 0
    for part, options in enumerate(
        (("--compress",), ("--compression", "lz4"), ("--compression", "zstd"), ())
    ):
        file = tmp_path / f"in{part}.jsonl"
        file.write_text("".join(json.dumps(draft) + "\n" for draft in list(drafts.values())[part::4]))
        result = cluster("produce", topic, "--jsonl", "--input", str(file), *options, "--yes")
        assert result.code == 0, result.err
        assert {row["brokerName"] for row in result.rows} == {"broker-a", "broker-old"}
        sent_count += sum(row["messageCount"] for row in result.rows)
    assert sent_count == MESSAGE_COUNT

    rows = cluster.lines("consume", topic)
    assert len(rows) == MESSAGE_COUNT
    for row in rows:
        draft = drafts.pop(row["keys"][0])
        body = draft["body"]
        if draft.get("bodyEncoding") and row["bodyEncoding"] == "utf-8":
            body = row["body"] if b64encode(row["body"].encode()).decode() == body else None
        assert (row["body"], row["tags"], row["properties"]["n"]) == (
            body,
            draft["tag"],
            draft["properties"]["n"],
        )
    assert drafts == {}


def read_in_java(cluster: Cluster, topic: str, count: int) -> dict[str, str]:
    """What a Java consumer of 5.5.0 reads: the digest of each body, by key."""
    home = cluster.home / f"reader-of-{topic}"
    command = [*client_jvm(home), *jars.program("Bodies"), cluster.server.address, topic]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("body ")]
    assert len(lines) == count, result.stdout
    return {line[1]: line[2] for line in lines}


def test_java_reads_every_compression_and_only_committed_messages(cluster: Cluster) -> None:
    topic, bodies = cluster.topic("Packed"), dict[str, str]()
    for number, options in enumerate(
        (
            ("--compression", "zlib"),
            ("--compression", "lz4"),
            ("--compression", "zstd"),
            ("--compression", "lz4", "--transaction", "commit"),
            ("--transaction", "rollback"),
        )
    ):
        # More than a block of LZ4.
        bodies[f"k{number}"] = text = f"{number} 中文 " * 20_000
        for broker in ("broker-a", "broker-old"):
            line = ("produce", topic, "--raw", "-k", f"k{number}", "-b", broker, *options, "--each", "--yes")
            result = cluster(*line, typed=text)
            assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"]), result.err
    del bodies["k4"]
    expected = {key: hashlib.sha256(text.encode()).hexdigest() for key, text in bodies.items()}
    wait_for("the commits", lambda: len(cluster.lines("consume", topic)) == 2 * len(expected), interval=0.3)
    assert read_in_java(cluster, topic, 2 * len(expected)) == expected
    rows = cluster.lines("consume", topic)
    assert sorted(row["keys"][0] for row in rows) == sorted([*expected] * 2)
    assert {row["keys"][0]: (row["sysFlag"] & 0x70D) for row in rows} == {
        "k0": 0x301, "k1": 0x101, "k2": 0x201, "k3": 0x109,
    }  # fmt: skip


def test_bodies_of_avro_and_protobuf_are_decoded(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.topic("Decoded")
    fields = [{"name": "id", "type": "int"}]
    (tmp_path / "order.avsc").write_text(json.dumps({"type": "record", "name": "O", "fields": fields}))
    (tmp_path / "order.proto").write_text('syntax = "proto3"; package shop; message Order { int32 id = 1; }')
    drafts = [
        {"key": "avro", "body": b64encode(b"\x54").decode(), "bodyEncoding": "base64"},
        {"key": "proto", "body": b64encode(gzip.compress(b"\x08\x2a")).decode(), "bodyEncoding": "base64"},
    ]
    line = ("produce", topic, "--jsonl", "--each", "--yes")
    result = cluster(*line, typed="".join(json.dumps(draft) + "\n" for draft in drafts))
    assert result.code == 0, result.err
    for key, kind in (
        ("avro", f"avro:{tmp_path}/order.avsc"),
        ("proto", f"gzip,protobuf:{tmp_path}/order.proto#Order"),
    ):
        decoders = ("--decode", kind)
        [row] = cluster.lines("consume", topic, "--key", key, "--field", "id=42", *decoders)
        assert (row["body"], row["bodyEncoding"], row["bodyError"]) == ({"id": 42}, "json", None)
        [decoded_row] = cluster("queryMsgById", topic, row["msgId"], *decoders).rows
        assert decoded_row["body"] == {"id": 42}


def find_traces(cluster: Cluster, topic: str, msg_id: str) -> list[tuple[str, str, str]]:
    """The traces of a message, which `message track` shows too."""
    wait_for("the traces", lambda: cluster("queryMsgTraceById", msg_id).code == 0, interval=0.3)
    rows = cluster("queryMsgTraceById", msg_id).rows
    wait_for("the message", lambda: cluster("queryMsgById", topic, msg_id).code == 0, interval=0.3)
    story = [row for row in cluster("message", "track", topic, msg_id).rows if row["step"] == "trace"]
    assert [row["detail"].split(",")[0] for row in story] == [row["type"] for row in rows]
    return [(row["type"], row["messageType"], row["status"]) for row in rows]


@pytest.mark.parametrize("broker_name", ["broker-a", "broker-old"])
def test_traces_of_produced_messages_are_found(cluster: Cluster, broker_name: str) -> None:
    topic = cluster.topic("Traced")
    line = ("produce", topic, "one", "-k", "trace-key", "-b", broker_name, "--trace", "--each", "--yes")
    [[usual], [committed]] = (cluster(*line, *options).rows for options in ((), ("--transaction", "commit")))
    assert find_traces(cluster, topic, usual["msgId"]) == [("Pub", "Normal", "success")]
    assert find_traces(cluster, topic, committed["msgId"]) == [
        ("Pub", "Trans_Msg_Half", "success"),
        ("EndTransaction", "Trans_msg_Commit", "COMMIT_MESSAGE"),
    ]


def test_the_order_of_a_sharding_key_and_the_filters_of_brokers(cluster: Cluster) -> None:
    topic = cluster.topic("Ordered")
    line = ("produce", topic, "--template", "{n}", "--count", "120", "--sharding-key", "one", "-c", "A")
    assert cluster(*line, "--property", "size=7", "--yes").code == 0
    assert cluster("produce", topic, "other", "-c", "B", "--property", "size=5", "--yes").code == 0
    assert [row["body"] for row in cluster.lines("consume", topic, "--tag", "A")] == [
        str(number) for number in range(1, 121)
    ]
    bodies = cluster.lines("consume", topic, "--sql", "size < 6")
    assert [row["body"] for row in bodies] == ["other"]


def test_a_delay_is_a_level_everywhere_and_a_duration_since_5_0(cluster: Cluster) -> None:
    topic = cluster.topic("Later")
    result = cluster("produce", topic, "x", "--delay", "2s", "--yes")
    assert (result.code, "has version V4_9_7, which ignores a delay as a duration" in result.err) == (
        1,
        True,
    )
    assert cluster("produce", topic, "level", "-b", "broker-old", "--delay", "1", "--yes").code == 0
    assert cluster("produce", topic, "level", "-b", "broker-a", "--delay", "1", "--yes").code == 0
    wait_for("both", lambda: len(cluster.lines("consume", topic)) == 2, interval=0.3)
    for message in cluster.lines("consume", topic):
        stored, born = (datetime.fromisoformat(message[name]) for name in ("storeTime", "bornTime"))
        assert stored - born >= timedelta(seconds=1)


def test_a_timed_message_is_cancelled_and_one_of_a_level_is_not(cluster: Cluster) -> None:
    topic = cluster.topic("payments")
    assert cluster("produce", topic, "old", "-b", "broker-old", "--delay", "14", "--yes").code == 0
    place = ("-b", "broker-a", "--delay", "8s", "--each", "--yes")
    [[kept], [cancelled]] = (cluster("produce", topic, text, *place).rows for text in ("kept", "cancelled"))
    wait_for("all three", lambda: len(cluster("delayed", "list", topic).rows or ()) == 3, interval=0.2)
    assert cluster("delayed", "cancel", topic, cancelled["msgId"], "--yes").code == 0
    states = {row["body"]: (row["level"], row["cancelled"]) for row in cluster("delayed", "list", topic).rows}
    assert states == {"old": (14, False), "kept": (None, False), "cancelled": (None, True)}
    assert states.keys() <= {row["body"] for row in cluster("delayed", "list").rows if row["topic"] == topic}
    [old] = [row for row in cluster("delayed", "list", topic).rows if row["body"] == "old"]
    result = cluster("delayed", "cancel", topic, old["msgId"], "--yes")
    assert (result.code, "delayed by a level" in result.err) == (1, True)
    wait_for("the delivery", lambda: cluster.lines("consume", topic), interval=0.5)
    time.sleep(3)
    assert [row["body"] for row in cluster.lines("consume", topic)] == ["kept"]
    at_master = ("-b", cluster.new.address, "--yes")
    assert cluster("updateTopic", "%RETRY%warehouse", *at_master).code == 0
    for case in list_cases_elsewhere("delayedList", "delayedCancel"):
        for example in case.examples:
            line = [
                {"7F0000010B4B18B4AAC2910F8A1E0000": old["msgId"]}.get(word, word)
                for word in split_example(example)
            ]
            assert cluster(*line).code == (1 if case.entry.name == "delayedCancel" else 0)
    assert kept["msgId"] not in {row["msgId"] for row in cluster("delayed", "list", topic).rows}


def send_when_possible(cluster: Cluster, topic: str, text: str, broker_name: str) -> None:
    line = ("produce", topic, text, "-b", broker_name, "--yes")
    wait_for("a send", lambda: cluster(*line).code == 0, interval=1)


def test_following_survives_a_restart_and_finds_a_new_broker(cluster: Cluster) -> None:
    topic = cluster.topic("Followed")

    def send(text: str, *more: str) -> None:
        line = ("produce", topic, "--template", text + " {n}", "--count", "20", *more, "--yes")
        assert cluster(*line).code == 0

    send("before", "-b", "broker-a")
    follower = Follower(cluster, topic, "--from", "earliest")
    try:
        follower.wait_for(20)
        cluster.new.stop()
        send("meanwhile", "-b", "broker-old")
        follower.wait_for(40)
        cluster.new.start()
        wait_for_broker([cluster.server], "broker-a")
        wait_for_topic([cluster.server], topic)
        wait_for(
            "sends",
            lambda: cluster("produce", topic, "again 0", "-b", "broker-a", "--yes").code == 0,
            interval=1,
        )
        send("after", "-b", "broker-a")
        follower.wait_for(61)
        with JavaBroker(cluster.home / "third", [cluster.server.address], "broker-c") as third:
            wait_for_broker([cluster.server], "broker-c")
            create_topic(third.port, topic)
            wait_for(
                "sends",
                lambda: cluster("produce", topic, "new 0", "-b", "broker-c", "--yes").code == 0,
                interval=1,
            )
            send("new", "-b", "broker-c")
            follower.wait_for(82)
            code, stderr = follower.end()
    finally:
        follower.kill()
    assert (code, stderr.splitlines()[-1]) == (0, "nsadmin: printed 82 messages")
    assert "trying again" in stderr
    expected = [f"{text} {n}" for text in ("before", "meanwhile", "after", "new") for n in range(1, 21)]
    assert sorted(follower.bodies) == sorted([*expected, "again 0", "new 0"])


def produce_all_kinds(cluster: Cluster, topic: str, tmp_path: Path) -> None:
    """Ordered, timed, compressed and committed messages, texts and bytes, on both releases."""
    random = Random(9)
    drafts: list[dict[str, Any]] = [
        {
            "body": b64encode(random.randbytes(1 + number)).decode() if number % 2 else f"中 {number}\u0000",
            "bodyEncoding": "base64" if number % 2 else "utf-8",
            "keys": [f"k{number}", "all"],
            "tag": "AB"[number % 2],
            "shardingKey": f"s{number % 5}",
            "properties": {"n": str(number), "ä": "ö"},
        }
        for number in range(200)
    ]
    file = tmp_path / "kinds.jsonl"
    file.write_text("".join(json.dumps(draft) + "\n" for draft in drafts))
    assert cluster("produce", topic, "--jsonl", "--input", str(file), "--yes").code == 0
    for options in (
        ("x" * 9000, "-k", "packed", "--compression", "zstd"),
        ("half", "-k", "committed", "--transaction", "commit"),
        ("later", "-k", "delayed", "--delay", "1"),
    ):
        for broker_name in ("broker-a", "broker-old"):
            result = cluster("produce", topic, *options, "-b", broker_name, "--yes")
            assert result.code == 0, result.err
    wait_for("all kinds", lambda: len(cluster.lines("consume", topic)) == 206, interval=0.3)


def list_contents(rows: list[Any], *, without: tuple[str, ...] = ()) -> dict[tuple[str, int], list[Any]]:
    """What a consumer gets of the messages, by queue in the order of the queue."""
    contents: dict[tuple[str, int], list[Any]] = {}
    for row in sorted(rows, key=lambda row: row["queueOffset"]):
        properties = {name: value for name, value in row["properties"].items() if name not in without}
        cells = [row[name] for name in ("msgId", "body", "bodyEncoding", "keys", "tags", "bornTime", "flag")]
        contents.setdefault((row["brokerName"], row["queueId"]), []).append([*cells, properties])
    return contents


def test_all_kinds_of_messages_come_back_from_files(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.topic("Kinds")
    produce_all_kinds(cluster, topic, tmp_path)
    originals = cluster.lines("consume", topic)
    source = ("BROKER", "TOPIC", "QUEUE", "OFFSET", "STORE_TIME", "BORN_TIME", "DELAY", "TIMER_DELAY_MS")
    fate = (
        *(f"NSADMIN_SOURCE_{name}" for name in source),
        "WAIT",
        "CLUSTER",
        "TRACE_ON",
        "MSG_REGION",
        "TRAN_MSG",
        "PGROUP",
        "DELAY",
        "REAL_TOPIC",
        "REAL_QID",
    )
    for form in ("jsonl.gz", "parquet"):
        file, copies = str(tmp_path / f"kinds.{form}"), cluster.topic(f"Copies-{form.replace('.', '-')}")
        result = cluster("messages", "export", topic, "--out", file)
        assert (result.code, result.rows[0]["messageCount"]) == (0, len(originals)), result.err
        result = cluster("messages", "import", file, "--to-topic", copies, "--yes")
        assert (result.code, result.rows[0]["sent"], result.err) == (0, len(originals), "")
        copied = cluster.lines("consume", copies)
        assert list_contents(copied, without=fate) == list_contents(originals, without=fate)
        store_times = {row["msgId"]: row["storeTime"] for row in originals}
        for row in copied:
            store_ms = int(row["properties"]["NSADMIN_SOURCE_STORE_TIME"])
            assert format_utc(store_ms) == store_times[row["msgId"]]


def test_a_killed_import_repeats_at_most_one_batch(cluster: Cluster, tmp_path: Path) -> None:
    topic, file = cluster.topic("Killed"), tmp_path / "killed.jsonl"
    rows = [
        {"topic": topic, "brokerName": "broker-old", "queueId": number % 4, "body": str(number)}
        for number in range(IMPORTED_COUNT)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = ("messages", "import", str(file), "--yes")
    command = [*PROGRAM, "-n", cluster.server.address, *line]

    def has_stored(count: int) -> bool:
        return len(cluster.lines("consume", topic)) >= count

    for killed_at in (1, IMPORTED_COUNT // 2):
        child = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        wait_for("some messages", partial(has_stored, killed_at), interval=0.1)
        child.kill()
        child.wait()
    result = cluster(*line)
    assert (result.code, result.rows[0]["sentBefore"] + result.rows[0]["sent"]) == (0, IMPORTED_COUNT), (
        result.err
    )
    bodies = [int(row["body"]) for row in cluster.lines("consume", topic)]
    assert sorted(set(bodies)) == list(range(IMPORTED_COUNT))
    assert len(bodies) - IMPORTED_COUNT <= 2 * BATCH_MESSAGES


def test_the_examples_of_the_manual(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.topic("payments")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.txt").write_text("one\ntwo\n")
    (tmp_path / "order.proto").write_text('syntax = "proto3"; message Order { int32 id = 1; }')
    cluster.topic("orders")
    cluster.topic("payments-test")
    names = ("produce", "consume", "messagesExport", "messagesImport")
    for case in sorted(list_cases_elsewhere(*names), key=lambda case: names.index(case.entry.name)):
        for example in case.examples:
            line = split_example(example)
            # An example that follows has no end of its own.
            ending = ["--from", "earliest", "--limit", "1"] if "--follow" in line else []
            result = forked_commands.run(
                [*PATIENT, "-n", cluster.server.address, *line, *ending], ENVIRONMENT, timeout=60
            )
            assert result.returncode == example.exit_code, (example.command_line, result.stderr)


def test_a_benchmark_leaves_no_topic(cluster: Cluster) -> None:
    for case in list_cases_elsewhere("benchProduce", "benchConsume", "benchLatency"):
        for example in case.examples:
            result = cluster(*split_example(example), "--count", "200", "-c", "DefaultCluster")
            assert result.code == example.exit_code, (example.command_line, result.err)
            # A broker that is quicker gets more of the messages, or all.
            assert {row["brokerName"] for row in result.rows} <= {"broker-a", "broker-old"}
            assert {row["result"] for row in result.rows} == {"done"}
            # The latencies are of messages that come within 10 s, on a busy machine not of all.
            fewest = 1 if case.entry.name == "benchLatency" else 200
            assert sum(row["messageCount"] for row in result.rows) >= fewest
            assert all(row["messageCount"] for row in result.rows)
    topics = [row["topic"] for row in cluster("topicList").rows]
    assert [topic for topic in topics if topic.startswith("nsadmin-bench-")] == []
