"""produce: where messages come from, and what is said of them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.commands.messages.produce import SendTotals
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with
from tests.support.message_brokers import MessageBroker


@pytest.fixture
def typed_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The file that is standard input."""
    file = tmp_path / "stdin"
    file.write_bytes(b"")
    with open(file) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        yield file


def sent(store: DeadLetterBroker) -> list[bytes]:
    return sorted(message.body for message in store.stored_messages("T"))


def test_a_text_is_one_message_or_many_equal_ones(stream: Run, store: DeadLetterBroker) -> None:
    result = stream("produce", "T", "hello {n}", "-k", "k{n}", "-c", "A", "--property", "x=y", "--json")
    [row] = result.json
    assert (result.code, result.err) == (0, "")
    assert row.pop("messagesPerSecond") > 0
    assert row == {
        "topic": "T", "brokerName": "broker-a", "transaction": None, "messageCount": 1, "bodyBytes": 9,
        "failed": 0, "result": "done", "error": None,
    }  # fmt: skip
    [message] = store.stored_messages("T")
    assert (message.body, message.keys, message.tags) == (b"hello {n}", ("k1",), "A")
    assert message.properties["x"] == "y"
    assert stream("produce", "T", "again", "--count", "70").code == 0
    assert len(store.stored_messages("T")) == 71


def test_a_template_makes_different_messages(stream: Run, store: DeadLetterBroker) -> None:
    result = stream("produce", "T", "--template", "order {n}", "--count", "3", "--each", "--json")
    rows = result.json
    assert sent(store) == [b"order 1", b"order 2", b"order 3"]
    assert {row["msgId"] for row in rows} == {message.msg_id for message in store.stored_messages("T")}
    assert {(row["result"], row["brokerName"]) for row in rows} == {("done", "broker-a")}


def test_each_line_of_the_input_is_a_message(stream: Run, store: DeadLetterBroker, typed_file: Path) -> None:
    typed_file.write_bytes(b"one\n\n\xff\xfe\nlast")
    assert stream("produce", "T", "-k", "line-{n}").code == 0
    assert sent(store) == [b"last", b"one", b"\xff\xfe"]
    assert {message.keys for message in store.stored_messages("T")} == {("line-1",), ("line-3",), ("line-4",)}


def test_a_file_can_be_one_body(stream: Run, store: DeadLetterBroker, tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"a\nb\n")
    assert stream("produce", "T", "--input", str(tmp_path / "body"), "--raw").code == 0
    assert sent(store) == [b"a\nb\n"]
    result = stream("produce", "T", "--input", str(tmp_path / "missing"))
    assert (result.code, f'cannot read "{tmp_path / "missing"}": No such file' in result.err) == (2, True)


def test_lines_of_json_can_be_those_of_consume(stream: Run, store: DeadLetterBroker, tmp_path: Path) -> None:
    store.store_message(b"\xff\x00", KEYS="k1 k2", TAGS="A", mine="1")
    file = tmp_path / "messages.jsonl"
    file.write_text(stream("consume", "T", "--output", "jsonl").out)
    assert stream("produce", "T", "--jsonl", "--input", str(file)).code == 0
    first, second = store.stored_messages("T")
    assert (first.body, first.keys, first.tags) == (second.body, second.keys, second.tags)
    assert second.properties["mine"] == "1"


def test_an_invalid_line_says_what_was_sent_before(
    stream: Run, store: DeadLetterBroker, tmp_path: Path
) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"body": "x"}\n' * 64 + '{"body": "y"}\n{"body"')
    result = stream("produce", "T", "--jsonl", "--input", str(file))
    assert (
        result.code,
        "line 66 is invalid" in result.err,
        "64 messages before it were sent" in result.err,
    ) == (2, True, True)


def test_a_dry_run_counts_the_input(stream: Run, store: DeadLetterBroker, typed_file: Path) -> None:
    typed_file.write_bytes(b"one\ntwo\n")
    [row] = stream("produce", "T", "--dry-run", "--json").json
    assert (row["messageCount"], row["bodyBytes"], row["result"], store.sent) == (2, 6, "dry-run", [])
    assert stream("produce", "nosuch", "x", "--dry-run").code == 5
    [row] = stream("produce", "T", "x", "--transaction", "commit", "--dry-run", "--json").json
    assert (row["messageCount"], row["transaction"], row["result"]) == (1, "commit", "dry-run")


def test_the_first_failure_ends_it(stream: Run, store: DeadLetterBroker) -> None:
    store.refusals = [13]
    result = stream("produce", "T", "x", "--count", "200", "--json")
    [row] = result.json
    assert (result.code, row["messageCount"], row["failed"], row["result"]) == (3, 63, 1, "failed")
    assert "stopped after 63 sent messages" in result.err
    assert len(store.sent) == 64


def test_an_old_broker_would_ignore_a_duration(stream: Run, store: DeadLetterBroker) -> None:
    def has_version(version: str) -> None:
        table = {"brokerVersionDesc": version}
        store.handlers[28] = lambda asked: answer_json(asked, {"table": table})

    has_version("V4_9_7")
    result = stream("produce", "T", "x", "--delay", "5s")
    assert (result.code, "has version V4_9_7, which ignores a delay as a duration" in result.err) == (1, True)
    assert stream("produce", "T", "x", "--delay", "3").code == 0
    has_version("V5_5_0")
    assert stream("produce", "T", "x", "--delay", "5s").code == 0
    delays = [{"DELAY", "TIMER_DELAY_MS"} & {*message.properties} for message in store.stored_messages("T")]
    assert sorted(map(sorted, delays)) == [["DELAY"], ["TIMER_DELAY_MS"]]


@pytest.mark.parametrize(
    ("words", "flag"), [(("--compress",), 0x301), (("--compression", "LZ4"), 0x101)], ids=["zlib", "lz4"]
)
def test_bodies_are_compressed_on_request(
    stream: Run, store: DeadLetterBroker, words: tuple[str, ...], flag: int
) -> None:
    [row] = stream("produce", "T", "x" * 2000, *words, "--json").json
    [asked] = store.sent
    assert (row["bodyBytes"], (asked.ext or {})["f"], len(asked.body) < 100) == (2000, str(flag), True)


def test_a_compression_without_its_library(
    stream: Run, store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    result = stream("produce", "T", "x", "--compression", "lz4")
    assert (result.code, result.err) == (
        2, "nsadmin: produce: compression lz4 needs the Python package lz4: install it\n",
    )  # fmt: skip


def test_a_transaction_is_committed_or_rolled_back(stream: Run, store: DeadLetterBroker) -> None:
    [row] = stream("produce", "T", "kept", "--transaction", "commit", "--json").json
    assert (row["transaction"], row["messageCount"], row["result"]) == ("commit", 1, "done")
    [row] = stream("produce", "T", "lost", "--transaction", "rollback", "--each", "--json").json
    assert (row["offsetMsgId"], row["queueOffset"], row["result"]) == (None, None, "done")
    assert sent(store) == [b"kept"]
    assert "transaction" in stream("produce", "T", "x", "--transaction", "commit").out
    assert "transaction" not in stream("produce", "T", "x").out


def test_a_commit_that_is_refused(stream: Run, store: DeadLetterBroker) -> None:
    store.on_send = lambda: store.handlers.update({37: refuse_with(1, "no")})
    result = stream("produce", "T", "x", "--transaction", "commit")
    assert (result.code, "failed, so no consumer gets it: no" in result.err) == (1, True)
    assert (sent(store), "stopped after 0 sent messages" in result.err) == ([], True)


def test_traces_need_their_topic(stream: Run, store: DeadLetterBroker, first_server: FakeNameServer) -> None:
    result = stream("produce", "T", "x", "--trace")
    assert (result.code, store.sent) == (5, [])
    assert "RMQ_SYS_TRACE_TOPIC has no route: set traceTopicEnable=true in broker.conf" in result.err
    first_server.routes["RMQ_SYS_TRACE_TOPIC"] = {"broker-a": 6}
    assert stream("produce", "T", "x", "-k", "k", "--trace").code == 0
    [message], [trace] = store.stored_messages("T"), store.stored_messages("RMQ_SYS_TRACE_TOPIC")
    assert trace.keys == (message.msg_id, "k")


def test_a_trace_that_is_not_written_ends_it(
    stream: Run, store: DeadLetterBroker, first_server: FakeNameServer
) -> None:
    first_server.routes["RMQ_SYS_TRACE_TOPIC"] = {"broker-a": 6}
    store.on_send = lambda: store.refusals.extend([13] if len(store.sent) == 2 else [])
    result = stream("produce", "T", "x", "--trace")
    assert (result.code, sent(store)) == (3, [b"x"])
    assert "traces of sent messages were not written: MESSAGE_ILLEGAL (13): no" in result.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("x", "--template", "y"), "BODY and --template exclude each other"),
        (("--count", "2"), "--count needs BODY or --template"),
        (("x", "--rate", "0"), 'invalid number "0" for --rate'),
        (("x", "--delay", "soon"), 'invalid delay "soon"'),
        (
            ("x", "--compression", "gzip"),
            'invalid value "gzip" for --compression: expected zlib, lz4 or zstd',
        ),
        (("x", "--compress", "--compression", "lz4"), "--compress and --compression exclude each other"),
        (("x", "--transaction", "maybe"), 'invalid value "maybe" for --transaction: expected commit or'),
        (("x", "--transaction", "commit", "--delay", "3"), "--transaction and --delay exclude each other"),
        (
            ("x", "--transaction", "commit", "--property", "DELAY=3"),
            "message 1 has a delay: with --transaction, no message can have one",
        ),
        (("x", "--property", "y"), 'invalid value "y" for --property: use NAME=VALUE'),
    ],
)
def test_words_that_do_not_fit(
    stream: Run, store: DeadLetterBroker, words: tuple[str, ...], text: str
) -> None:
    result = stream("produce", "T", *words)
    assert (result.code, text in result.err, store.sent) == (2, True, []), result.err


def test_a_read_only_context_sends_nothing(run: Run, store: MessageBroker, stream: Run) -> None:
    stream("context", "set", "p", "--read-only")
    assert stream("produce", "T", "x", "--context", "p").code == 6
    assert store.sent == []


def test_the_audit_has_no_bodies_and_no_row_for_each_of_many_messages(
    stream: Run, store: DeadLetterBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.console.audit.MAX_RESULT_ROWS", 1000)
    assert stream("produce", "T", "--template", "secret {n}", "--count", "1100", "--each").code == 0
    assert stream("produce", "T", "secret").code == 0
    text = (tmp_path / "audit.jsonl").read_text()
    many, one = (json.loads(line) for line in text.splitlines())
    assert "secret" not in text
    assert (len(many["results"]), len(one["results"])) == (1000, 1)
    assert sum(item.get("times", 1) for item in many["sent"]) == 1100


def sent_to(broker_name: str, error: NotApplied | None = None) -> SentDraft:
    queue = SendQueue("T", broker_name, "h:1", 0)
    message = None if error else SentMessage(queue, "ID", None, None)
    return SentDraft(MessageDraft(b"12345"), queue, ServerResult("h:1", message, error))


def test_each_broker_has_a_row() -> None:
    totals = SendTotals(keeps_each=False)
    totals.add_batch([sent_to("b"), sent_to("a"), sent_to("b"), sent_to("a", NotApplied("no"))])
    assert [
        (t.broker_name, t.message_count, t.body_bytes, t.failed, t.result) for t in totals.list_totals()
    ] == [("a", 1, 5, 1, "failed"), ("b", 2, 10, 0, "done")]
    assert (totals.sent_count, totals.sendings) == (3, [])


def test_a_batch_without_traces_is_remembered() -> None:
    totals = SendTotals(keeps_each=True)
    totals.add_batch([sent_to("a")._replace(trace_error=NotApplied("no trace"))])
    assert (str(totals.trace_error), totals.errors, len(totals.sendings)) == ("no trace", {}, 1)
