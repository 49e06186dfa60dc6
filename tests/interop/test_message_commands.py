"""Messages of real clients on real brokers, 5.5.0 and 4.9.7: what our commands and mqadmin say of them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import AdminClient
from tests.interop import command_line, jars, wire
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker, MqAdmin, temporary_files
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

HERE = Path(__file__).parent
TOPIC, BATCHES, SENT, OLD = "Packed", "Batched", "Sent", "SentToOld"


class Known(NamedTuple):
    """What the Java client printed of a message that it sent."""

    msg_id: str
    offset_msg_id: str
    queue: str
    offset: int


class Cluster(NamedTuple):
    servers: list[OurNameServer]
    broker: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin
    sent: dict[str, Known]


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("messages")
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "new", [server.address], config={"traceTopicEnable": "true"}) as broker,
        JavaBroker(home / "old", [server.address], "broker-old", "OldCluster", version=jars.OLD) as old,
        MqAdmin(home / "mqadmin", [server.address]) as admin,
    ):
        wait_for_broker([server], "broker-a")
        wait_for_broker([server], "broker-old")
        for topic in (TOPIC, SENT):
            create_topic(broker.port, topic)
        create_topic(old.port, OLD)
        batched = {
            "topic": BATCHES, "defaultTopic": "TBW102", "readQueueNums": "1", "writeQueueNums": "1",
            "perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
            "attributes": "+queue.type=BatchCQ",
        }  # fmt: skip
        assert wire.ask(broker.port, 17, batched).code == 0
        for topic in (TOPIC, SENT, OLD, BATCHES):
            wait_for_topic([server], topic)
        yield Cluster([server], broker, old, admin, sent_by_java(server.address, home))


def sent_by_java(address: str, home: Path) -> dict[str, Known]:
    flags = [*QUICK_START, "-Xmx256m", f"-Duser.home={home}", *temporary_files(home)]
    program = ["java", *flags, *jars.program("Messages"), address, TOPIC, BATCHES]
    result = subprocess.run(program, capture_output=True, text=True, timeout=90, cwd=home)
    assert "done 0" in result.stdout, result.stdout + result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("sent ")]
    return {name: Known(msg_id, at, queue, int(offset)) for _, name, msg_id, at, queue, offset in lines}


def nsadmin(cluster: Cluster, *args: str) -> CommandResult:
    return command_line.nsadmin(cluster.servers[0].address, *args)


def found(cluster: Cluster, *args: str) -> list[Any]:
    """The rows of a search, once the index has them: brokers build it a moment later."""

    def rows() -> Any:
        result = nsadmin(cluster, *args)
        assert result.code in (0, 5), result
        return result.rows

    return list(wait_for(" ".join(args), rows))


def table(said: str, head: str) -> list[list[str]]:
    """The lines of a table that mqadmin printed, below the line that begins with `head`, as words."""
    lines = said.splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith(head)]
    below = lines[at + 1 :]
    return [line.split() for line in below[: below.index("")] if line.strip()] if "" in below else []


@pytest.mark.parametrize("way", ["LZ4", "ZSTD", "ZLIB"])
def test_bodies_that_a_java_client_compressed(cluster: Cluster, way: str) -> None:
    known = cluster.sent[way]
    for words in (
        ("queryMsgById", TOPIC, known.offset_msg_id),
        ("queryMsgById", TOPIC, known.msg_id),
        ("queryMsgByUniqueKey", TOPIC, known.msg_id),
        ("queryMsgByKey", TOPIC, way),
        ("queryMsgByOffset", TOPIC, "broker-a", known.queue, str(known.offset)),
    ):
        [row] = found(cluster, *words)
        assert row["body"] == f"{way} 中文 " * 1000
        assert (row["bodyEncoding"], row["bodyError"], row["crcOk"]) == ("utf-8", None, True)
        assert (row["msgId"], row["offsetMsgId"]) == (known.msg_id, known.offset_msg_id)
        assert (row["brokerName"], row["queueId"], row["queueOffset"]) == (
            "broker-a",
            int(known.queue),
            known.offset,
        )
        assert (row["storeHost"], row["tags"], row["keys"]) == (cluster.broker.address, "packed", [way])


def test_a_key_finds_what_mqadmin_finds(cluster: Cluster) -> None:
    rows = found(cluster, "queryMsgByKey", TOPIC, "twin")
    ours = [[row["msgId"], str(row["queueId"]), str(row["queueOffset"]), row["indexKey"]] for row in rows]
    assert [line[0] for line in ours] == [cluster.sent["binary"].msg_id, cluster.sent["twin"].msg_id]
    assert ours == table(cluster.mqadmin("queryMsgByKey", "-t", TOPIC, "-k", "twin"), "#Message ID")
    assert {(row["body"], row["bodyEncoding"]) for row in rows} == {("//4AAQ==", "base64")}
    assert nsadmin(cluster, "queryMsgByKey", TOPIC, "twin", "-e", "1000").code == 5
    assert nsadmin(cluster, "queryMsgByKey", TOPIC, "no such key").code == 5


def test_a_place_that_holds_nothing_is_told(cluster: Cluster) -> None:
    result = nsadmin(cluster, "queryMsgByOffset", TOPIC, "broker-a", cluster.sent["traced"].queue, "99")
    assert result.code == 5
    assert "the queue has offsets 0 to " in result.err


def test_ids_that_nobody_has(cluster: Cluster) -> None:
    known = cluster.sent["twin"].offset_msg_id
    for nobody in (known[:-2] + "FF", known[:-1] + "1", cluster.sent["twin"].msg_id[:-1] + "F", "order-4711"):
        result = nsadmin(cluster, "queryMsgById", TOPIC, nobody)
        assert result.code == 5
        assert result.err.startswith(f'nsadmin: no message of {TOPIC} has the id "{nobody}"')
    assert f"(if it is a key: `nsadmin queryMsgByKey {TOPIC} order-4711" in result.err


def test_one_queue_has_what_mqadmin_prints_of_it(cluster: Cluster) -> None:
    queue = cluster.sent["twin"].queue
    place = ("-t", TOPIC, "-a", "broker-a", "-i", queue)
    mqadmin_output = cluster.mqadmin("printMsgByQueue", *place, "-p", "true", "-f", "true")
    rows = nsadmin(cluster, "printMsgByQueue", *place).rows
    assert [row["msgId"] for row in rows] == [
        line.split()[1] for line in mqadmin_output.splitlines() if line.startswith("MSGID:")
    ]
    assert [row["queueOffset"] for row in rows] == list(range(len(rows)))
    counts = nsadmin(cluster, "printMsgByQueue", *place, "-f", "true").rows
    words = [line.split() for line in mqadmin_output.splitlines() if line.startswith("Tag:")]
    assert {row["tag"]: row["count"] for row in counts} == {line[1]: int(line[3]) for line in words}


def test_all_queues_with_and_without_a_tag(cluster: Cluster) -> None:
    java = [known.msg_id for name, known in cluster.sent.items() if name != "batch"]
    result = nsadmin(cluster, "printMsg", TOPIC)
    assert result.code == 0
    assert {row["msgId"] for row in result.rows} == set(java)
    last = nsadmin(cluster, "printMsg", TOPIC, "--last", "3").rows
    by_time = sorted(result.rows, key=lambda row: (row["storeTime"], row["queueId"], row["queueOffset"]))
    assert last == by_time[-3:]
    queues = {row["queueId"] for row in result.rows}
    first = nsadmin(cluster, "printMsg", TOPIC, "--limit", str(len(queues))).rows
    assert [row["queueId"] for row in first] == sorted(queues)
    mqadmin_output = cluster.mqadmin("printMsg", "-t", TOPIC, "-s", "traced || binary")
    rows = nsadmin(cluster, "printMsg", TOPIC, "-s", "traced || binary").rows
    assert {row["tags"] for row in rows} == {"traced", "binary"}
    assert sorted(row["msgId"] for row in rows) == sorted(
        line.split()[1] for line in mqadmin_output.splitlines() if line.startswith("MSGID:")
    )
    assert nsadmin(cluster, "printMsg", TOPIC, "-e", "1000").rows == []
    first = min(result.rows, key=lambda row: str(row["storeTime"]))
    until = nsadmin(cluster, "printMsg", TOPIC, "-e", first["storeTime"]).rows
    assert [row["msgId"] for row in until] == [first["msgId"]]


def test_an_inner_batch_that_a_broker_stored(cluster: Cluster) -> None:
    rows = nsadmin(cluster, "printMsg", BATCHES).rows
    assert [(row["queueOffset"], row["body"], row["keys"]) for row in rows] == [
        (number, f"inner {number}", [f"batch-{number}"]) for number in range(3)
    ]
    [row] = nsadmin(cluster, "queryMsgByOffset", BATCHES, "broker-a", "0", "2").rows
    assert row["body"] == "inner 2"


def test_what_was_traced_is_what_mqadmin_says(cluster: Cluster) -> None:
    known = cluster.sent["traced"].msg_id

    def all_three() -> Any:
        rows = nsadmin(cluster, "queryMsgTraceById", known).rows or []
        return rows if {"Pub", "SubBefore", "SubAfter"} <= {row["type"] for row in rows} else None

    rows = wait_for("the traces", all_three)
    pub, after = rows[0], next(row for row in rows if row["type"] == "SubAfter")
    assert (pub["group"], pub["topic"], pub["status"], pub["keys"]) == (
        "tracers",
        TOPIC,
        "success",
        "trace-key",
    )
    assert pub["offsetMsgId"] == cluster.sent["traced"].offset_msg_id
    assert (after["group"], after["status"], after["retryTimes"]) == ("trace-readers", "success", 0)
    mqadmin_output = cluster.mqadmin("queryMsgTraceById", "-i", known)
    [line] = [line.split() for line in mqadmin_output.splitlines() if line.startswith("Pub")]
    assert (line[1], line[2], line[-2], line[-1]) == (
        pub["group"], pub["clientHost"].split(":")[0], f"{pub['costMs']}ms", pub["status"],
    )  # fmt: skip
    [line] = [line.split() for line in mqadmin_output.splitlines() if line.startswith("Sub")]
    assert (line[1], line[-2], line[-1]) == (after["group"], f"{after['costMs']}ms", after["status"])
    assert nsadmin(cluster, "queryMsgTraceById", cluster.sent["twin"].msg_id).code == 5


def test_a_message_of_ours_is_found_by_us_and_by_mqadmin(cluster: Cluster) -> None:
    words = ("-k", "k1 k2", "-c", "Ours", "-b", "broker-a", "-i", "2", "-m", "true", "--property", "a=b")
    result = nsadmin(cluster, "sendMessage", SENT, " hello 中文 ", *words)
    assert (result.code, result.err) == (0, "")
    [sent] = result.rows
    assert (sent["result"], sent["queueId"], sent["queueOffset"]) == ("done", 2, 0)
    for search in (
        ("queryMsgById", SENT, sent["offsetMsgId"]),
        ("queryMsgByUniqueKey", SENT, sent["msgId"]),
        ("queryMsgByKey", SENT, "k2"),
    ):
        [row] = found(cluster, *search)
        assert (row["msgId"], row["offsetMsgId"]) == (sent["msgId"], sent["offsetMsgId"])
        assert (row["body"], row["tags"], row["keys"]) == (" hello 中文 ", "Ours", ["k1", "k2"])
        assert row["properties"]["a"] == "b"
    lines = table(cluster.mqadmin("queryMsgByKey", "-t", SENT, "-k", "k1"), "#Message ID")
    assert [line[:3] for line in lines] == [[sent["msgId"], "2", "0"]]
    [trace] = found(cluster, "queryMsgTraceById", sent["msgId"])
    mqadmin_output = cluster.mqadmin("queryMsgTraceById", "-i", sent["msgId"])
    [line] = [line.split() for line in mqadmin_output.splitlines() if line.startswith("Pub")]
    assert (line[1], line[-2], line[-1]) == ("TOOLS_PRODUCER", f"{trace['costMs']}ms", "success")


def test_a_message_of_mqadmins_is_found_by_us(cluster: Cluster) -> None:
    mqadmin_output = cluster.mqadmin(
        "sendMessage", "-t", SENT, "-p", "from-mqadmin", "-k", "mq", "-b", "broker-a", "-i", "3"
    )
    [line] = [line.split() for line in mqadmin_output.splitlines() if line.startswith("broker-a")]
    [row] = found(cluster, "queryMsgByKey", SENT, "mq")
    assert (row["msgId"], row["queueId"], row["body"]) == (line[3], 3, "from-mqadmin")


def test_only_the_blank_separates_keys(cluster: Cluster) -> None:
    keys = ("tab\there", "line\nfeed", "no\u00a0break", "wide\u3000blank")
    with AdminClient(cluster.servers[0].address) as admin:
        queue = admin.message_sender.choose_queue(SENT, "broker-a", 2)
        for key in keys:
            admin.message_sender.send_message(queue, b"white space", keys=f"first {key}")
    for key in keys:
        assert [row["keys"] for row in found(cluster, "queryMsgByKey", SENT, key)] == [["first", key]]


def test_the_newest_of_many_with_one_key(cluster: Cluster) -> None:
    """A broker gives 64 at a time, the newest."""
    with AdminClient(cluster.servers[0].address) as admin:
        place = admin.message_sender.choose_queue(SENT, "broker-a", 1)
        for number in range(70):
            admin.message_sender.send_message(place, str(number).encode(), keys="many")

    def bodies(*words: str) -> list[int]:
        return [int(row["body"]) for row in found(cluster, "queryMsgByKey", SENT, "many", *words)]

    wait_for("the index", lambda: bodies("-m", "1") == [69])
    assert bodies("-m", "5") == [65, 66, 67, 68, 69]
    assert bodies("-m", "100") == list(range(6, 70))
    stderr = nsadmin(cluster, "queryMsgByKey", SENT, "many", "-m", "100").err
    assert "returned 64 messages, its maximum: pass -e TIME to find older ones" in stderr
    assert nsadmin(cluster, "printMsgByQueue", SENT, "broker-a", "1", "-f", "true").rows == [
        {"tag": None, "count": 70}
    ]


def test_a_topic_that_is_gone_is_not_made_again_by_sending(cluster: Cluster) -> None:
    """The route is asked first; a broker that creates topics by itself is not asked to."""
    assert nsadmin(cluster, "sendMessage", "NoSuchTopic", "x").code == 5
    assert wire.ask(cluster.broker.port, 351, {"topic": "NoSuchTopic"}).code == 17


def test_messages_on_an_old_broker(cluster: Cluster) -> None:
    [sent] = nsadmin(cluster, "sendMessage", OLD, "old", "-k", "old-key", "-c", "O").rows
    assert (sent["brokerName"], sent["result"]) == ("broker-old", "done")
    queue = str(sent["queueId"])
    for words in (
        ("queryMsgById", OLD, sent["offsetMsgId"]),
        ("queryMsgByUniqueKey", OLD, sent["msgId"]),
        ("queryMsgByKey", OLD, "old-key"),
        ("queryMsgByOffset", OLD, "broker-old", queue, "0"),
        ("printMsgByQueue", OLD, "broker-old", queue, "-d", "true"),
        ("printMsg", OLD, "-s", "O"),
        ("printMsg", OLD, "-b", "1000", "-e", "now"),
    ):
        [row] = found(cluster, *words)
        assert (row["msgId"], row["body"], row["brokerName"]) == (sent["msgId"], "old", "broker-old"), words


def test_nobody_has_become_a_client(cluster: Cluster) -> None:
    """The old broker was asked by us alone: mqadmin leaves offsets of TOOLS_CONSUMER where it prints."""
    offsets = wire.ask(cluster.old.port, 43)
    assert (offsets.code, b"TOOLS_CONSUMER" in offsets.body) == (0, False)
    assert wire.ask(cluster.old.port, 203, {"consumerGroup": "TOOLS_CONSUMER"}).code == 206
    for broker in (cluster.broker, cluster.old):
        assert wire.ask(broker.port, 204, {"producerGroup": "TOOLS_PRODUCER"}).code == 1
