"""messages export: files of messages in each form."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin.client.extras import describe_missing
from nsadmin.operations.message_files.message_file import read_messages
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer

FORMS = ("jsonl", "jsonl.gz", "parquet")


@pytest.fixture
def filled_store(store: DeadLetterBroker, first_server: FakeNameServer) -> DeadLetterBroker:
    first_server.routes["U"] = {"broker-a": 6}
    for number in range(70):
        store.store_message(b"%d" % number, "T", number % 2, 0, KEYS=f"k{number} all", TAGS="AB"[number % 2])
    store.store_message(b"\xff\x00", "U", 3, 0, mine="ä")
    return store


@pytest.mark.parametrize("form", FORMS)
def test_a_file_has_all_messages_with_their_fields(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path, form: str
) -> None:
    file = tmp_path / f"out.{form}"
    result = stream("messages", "export", "T,U", "--out", str(file), "--json")
    assert (result.code, result.err) == (0, "")
    assert [(row["topic"], row["messageCount"], row["bodyBytes"]) for row in result.json] == [
        ("T", 70, 130), ("U", 1, 2),
    ]  # fmt: skip
    messages = {
        (item.message.topic, item.queue_id, item.message.queue_offset): item for item in read_messages(file)
    }
    assert len(messages) == 71
    stored = [message for topic in "TU" for message in filled_store.stored_messages(topic)]
    for message in stored:
        copy = messages[message.topic, message.queue_id, message.queue_offset]
        assert copy.broker_name == "broker-a"
        assert copy.message == message._replace(crc_ok=None)
    assert file.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_lines_of_json_are_the_rows_of_consume(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path
) -> None:
    assert stream("messages", "export", "T", "--out", str(tmp_path / "a.jsonl")).code == 0
    consumed = stream("consume", "T", "--output", "jsonl").out.splitlines()
    assert sorted((tmp_path / "a.jsonl").read_text().splitlines()) == sorted(consumed)


def test_a_limit_is_the_number_of_messages_of_each_topic(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    result = stream("messages", "export", "T,U", "--out", str(file), "--limit", "5", "--json")
    assert [(row["topic"], row["messageCount"]) for row in result.json] == [("T", 5), ("U", 1)]
    assert len(file.read_text().splitlines()) == 6


def test_a_folder_gets_a_file_per_topic(stream: Run, filled_store: DeadLetterBroker, tmp_path: Path) -> None:
    assert stream("messages", "export", "T,U", "--out", str(tmp_path / "new/")).code == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["T.jsonl.gz", "U.jsonl.gz"]
    with gzip.open(tmp_path / "new" / "U.jsonl.gz", "rt") as lines:
        [row] = [json.loads(line) for line in lines]
    assert (row["body"], row["bodyEncoding"], row["properties"]) == ("/wA=", "base64", {"mine": "ä"})
    assert stream("messages", "export", "T", "--out", str(tmp_path), "--form", "jsonl").code == 0
    assert len((tmp_path / "T.jsonl").read_text().splitlines()) == 70


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--since", "2023-11-14T22:13:50Z"), 10),
        (("--until", "2023-11-14T22:13:20Z"), 2),
        (("--tag", "B"), 35),
        (("--key", "k3", "--key", "k4"), 2),
        (("--body", "^1"), 11),
        (("-i", "1"), 35),
        (("-b", "broker-a"), 70),
        (("--property", "KEYS=k3 all"), 1),
    ],
)
def test_options_select_messages(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path, words: tuple[str, ...], count: int
) -> None:
    result = stream("messages", "export", "T", "--out", str(tmp_path / "a.jsonl"), "--json", *words)
    assert [row["messageCount"] for row in result.json] == [count]
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == count


def test_a_queue_that_fails_is_named_and_the_others_are_written(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path
) -> None:
    pull = filled_store.handlers[11]
    filled_store.handlers[11] = lambda asked: (
        build_reply(asked, 1, remark="no disk") if (asked.ext or {}).get("queueId") == "1" else pull(asked)
    )
    result = stream("messages", "export", "T", "--out", str(tmp_path / "a.jsonl"), "--json")
    [row] = result.json
    assert (result.code, row["messageCount"], row["result"]) == (3, 35, "failed")
    assert result.err == "nsadmin: T, broker broker-a, queue 1: SYSTEM_ERROR (1): no disk\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("T", "--out", "a.txt"),
            'unknown form of "a.txt": end it with .jsonl, .jsonl.gz, .parquet, or with /',
        ),
        (
            ("T", "--out", "a.jsonl", "--form", "jsonl"),
            "--form is for a folder: a.jsonl is a file by its name",
        ),
        (("T,,U", "--out", "a.jsonl"), 'invalid list "T,,U" for TOPICS'),
        (("T", "--out", "/proc/a.jsonl"), 'cannot write "/proc/a.jsonl": '),
        (("T", "--out", "a.jsonl", "--body", "("), 'invalid regular expression "(" for --body'),
    ],
)
def test_wrong_command_lines_write_nothing(
    stream: Run, filled_store: DeadLetterBroker, words: tuple[str, ...], text: str
) -> None:
    result = stream("messages", "export", *words)
    assert (result.code, text in result.err) == (2, True), result.err


def test_parquet_without_its_library_says_what_to_install(
    stream: Run, filled_store: DeadLetterBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = stream("messages", "export", "T", "--out", str(tmp_path / "a.parquet"))
    remedy = f"{describe_missing('duckdb', 'parquet')}, or use .jsonl.gz"
    assert (result.code, result.err) == (2, f"nsadmin: messages export: {remedy}\n")
