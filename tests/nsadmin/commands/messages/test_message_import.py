"""messages import: what is sent of a file, where to, and how a run goes on."""

import json
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.protocol.command import build_reply
from namesrv_core.protocol.stored_messages import StoredMessage
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def target(store: DeadLetterBroker, first_server: FakeNameServer) -> DeadLetterBroker:
    first_server.routes["U"] = {"broker-a": 6}
    return store


def write_rows(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def message(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {"topic": "T", "brokerName": "broker-a", "queueId": number % 4, "body": str(number), **fields}


def rows_of(result: CommandResult) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.json
    return rows


def build_source_of(original: StoredMessage) -> dict[str, str]:
    places = {
        "BROKER": "broker-a", "TOPIC": original.topic, "QUEUE": original.queue_id,
        "OFFSET": original.queue_offset, "STORE_TIME": original.store_timestamp,
        "BORN_TIME": original.born_timestamp,
    }  # fmt: skip
    return {f"NSADMIN_SOURCE_{name}": str(value) for name, value in places.items()}


def test_an_export_comes_back_with_the_same_messages(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    for number in range(300):
        target.store_message(
            bytes([number % 256]) * 3, "T", number % 4, 0, UNIQ_KEY=f"ID{number}", KEYS="k", p="1"
        )
    file = str(tmp_path / "a.parquet")
    assert stream("messages", "export", "T", "--out", file).code == 0
    originals = target.stored_messages("T")
    result = stream("messages", "import", file, "--to-topic", "U", "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    [row] = rows_of(result)
    assert (row["messageCount"], row["sent"], row["failed"], row["toTopic"]) == (300, 300, 0, "U")
    copies = target.stored_messages("U")
    assert [(copy.body, copy.queue_id, copy.msg_id) for copy in copies] == [
        (item.body, item.queue_id, item.msg_id) for item in originals
    ]
    assert [copy.properties for copy in copies] == [
        item.properties | {"WAIT": "true"} | build_source_of(item) for item in originals
    ]
    assert {(sent.ext or {})["g"] for sent in target.sent} == {str(item.born_timestamp) for item in originals}


def test_a_second_import_sends_nothing_until_again(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", *(message(number) for number in range(10)))
    assert rows_of(stream("messages", "import", file, "--yes", "--json"))[0]["sent"] == 10
    [row] = rows_of(stream("messages", "import", file, "--yes", "--json"))
    assert (row["sentBefore"], row["sent"], len(target.sent)) == (10, 0, 10)
    [row] = rows_of(stream("messages", "import", file, "--to-topic", "U", "--yes", "--json"))
    assert (row["sentBefore"], row["sent"]) == (0, 10)
    [row] = rows_of(stream("messages", "import", file, "--again", "--yes", "--json"))
    assert (row["sentBefore"], row["sent"], len(target.stored_messages("T"))) == (0, 10, 20)


def test_a_failure_ends_the_run_and_the_next_run_sends_the_rest_in_order(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", *(message(number, queueId=0) for number in range(600)))
    target.on_send = lambda: target.refusals.append(1) if len(target.sent) == 300 else None
    result = stream("messages", "import", file, "--yes", "--json")
    [row] = rows_of(result)
    assert (result.code, row["sent"], row["failed"], row["error"]) == (3, 299, 1, "SYSTEM_ERROR (1): no")
    assert result.err == "nsadmin: T: SYSTEM_ERROR (1): no\nnsadmin: run the same command to send the rest\n"
    result = stream("messages", "import", file, "--yes", "--json")
    [row] = rows_of(result)
    assert (result.code, row["sentBefore"], row["sent"]) == (0, 299, 301)
    assert [int(copy.body) for copy in target.stored_messages("T")] == list(range(600))


def test_a_message_that_the_broker_refuses_does_not_hold_up_the_others(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", *(message(number, queueId=0) for number in range(10)))
    target.on_send = lambda: target.refusals.append(13) if len(target.sent) == 4 else None
    result = stream("messages", "import", file, "--yes", "--json")
    [row] = rows_of(result)
    assert (result.code, row["sent"], row["failed"]) == (3, 9, 1)
    assert [int(copy.body) for copy in target.stored_messages("T")] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    [row] = rows_of(stream("messages", "import", file, "--yes", "--json"))
    assert (row["sentBefore"], row["sent"], target.stored_messages("T")[-1].body) == (9, 1, b"3")


def test_queues_and_brokers_that_the_topic_lacks_are_replaced_by_others(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    rows = [message(number, queueId=11, brokerName="other") for number in range(5)]
    assert stream("messages", "import", write_rows(tmp_path / "a.jsonl", *rows), "--yes").code == 0
    assert [(copy.queue_id, copy.body) for copy in target.stored_messages("T")] == [
        (3, str(number).encode()) for number in range(5)
    ]


def test_a_copy_of_an_older_import_keeps_its_store_time_and_a_compressed_body_is_compressed(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    old = {"NSADMIN_STORE_TIME": "5", "TIMER_DELAY_MS": "9", "DELAY": "3", "mine": "1"}
    row = message(properties=old, storeTime="2024-01-02T03:04:05.006Z", body="x" * 9000, sysFlag=1, flag=7)
    assert stream("messages", "import", write_rows(tmp_path / "a.jsonl", row), "--yes").code == 0
    [copy] = target.stored_messages("T")
    assert copy.body == b"x" * 9000
    assert len(target.sent[0].body) < 100
    assert copy.properties.items() >= {"NSADMIN_STORE_TIME": "5", "mine": "1"}.items()
    assert not copy.properties.keys() & {"TIMER_DELAY_MS", "DELAY"}
    assert (target.sent[0].ext or {})["h"] == "7"


def test_a_dry_run_counts_and_names_missing_topics(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    write_rows(tmp_path / "a.jsonl", message(), message(1))
    write_rows(tmp_path / "b.jsonl", message(topic="gone"))
    result = stream("messages", "import", str(tmp_path), "--dry-run", "--json")
    assert [(row["topic"], row["messageCount"], row["result"]) for row in rows_of(result)] == [
        ("T", 2, "dry-run"), ("gone", 1, "not found"),
    ]  # fmt: skip
    result = stream("messages", "import", str(tmp_path), "--yes")
    assert (result.code, len(target.sent)) == (5, 0)
    assert 'no topic "gone": create it, or pass --to-topic gone=NEW' in result.err
    result = stream("messages", "import", str(tmp_path), "--to-topic", "gone=U", "--yes")
    assert (result.code, len(target.stored_messages("U"))) == (0, 1)


def test_a_broker_that_loses_acknowledged_messages_is_reported(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", message(), message(4))
    target.handlers[30] = lambda asked: build_reply(asked, ext={"offset": "1"})
    result = stream("messages", "import", file, "--yes")
    assert result.code == 3
    assert (
        "queue 0 on broker-a ends at offset 1, and the broker acknowledged a message at offset 1"
        in result.err
    )


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (
            '{"topic": "T", "body": "x"}\n{"topic": "T"',
            (),
            "a.jsonl: line 2 is invalid: the line is incomplete",
        ),
        ('{"topic": "T", "body": "x"}\n[]\n', (), "a.jsonl: line 2 is invalid: not an object"),
        ('{"topic": "T", "body": ""}\n', (), "a.jsonl: message 1 is invalid: the body is empty"),
        ('{"body": "x"}\n', (), "a.jsonl: message 1 is invalid: it has no topic"),
        ('{"topic": "T", "body": "x"}\n', ("--rate", "0"), 'invalid number "0" for --rate: use more than 0'),
        ('{"topic": "T", "body": "x"}\n', ("--to-topic", "=U"), 'invalid value "=U" for --to-topic'),
        (
            '{"topic": "T", "body": "x"}\n{"topic": "U", "body": "x"}\n',
            ("--to-topic", "U"),
            "the files have messages of T, U: pass --to-topic OLD=NEW for each of them",
        ),
    ],
)
def test_nothing_is_sent_of_a_damaged_file_or_by_a_wrong_command_line(
    stream: Run, target: DeadLetterBroker, tmp_path: Path, text: str, words: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    result = stream("messages", "import", str(tmp_path / "a.jsonl"), *words, "--yes")
    assert (result.code, expected in result.err, target.sent) == (2, True, []), result.err


def test_damaged_files_of_other_forms_are_refused(
    stream: Run, target: DeadLetterBroker, tmp_path: Path
) -> None:
    target.store_message(b"x" * 50_000)
    for form in ("jsonl.gz", "parquet"):
        file = tmp_path / f"a.{form}"
        assert stream("messages", "export", "T", "--out", str(file)).code == 0
        file.write_bytes(file.read_bytes()[:-9])
        result = stream("messages", "import", str(file), "--yes")
        assert (result.code, str(file) in result.err, target.sent) == (2, True, []), result.err
    result = stream("messages", "import", str(tmp_path / "none.jsonl"), "--yes")
    assert (result.code, f'cannot read "{tmp_path}/none.jsonl": No such file' in result.err) == (2, True)
