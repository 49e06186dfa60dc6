"""journalCat, journalTail, journalStat and journalVerify on folders that no server writes to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.events import (
    BrokerRegistered,
    Event,
    KvPut,
    QueueData,
    Snapshot,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import JournalRecord, RecordOrigin
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.rolling_writer import JournalWriter
from tests.nsadmin.conftest import Run
from tests.support.journals import make_snapshot, write_journal

NOW = 1_763_733_780_000
QUEUE = QueueData("a", 8, 8, 6)
EVENTS: tuple[Event, ...] = (
    Snapshot("start", (), (), (), (), (), (), {}, {}),
    BrokerRegistered("c", "a", 0, "10.0.0.1:10911", 2),
    TopicsChanged(
        "a",
        "registration",
        group_topic_changes([TopicChange("T", None, QUEUE), TopicChange("U", None, QUEUE)]),
    ),
    KvPut("n", "k", None, "v\n1"),
)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Three records in a closed segment, one in an open one, each a minute after the one before."""
    journal_folder = tmp_path / "journal"
    journal = JournalWriter(journal_folder)
    for number, event in enumerate(EVENTS):
        now = NOW + number * 60_000
        if number == 3:
            journal.roll_segment()
        origin = RecordOrigin(now, "REGISTER_BROKER", "10.0.0.1:5" if number else None)
        journal.append_lines(encode_record_line(journal.next_seq, "s:9876", origin, event), 1, now)
    journal.tidy_segments(NOW)
    journal.close()
    return str(journal_folder)


def test_cat_shows_all_records_in_a_table_and_says_whose_doing_they_were(run: Run, folder: str) -> None:
    result = run("journalCat", folder)
    assert result.code == 0
    head, first, second, third, fourth = result.out.splitlines()
    assert head.split() == ["seq", "time", "type", "summary", "cause", "client"]
    assert "2025-11-21T14:03:00.000Z  Snapshot" in first
    assert "brokerName=a brokerId=0 brokerAddr=10.0.0.1:10911 topics=2" in second
    assert second.endswith("REGISTER_BROKER  10.0.0.1:5")
    assert "reason=registration changes=2 topics" in third
    assert "value=v\\n1" in fourth


def test_json_has_the_whole_event(run: Run, folder: str) -> None:
    rows = [json.loads(row) for row in run("journalCat", folder, "--output", "jsonl").out.splitlines()]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4]
    assert rows[2]["server"] == "s:9876"
    assert rows[2]["event"] == {
        "brokerName": "a",
        "reason": "registration",
        "changes": [
            {
                "topics": ["T", "U"],
                "after": {
                    "brokerName": "a", "readQueueNums": 8, "writeQueueNums": 8, "perm": 6, "topicSysFlag": 0,
                },
            }
        ],
    }  # fmt: skip


def test_cat_of_a_time_and_of_a_type(run: Run, folder: str) -> None:
    span = ("--since", "2025-11-21T14:04Z", "--until", "2025-11-21T14:06Z")
    assert run("journalCat", folder, *span, "--columns", "type", "--no-headers").out.split() == [
        "BrokerRegistered",
        "TopicsChanged",
    ]
    assert run("journalCat", folder, "--filter", "type=KvPut", "--output", "name").out == "4\n"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), "1 2 3 4"),
        (("-l", "2"), "3 4"),
        (("--lines", "0"), ""),
        (("-l", "5"), "1 2 3 4"),
        (("-l", "9"), "1 2 3 4"),
    ],
)
def test_tail_shows_the_last_records(run: Run, folder: str, words: tuple[str, ...], shown: str) -> None:
    result = run("journalTail", folder, *words, "--columns", "seq", "--no-headers")
    assert (result.code, result.out.split()) == (0, shown.split())


def test_tail_goes_on_with_what_comes_without_names_above_it_again(
    run: Run, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def comes(path: Path, after: int) -> Iterator[list[JournalRecord]]:
        assert (str(path), after) == (folder, 4)
        yield list(reader.read_records(path))[:2]
        raise KeyboardInterrupt

    monkeypatch.setattr(reader, "follow_records", comes)
    result = run("journalTail", folder, "-l", "1", "--follow", "--columns", "seq")
    assert (result.code, result.out.split()) == (0, ["seq", "4", "1", "2"])


def test_stat_counts_by_type(run: Run, folder: str) -> None:
    result = run("journalStat", folder, "--json")
    assert [(row["type"], row["records"]) for row in result.json] == [
        ("Snapshot", 1),
        ("BrokerRegistered", 1),
        ("TopicsChanged", 1),
        ("KvPut", 1),
    ]
    assert "2 segments" in result.err


def test_verify_tells_that_a_journal_is_whole(run: Run, folder: str) -> None:
    result = run("journalVerify", folder, "--json")
    assert (result.code, result.err) == (0, "")
    assert [(row["result"], row["records"], row["firstSeq"], row["lastSeq"]) for row in result.json] == [
        ("whole", 3, 1, 3),
        ("open", 1, 4, 4),
    ]


@pytest.mark.parametrize(
    "command_words", [["journal", "verify"], ["journal", "tail"], ["routeAt", "T", "--journal"]]
)
def test_a_file_in_place_of_the_folder(run: Run, folder: str, command_words: list[str]) -> None:
    segment = next(Path(folder).iterdir())
    at = ["--at", "now"] if "routeAt" in command_words else []
    result = run(*command_words, str(segment), *at)
    assert (result.code, result.err) == (2, f"nsadmin: {segment} is a file: name its folder\n")


def test_verify_fails_where_something_is_damaged(run: Run, folder: str) -> None:
    next(Path(folder).glob("*.zst")).unlink()
    (path,) = Path(folder).glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"nonsense\n" + b"half a rec")
    result = run("journalVerify", folder, "--columns", "result", "--no-headers")
    assert (result.code, result.out) == (1, "damaged\n")
    assert f"{path.name}: line 2: invalid JSON: Expecting value: line 1 column 1 (char 0)" in result.err
    assert f"{path.name} ends with an incomplete record of 10 bytes, which is no damage" in result.err


@pytest.mark.parametrize("command", ["journalCat", "journalTail", "journalStat", "journalVerify"])
def test_a_folder_without_a_journal_is_one_line(run: Run, tmp_path: Path, command: str) -> None:
    for folder, message in (
        (tmp_path, "is not a journal: it has no files such as 0000000000000001-*.jsonl"),
        (tmp_path / "none", "No such file or directory"),
    ):
        result = run(command, str(folder))
        assert (result.code, result.out) == (2, "")
        assert str(folder) in result.err
        assert message in result.err
        assert result.err.count("\n") == 1


def test_a_folder_above_a_journal_stands_for_it_and_above_several_is_one_line(
    run: Run, folder: str, tmp_path: Path
) -> None:
    Path(folder).rename(tmp_path / "moved")
    (tmp_path / "lab" / "ns-1").mkdir(parents=True)
    first = (tmp_path / "moved").rename(tmp_path / "lab" / "ns-1" / "journal")
    assert run("journalStat", str(tmp_path / "lab")).out == run("journalStat", str(first)).out
    second = write_journal(tmp_path / "lab" / "ns-2" / "journal", [make_snapshot("start")])
    refused = run("journalStat", str(tmp_path / "lab"))
    assert (refused.code, refused.err) == (
        2,
        f'nsadmin: "{tmp_path}/lab" has several journals: use one of {first}, {second}\n',
    )


def test_a_command_s_name_may_be_two_words(run: Run, folder: str) -> None:
    assert run("journal", "stat", folder).out == run("journalStat", folder).out
    assert run("journal", "tail", folder, "-l1", "--output", "name").out == "4\n"
    assert "use cat, tail, stat, verify" in run("journal", folder).err


def test_odd_records_are_left_out_and_counted(run: Run, folder: str) -> None:
    [open_segment] = Path(folder).glob("*.jsonl")
    with open_segment.open("ab") as file:
        file.write(b'{"v":1,"seq":5,"time":"now","server":"s","type":"KvPut","cause":"c"}\n')
    result = run("journalCat", folder, "--columns", "seq", "--no-headers")
    assert (result.code, result.out.split()) == (0, ["1", "2", "3", "4"])
    assert result.err.strip() == (
        f"nsadmin: skipped 1 unreadable record: run nsadmin journal verify {folder}"
    )
