"""queryMsgByKey, queryMsgByUniqueKey, queryMsgById, queryMsgByOffset."""

import gzip

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with
from tests.support.message_brokers import GroupReader, MessageBroker

KEY = "7F00000126FE7DAF6CD06917D8E20000"
NOT_FOUND = (
    'nsadmin: no message of T has the id "nothing" (if it is a key: `nsadmin queryMsgByKey T nothing`)\n'
)


def shown(result: CommandResult, *columns: str) -> list[list[object]]:
    return [[row[column] for column in columns] for row in result.json]


@pytest.mark.parametrize("words", [("T", "k"), ("-t", "T", "-k", "k"), ("--topic", "T", "--msgKey", "k")])
def test_a_key(run_json: Run, message_broker: MessageBroker, words: tuple[str, ...]) -> None:
    message_broker.store_message(b"one", KEYS="k", TAGS="A")
    result = run_json("queryMsgByKey", *words)
    assert (result.code, result.err) == (0, "")
    assert shown(result, "brokerName", "queueOffset", "tags", "keys", "body") == [
        ["broker-a", 0, "A", ["k"], "one"]
    ]
    assert shown(result, "indexKey") == [[f"1699999200000@T@K@k@7F000001{message_broker.port:08X}{0:016X}@0"]]


def test_a_key_as_a_table(run: Run, first_server: FakeNameServer, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"one", KEYS="k", TAGS="A", UNIQ_KEY=KEY)
    result = run("queryMsgByKey", "T", "k", "-n", first_server.addr)
    head, line = result.out.splitlines()
    assert head.split() == ["msgId", "brokerName", "queueId", "queueOffset", "storeTime", "tags", "keys"]
    assert line.split() == [KEY, "broker-a", "0", "0", "2023-11-14T22:13:20.000Z", "A", "k"]


def test_the_flags_of_a_key(run_json: Run, message_broker: MessageBroker) -> None:
    for number in range(3):
        message_broker.store_message(b"%d" % number, TAGS="A")
    times = ("-b", "5", "-e", "2026-01-01T00:00:00Z")
    done = run_json("queryMsgByKey", "T", "A", "-p", "T", "-l", "L", "-m", "2", *times, "-c", "T")
    assert shown(done, "body") == [["1"], ["2"]]
    ext = message_broker.asked[-1].ext or {}
    assert [ext[name] for name in ("indexType", "lastKey", "maxNum", "beginTimestamp", "endTimestamp")] == [
        "T", "L", "2", "5", "1767225600000",
    ]  # fmt: skip


def test_a_broker_that_gives_no_more_at_a_time(run_json: Run, message_broker: MessageBroker) -> None:
    for _ in range(64):
        message_broker.store_message(KEYS="k")
    result = run_json("queryMsgByKey", "T", "k", "-m", "100")
    assert (result.code, len(result.json)) == (0, 64)
    assert "returned 64 messages, its maximum: pass -e TIME to find older ones" in result.err
    assert run_json("queryMsgByKey", "T", "k").err == ""


@pytest.mark.parametrize(
    ("stored_in", "text"),
    [
        (
            "SCHEDULE_TOPIC_XXXX",
            "1 delayed message has it: `nsadmin delayed list T` shows when they are delivered",
        ),
        (
            "rmq_sys_wheel_timer",
            "1 delayed message has it: `nsadmin delayed list T` shows when they are delivered",
        ),
        ("RMQ_SYS_TRANS_HALF_TOPIC", "1 half message has it: the producer has not committed the transaction"),
    ],
)
def test_a_message_that_no_consumer_gets_yet_is_named(
    run_json: Run, message_broker: MessageBroker, stored_in: str, text: str
) -> None:
    message_broker.store_message(b"other", stored_in, KEYS="k", REAL_TOPIC="U")
    message_broker.store_message(b"waits", stored_in, KEYS="k", REAL_TOPIC="T")
    result = run_json("queryMsgByKey", "T", "k")
    assert (result.code, result.err) == (5, f'nsadmin: no message of T has the key "k", but {text}\n')


def test_what_is_not_there(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    causes = "compare its topic, cluster and time with the log of the producer"
    nothing = f'nsadmin: no message of T has the key "k": {causes}\n'
    assert run_json("queryMsgByKey", "T", "k") == (5, "", nothing)
    message_broker.table["earliestMessageTimeStamp"] = "1700000000000"
    causes += "; messages from before 2023-11-14T22:13:20Z may have expired"
    assert run_json("queryMsgByKey", "U", "k").code == 5
    nothing = f'nsadmin: no message of T has the id "{KEY}": {causes}\n'
    assert run_json("queryMsgByUniqueKey", "T", KEY).err == nothing
    assert run_json("queryMsgById", "T", KEY) == (5, "", nothing)
    too_short = ": too short for a message id of RocketMQ's clients, which has 32 hexadecimal digits (if "
    for value, is_short in ((KEY[:-1], True), ("4711", True), ("order-4711", False), (f"{KEY}0", False)):
        assert (too_short in run_json("queryMsgById", "T", value).err) == is_short, value
    result = run_json("queryMsgByOffset", "T", "broker-a", "0", "9")
    assert (result.code, result.out) == (5, "")
    assert "the queue is empty" in result.err
    with MessageBroker() as other:
        # Which broker had the message is unknown.
        other.table["earliestMessageTimeStamp"] = "1700000100000"
        first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}, "broker-b": {0: other.addr}}}
        first_server.routes["T"]["broker-b"] = 6
        assert "before 2023-11-14T22:15:00Z may have expired" in run_json("queryMsgByKey", "T", "k").err


def test_a_dead_broker_hides_nothing_and_is_mentioned(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}, "broker-b": {0: dead}}}
    first_server.routes["T"]["broker-b"] = 6
    silent = f"nsadmin: broker {dead}: connection refused, no server listens on this port\n"
    nothing = f'{silent}nsadmin: no message of T has the key "k" on the brokers that answered\n'
    assert run_json("queryMsgByKey", "T", "k") == (3, "[]\n", nothing)
    message_broker.store_message(KEYS="k", UNIQ_KEY=KEY)
    for words in (("queryMsgByKey", "T", "k"), ("queryMsgByUniqueKey", "T", KEY), ("queryMsgById", "T", KEY)):
        result = run_json(*words)
        assert (result.code, result.err, len(result.json)) == (3, silent, 1)
    first_server.clusters = {"C": {"broker-b": {0: dead}}}
    first_server.routes["T"] = {"broker-b": 6}
    assert run_json("queryMsgByKey", "T", "k") == (4, "[]\n", silent)


def test_a_silent_broker_that_only_the_id_names_is_told(run_json: Run, message_broker: MessageBroker) -> None:
    port = closed_port()
    result = run_json("queryMsgById", "T", offset_id := f"7F000001{port:08X}{0:016X}")
    assert (result.code, result.err.splitlines()[-1]) == (
        3,
        f'nsadmin: no message of T has the id "{offset_id}": 127.0.0.1:{port} is the broker in the id, '
        "which may be of another cluster",
    )


def test_a_unique_key(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"one", UNIQ_KEY=KEY)
    message_broker.store_message(b"again", UNIQ_KEY=KEY)
    done = run_json("queryMsgByUniqueKey", "-t", "T", "-i", KEY, "-a", "-s", "5", "-e", "6", "-c", "T")
    assert shown(done, "body", "msgId") == [["one", KEY], ["again", KEY]]
    [ext] = [asked.ext or {} for asked in message_broker.asked if asked.code == 12]
    assert (ext["beginTimestamp"], ext["endTimestamp"]) == ("5", "6")


def test_several_ids_each_tell_their_own_story(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"one", UNIQ_KEY=KEY)
    offset_id = f"7F000001{message_broker.port:08X}{0:016X}"
    result = run_json(
        "queryMsgById", "-t", "T", "-i", f"{KEY},{offset_id}, nothing,{KEY}", "-f", "utf8", "-u", "x"
    )
    assert shown(result, "msgId", "offsetMsgId") == [[KEY, offset_id]] * 2
    assert (result.code, result.err) == (3, NOT_FOUND)


def test_a_place(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message("中".encode("gbk"))
    done = run_json(
        "queryMsgByOffset", "-t", "T", "-b", "broker-a", "-i", "0", "-o", "0", "-f", "gbk", "-r", "T"
    )
    assert shown(done, "body", "bodyEncoding") == [["中", "gbk"]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("queryMsgByKey", "T", "k", "-p", "X"), 'invalid value "X" for -p: use K (key) or T (tag)'),
        (("queryMsgByKey", "T", "k", "-m", "0"), 'invalid value "0" for -m: expected 1 or more'),
        (
            ("queryMsgByKey", "T", "k", "-b", "soon"),
            'invalid time "soon" for --from: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z',
        ),
        (("queryMsgByKey", "T"), "missing argument KEY: usage: nsadmin queryMsgByKey TOPIC KEY"),
        (("queryMsgByUniqueKey", "T", "k", "-g", "G"), "incomplete client: pass both -g GROUP and -d CLIENT"),
        (("queryMsgById", "T", ","), 'invalid list "," for -i: write names separated by commas, such as A,B'),
        (
            ("queryMsgById", "T", "k", "-f", "klingon"),
            'unknown encoding "klingon" for -f: use utf-8, gbk, latin-1 or another one',
        ),
        (
            ("queryMsgByOffset", "T", "b", "x", "0"),
            'invalid value "x" for QUEUE: expected a whole number from 0',
        ),
        (
            ("queryMsgByOffset", "T", "b", "0", "-1"),
            'unexpected argument "-1": usage: nsadmin queryMsgByOffset TOPIC BROKER QUEUE OFFSET',
        ),
    ],
)
def test_bad_input_is_one_line(run_json: Run, words: tuple[str, ...], text: str) -> None:
    result = run_json(*words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert text in result.err


def test_what_cannot_be_inflated_is_told_and_shown_as_it_is(
    run_json: Run, message_broker: MessageBroker
) -> None:
    message_broker.store_message(b"packed", sys_flag=0x501, UNIQ_KEY=KEY)
    result = run_json("queryMsgById", "T", KEY)
    assert (result.code, result.err) == (0, f"nsadmin: body of {KEY}: unknown compression type (5)\n")
    assert shown(result, "body", "bodyEncoding") == [["cGFja2Vk", "base64"]]


def test_every_query_decodes_bodies(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(gzip.compress(b'{"a": 1}'), KEYS="k", UNIQ_KEY=KEY)
    for words in (
        ("queryMsgByKey", "T", "k"),
        ("queryMsgByUniqueKey", "T", KEY),
        ("queryMsgById", "T", KEY),
        ("queryMsgByOffset", "T", "broker-a", "0", "0"),
    ):
        assert shown(run_json(*words, "--decode", "gzip,json"), "body") == [[{"a": 1}]]
    result = run_json("queryMsgById", "T", KEY, "--decode", "json")
    assert (result.code, f"body of {KEY}: not json: " in result.err) == (0, True)
    result = run_json("queryMsgById", "T", KEY, "--decode", "json", "-f", "UTF-8")
    assert (result.code, "-f and --decode exclude each other" in result.err) == (2, True)


@pytest.mark.parametrize("command", ["queryMsgById", "queryMsgByUniqueKey"])
def test_an_id_alone_lacks_its_topic(run: Run, command: str) -> None:
    result = run(command, KEY)
    assert (result.code, result.err) == (
        2,
        f"nsadmin: missing argument TOPIC: usage: nsadmin {command} TOPIC {KEY}\n",
    )
    assert "missing argument MSGID" in run(command, "T").err


def test_who_has_consumed_it(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"one", UNIQ_KEY=KEY)
    message_broker.readers = {"G": GroupReader(("c1",), 1), "H": GroupReader()}
    for words in (("queryMsgById", "T", KEY), ("queryMsgByUniqueKey", "T", KEY),
                  ("queryMsgByOffset", "T", "broker-a", "0", "0")):  # fmt: skip
        result = run_json(*words)
        assert (result.code, result.err) == (0, "")
        assert shown(result, "tracks") == [[{"G": "CONSUMED", "H": "NOT_ONLINE"}]]
    message_broker.handlers[203] = refuse_with(1, "busy")
    result = run_json("queryMsgById", "T", KEY)
    assert (result.code, result.err) == (
        0,
        "".join(f"nsadmin: group {name}: SYSTEM_ERROR (1): busy\n" for name in "GH"),
    )
    message_broker.handlers[300] = refuse_with(1, "no")
    result = run_json("queryMsgById", "T", KEY)
    assert (result.code, shown(result, "body", "tracks")) == (3, [["one", None]])
    assert result.err == f"nsadmin: unknown which groups consumed {KEY}: SYSTEM_ERROR (1): no\n"
