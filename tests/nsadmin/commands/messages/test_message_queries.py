"""queryMsgByKey, queryMsgByUniqueKey, queryMsgById, queryMsgByOffset."""

import gzip
import json

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.message_brokers import MessageBroker, Reader
from tests.support.servers import FakeNameServer, closed_port, refuse

KEY = "7F00000126FE7DAF6CD06917D8E20000"


def shown(result: CommandResult, *columns: str) -> list[list[object]]:
    return [[row[column] for column in columns] for row in json.loads(result.out)]


@pytest.mark.parametrize("words", [("T", "k"), ("-t", "T", "-k", "k"), ("--topic", "T", "--msgKey", "k")])
def test_a_key(ask: Run, holder: MessageBroker, words: tuple[str, ...]) -> None:
    holder.store(b"one", KEYS="k", TAGS="A")
    result = ask("queryMsgByKey", *words)
    assert (result.code, result.err) == (0, "")
    assert shown(result, "brokerName", "queueOffset", "tags", "keys", "body") == [
        ["broker-a", 0, "A", ["k"], "one"]
    ]
    assert shown(result, "indexKey") == [[f"1699999200000@T@K@k@7F000001{holder.port:08X}{0:016X}@0"]]


def test_a_key_as_a_table(run: Run, first: FakeNameServer, holder: MessageBroker) -> None:
    holder.store(b"one", KEYS="k", TAGS="A", UNIQ_KEY=KEY)
    result = run("queryMsgByKey", "T", "k", "-n", first.addr)
    head, line = result.out.splitlines()
    assert head.split() == ["msgId", "brokerName", "queueId", "queueOffset", "storeTime", "tags", "keys"]
    assert line.split() == [KEY, "broker-a", "0", "0", "2023-11-14T22:13:20.000Z", "A", "k"]


def test_the_flags_of_a_key(ask: Run, holder: MessageBroker) -> None:
    for number in range(3):
        holder.store(b"%d" % number, TAGS="A")
    times = ("-b", "5", "-e", "2026-01-01T00:00:00Z")
    done = ask("queryMsgByKey", "T", "A", "-p", "T", "-l", "L", "-m", "2", *times, "-c", "T")
    assert shown(done, "body") == [["1"], ["2"]]
    ext = holder.asked[-1].ext or {}
    assert [ext[name] for name in ("indexType", "lastKey", "maxNum", "beginTimestamp", "endTimestamp")] == [
        "T", "L", "2", "5", "1767225600000",
    ]  # fmt: skip


def test_a_broker_that_gives_no_more_at_a_time(ask: Run, holder: MessageBroker) -> None:
    for _ in range(64):
        holder.store(KEYS="k")
    result = ask("queryMsgByKey", "T", "k", "-m", "100")
    assert (result.code, len(json.loads(result.out))) == (0, 64)
    assert "returned its maximum number of messages: use -e to find older ones" in result.err
    assert ask("queryMsgByKey", "T", "k").err == ""


def test_what_is_not_there(ask: Run) -> None:
    assert ask("queryMsgByKey", "T", "k") == (5, "", 'nsadmin: no message of T has the key "k"\n')
    assert ask("queryMsgByKey", "U", "k").code == 5
    assert ask("queryMsgByUniqueKey", "T", KEY).err == f"nsadmin: no message of T has the id {KEY}\n"
    assert ask("queryMsgById", "T", KEY) == (5, "", f"nsadmin: no message of T has the id {KEY}\n")
    result = ask("queryMsgByOffset", "T", "broker-a", "0", "9")
    assert (result.code, result.out) == (5, "")
    assert "the queue has offsets from 0 to before 0" in result.err


def test_a_dead_broker_hides_nothing_and_is_mentioned(
    ask: Run, first: FakeNameServer, holder: MessageBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    first.clusters = {"C": {"broker-a": {0: holder.addr}, "broker-b": {0: dead}}}
    first.routes["T"]["broker-b"] = 6
    silent = f"nsadmin: broker {dead}: connection refused, no server listens on this port\n"
    nothing = f'{silent}nsadmin: no message of T has the key "k" on the brokers that answered\n'
    assert ask("queryMsgByKey", "T", "k") == (3, "[]\n", nothing)
    holder.store(KEYS="k", UNIQ_KEY=KEY)
    for words in (("queryMsgByKey", "T", "k"), ("queryMsgByUniqueKey", "T", KEY), ("queryMsgById", "T", KEY)):
        result = ask(*words)
        assert (result.code, result.err, len(json.loads(result.out))) == (3, silent, 1)
    first.clusters = {"C": {"broker-b": {0: dead}}}
    first.routes["T"] = {"broker-b": 6}
    assert ask("queryMsgByKey", "T", "k") == (4, "[]\n", silent)


def test_a_unique_key(ask: Run, holder: MessageBroker) -> None:
    holder.store(b"one", UNIQ_KEY=KEY)
    holder.store(b"again", UNIQ_KEY=KEY)
    done = ask("queryMsgByUniqueKey", "-t", "T", "-i", KEY, "-a", "-s", "5", "-e", "6", "-c", "T")
    assert shown(done, "body", "msgId") == [["one", KEY], ["again", KEY]]
    [ext] = [asked.ext or {} for asked in holder.asked if asked.code == 12]
    assert (ext["beginTimestamp"], ext["endTimestamp"]) == ("5", "6")


def test_several_ids_each_tell_their_own_story(ask: Run, holder: MessageBroker) -> None:
    holder.store(b"one", UNIQ_KEY=KEY)
    offset_id = f"7F000001{holder.port:08X}{0:016X}"
    result = ask(
        "queryMsgById", "-t", "T", "-i", f"{KEY},{offset_id}, nothing,{KEY}", "-f", "utf8", "-u", "x"
    )
    assert shown(result, "msgId", "offsetMsgId") == [[KEY, offset_id]] * 2
    assert (result.code, result.err) == (3, "nsadmin: no message of T has the id nothing\n")


def test_a_place(ask: Run, holder: MessageBroker) -> None:
    holder.store("中".encode("gbk"))
    done = ask("queryMsgByOffset", "-t", "T", "-b", "broker-a", "-i", "0", "-o", "0", "-f", "gbk", "-r", "T")
    assert shown(done, "body", "bodyEncoding") == [["中", "gbk"]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("queryMsgByKey", "T", "k", "-p", "X"), 'invalid value "X" for -p: use K (key) or T (tag)'),
        (("queryMsgByKey", "T", "k", "-m", "0"), 'invalid value "0" for -m: expected 1 or more'),
        (
            ("queryMsgByKey", "T", "k", "-b", "soon"),
            'invalid time "soon" for -b: use 1h, 14:03, or 2026-11-23T14:03Z',
        ),
        (("queryMsgByKey", "T"), "missing argument KEY: usage: nsadmin queryMsgByKey TOPIC KEY"),
        (("queryMsgByUniqueKey", "T", "k", "-g", "G"), "incomplete client: pass both -g GROUP and -d CLIENT"),
        (("queryMsgById", "T", ","), "missing message id: run nsadmin queryMsgById TOPIC ID"),
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
            'unknown option "-1": nsadmin queryMsgByOffset --help lists the options',
        ),
    ],
)
def test_bad_input_is_one_line(ask: Run, words: tuple[str, ...], text: str) -> None:
    result = ask(*words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert text in result.err


def test_what_cannot_be_inflated_is_told_and_shown_as_it_is(ask: Run, holder: MessageBroker) -> None:
    holder.store(b"packed", sys_flag=0x501, UNIQ_KEY=KEY)
    result = ask("queryMsgById", "T", KEY)
    assert (result.code, result.err) == (
        0,
        f"nsadmin: body of {KEY}: unknown compression type (5)\n",
    )
    assert shown(result, "body", "bodyEncoding") == [["cGFja2Vk", "base64"]]


def test_every_query_decodes_bodies(ask: Run, holder: MessageBroker) -> None:
    holder.store(gzip.compress(b'{"a": 1}'), KEYS="k", UNIQ_KEY=KEY)
    for words in (
        ("queryMsgByKey", "T", "k"),
        ("queryMsgByUniqueKey", "T", KEY),
        ("queryMsgById", "T", KEY),
        ("queryMsgByOffset", "T", "broker-a", "0", "0"),
    ):
        assert shown(ask(*words, "--decode", "gzip,json"), "body") == [[{"a": 1}]]
    result = ask("queryMsgById", "T", KEY, "--decode", "json")
    assert (result.code, f"body of {KEY}: not json: " in result.err) == (0, True)
    result = ask("queryMsgById", "T", KEY, "--decode", "json", "-f", "UTF-8")
    assert (result.code, "-f and --decode exclude each other" in result.err) == (2, True)


def test_who_has_consumed_it(ask: Run, holder: MessageBroker) -> None:
    holder.store(b"one", UNIQ_KEY=KEY)
    holder.readers = {"G": Reader(("c1",), 1), "H": Reader()}
    for words in (("queryMsgById", "T", KEY), ("queryMsgByUniqueKey", "T", KEY),
                  ("queryMsgByOffset", "T", "broker-a", "0", "0")):  # fmt: skip
        result = ask(*words)
        assert (result.code, result.err) == (0, "")
        assert shown(result, "tracks") == [[{"G": "CONSUMED", "H": "NOT_ONLINE"}]]
    holder.handlers[203] = refuse(1, "busy")
    result = ask("queryMsgById", "T", KEY)
    assert (result.code, result.err) == (
        0,
        "".join(f"nsadmin: group {name}: SYSTEM_ERROR (1): busy\n" for name in "GH"),
    )
    holder.handlers[300] = refuse(1, "no")
    result = ask("queryMsgById", "T", KEY)
    assert (result.code, shown(result, "body", "tracks")) == (3, [["one", None]])
    assert result.err == f"nsadmin: unknown which groups consumed {KEY}: SYSTEM_ERROR (1): no\n"
