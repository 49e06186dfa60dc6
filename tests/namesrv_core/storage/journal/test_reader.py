"""A journal as others read it, while it is written and when something is wrong with it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from namesrv_core.events import AlikeTopics, Event, KvPut, Snapshot
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal.reader import (
    RecordFilter,
    RecordTypeCount,
    check_journal,
    count_records_by_type,
    follow_records,
    read_last_records,
    read_records,
    replay_to_end,
)
from namesrv_core.storage.journal.rolling_writer import JournalWriter
from namesrv_core.storage.journal.segments import compress_segment, list_segments

NOW = 1_763_733_780_000
HOUR = 3_600_000


class Pen:
    """Writes a journal; each record is a second after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = JournalWriter(folder)
        self.now = NOW

    def write(self, *events: Event) -> None:
        for event in events:
            self.journal.append_lines(
                encode_record_line(self.journal.next_seq, "s", RecordOrigin(self.now, "test"), event),
                1,
                self.now,
            )
            self.now += 1000

    def puts(self, count: int) -> None:
        self.write(*(KvPut("n", f"k{number}", None, "v") for number in range(count)))

    def snapshot(self, reason: str = "interval", **kv: str) -> None:
        self.write(Snapshot(reason, (), (), (), (), (), (), {"n": kv}, {}))

    def close_segment(self) -> None:
        self.journal.roll_segment()
        self.journal.tidy_segments(self.now)

    def problems(self) -> list[str]:
        return [problem for check in check_journal(self.folder) for problem in check.problem_texts]


@pytest.fixture
def pen(tmp_path: Path) -> Iterator[Pen]:
    new_pen = Pen(tmp_path)
    yield new_pen
    new_pen.journal.close()


def test_records_come_from_all_segments_in_their_order(pen: Pen) -> None:
    for _ in range(3):
        pen.puts(2)
        pen.close_segment()
    pen.puts(1)
    assert [record.seq for record in read_records(pen.folder)] == [1, 2, 3, 4, 5, 6, 7]


def test_segments_that_ended_before_are_not_read(pen: Pen) -> None:
    for _ in range(3):
        pen.puts(2)
        pen.close_segment()
        pen.now += HOUR
    first, second, _ = list_segments(pen.folder)
    assert [record.seq for record in read_records(pen.folder, second.started_at_ms - 1)] == [1, 2, 3, 4, 5, 6]
    first.file_path.chmod(0o644)
    first.file_path.write_bytes(b"nonsense")
    assert [record.seq for record in read_records(pen.folder, second.started_at_ms)] == [3, 4, 5, 6]


def test_the_tables_at_the_end_take_the_segments_from_the_last_snapshot_on(pen: Pen) -> None:
    pen.snapshot(old="1")
    pen.close_segment()
    pen.snapshot(k="v")
    pen.puts(1)
    pen.close_segment()
    pen.puts(2)
    list_segments(pen.folder)[0].file_path.chmod(0o644)
    list_segments(pen.folder)[0].file_path.write_bytes(b"nonsense")
    replay = replay_to_end(pen.folder)
    assert replay.is_certain
    assert replay.kv_tables == {"n": {"k": "v", "k0": "v", "k1": "v"}}


def test_without_a_snapshot_the_tables_at_the_end_are_not_known(pen: Pen) -> None:
    assert not replay_to_end(pen.folder).is_certain
    pen.puts(2)
    assert not replay_to_end(pen.folder).is_certain


def test_a_snapshot_that_replaces_what_events_cannot_tell_is_no_damage(pen: Pen) -> None:
    pen.snapshot("start")
    pen.snapshot("poll", k="v")
    assert pen.problems() == []
    pen.snapshot("interval")
    assert pen.problems() != []


def test_counts_are_by_type(pen: Pen) -> None:
    pen.puts(2)
    pen.close_segment()
    pen.snapshot()
    pen.puts(1)
    counts = count_records_by_type(pen.folder)
    assert list(counts) == ["KvPut", "Snapshot"]
    size = sum(len(encode_record_line(seq, "s", RecordOrigin(NOW, "test"), KvPut("n", f"k{key}", None,
    "v"))) for seq, key in
               ((1, 0), (2, 1), (4, 0)))  # fmt: skip
    assert counts["KvPut"] == RecordTypeCount(3, size, NOW, NOW + 3000)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_the_last_records_may_be_in_several_segments(pen: Pen, count: int) -> None:
    pen.puts(3)
    pen.close_segment()
    pen.puts(2)
    assert [r.seq for r in read_last_records(pen.folder, count)] == [1, 2, 3, 4, 5][max(5 - count, 0) :]


class Enough(Exception):
    pass


def followed(pen: Pen, after: int, *steps: object) -> list[int]:
    """What comes, while each pause takes the next step."""
    waiting = list(steps)

    def pause(seconds: float) -> None:
        if not waiting:
            raise Enough
        waiting.pop(0)()  # type: ignore[operator]

    records: list[int] = []
    with suppress(Enough):
        for batch in follow_records(pen.folder, after, pause):
            records += [record.seq for record in batch]
    return records


def test_what_comes_is_followed_over_the_ends_of_segments(pen: Pen) -> None:
    pen.puts(3)

    def end_and_go_on() -> None:
        pen.puts(1)
        pen.close_segment()
        pen.puts(2)

    assert followed(pen, 2, lambda: pen.puts(2), end_and_go_on, pen.close_segment, lambda: pen.puts(1)) == [
        3, 4, 5, 6, 7, 8, 9,
    ]  # fmt: skip


def test_half_a_record_is_waited_for(pen: Pen) -> None:
    pen.puts(1)
    (path,) = pen.folder.glob("*.jsonl")
    text = encode_record_line(2, "s", RecordOrigin(NOW, "test"), KvPut("n", "k", None, "v"))

    def append(part: bytes) -> None:
        with path.open("ab") as file:
            file.write(part)

    assert followed(pen, 0, lambda: append(text[:20]), lambda: append(text[20:])) == [1, 2]


def test_followers_go_on_where_segments_were_removed(pen: Pen) -> None:
    pen.puts(2)

    def remove() -> None:
        pen.puts(3)
        pen.close_segment()
        pen.puts(1)
        list_segments(pen.folder)[0].file_path.unlink()

    assert followed(pen, 0, remove) == [1, 2, 6]


def test_a_journal_that_is_whole_has_no_problems(pen: Pen) -> None:
    pen.snapshot("start")
    pen.puts(2)
    pen.snapshot("interval", k0="v", k1="v")
    pen.close_segment()
    pen.snapshot("start", other="since the restart")
    pen.puts(1)
    first, second = check_journal(pen.folder)
    assert (first.problem_texts, second.problem_texts) == ((), ())
    assert (first.record_count, first.first_seq, first.last_seq, first.first_time_ms, first.last_time_ms) == (
        4,
        1,
        4,
        NOW,
        NOW + 3000,
    )
    assert first.file_bytes < first.plain_bytes
    assert (second.file_bytes, second.torn_bytes) == (second.plain_bytes, 0)


def test_a_hole_is_a_problem_also_between_segments(pen: Pen) -> None:
    pen.puts(2)
    pen.close_segment()
    pen.puts(1)
    pen.close_segment()
    pen.puts(1)
    list_segments(pen.folder)[1].file_path.unlink()
    assert pen.problems() == ["record 2 is followed by 4"]


def test_a_snapshot_that_the_events_do_not_explain_is_a_problem(pen: Pen) -> None:
    pen.snapshot("start")
    pen.puts(1)
    pen.snapshot("interval", k0="another")
    pen.puts(1)
    pen.snapshot("interval", k0="v")
    assert pen.problems() == ["snapshot 3 contradicts the events before it: kv"]


def test_lines_that_are_no_records_are_problems_and_only_five_are_told(pen: Pen) -> None:
    pen.puts(1)
    (path,) = pen.folder.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"{}\n" * 9)
    assert pen.problems() == [
        *(f"line {number}: not a journal record: seq is missing" for number in range(2, 7)),
        "and 4 more",
    ]


def test_a_torn_end_is_no_problem_in_the_open_segment(pen: Pen) -> None:
    pen.puts(1)
    (path,) = pen.folder.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b'{"v":1,"s')
    (problem,) = check_journal(pen.folder)
    assert (problem.torn_bytes, problem.problem_texts, problem.record_count) == (9, (), 1)


def test_a_closed_segment_that_was_cut_is_a_problem(pen: Pen) -> None:
    pen.puts(2000)
    pen.journal.roll_segment()
    (open_one,) = list_segments(pen.folder)
    closed = compress_segment(open_one.file_path)
    pen.puts(1)
    closed.chmod(0o644)
    closed.write_bytes(closed.read_bytes()[:-500])
    assert any("is followed by 2001" in problem for problem in pen.problems())


ODD_LINES = (
    b'{"v":1,"seq":%d,"time":"now","server":"s","type":"KvPut","cause":"c"}\n',
    b'{"v":1,"seq":%d,"time":5,"server":"s","type":"TopicsChanged","cause":"c","changes":[{}]}\n',
    b'{"v":1,"seq":%d,"time":5,"server":"s","type":"Snapshot","cause":"c"}\n',
    b'{"v":1,"seq":%d,"a":' + b"[" * 100_000 + b"\n",
)


@pytest.mark.parametrize("is_closed", [False, True])
def test_odd_records_are_skipped_reported_and_damage(pen: Pen, is_closed: bool) -> None:
    pen.snapshot()
    for odd_line in ODD_LINES:
        pen.journal.append_lines(odd_line.replace(b"%d", b"%d" % pen.journal.next_seq), 1, pen.now)
    pen.puts(1)
    if is_closed:
        pen.close_segment()
    reported: list[str] = []
    records = read_records(pen.folder, 0, RecordFilter(report_unreadable=lambda e: reported.append(str(e))))
    assert [record.seq for record in records] == [1, 6]
    assert len(reported) == len(ODD_LINES)
    assert [problem.partition(":")[0] for problem in pen.problems()][:4] == [f"line {n}" for n in range(2, 6)]
    assert [record.seq for record in read_last_records(pen.folder, 9)] == [1, 6]
    assert not replay_to_end(pen.folder).is_certain
    assert count_records_by_type(pen.folder).keys() == {"Snapshot", "KvPut"}


def test_tables_are_uncertain_after_a_snapshot_that_names_a_place_it_does_not_have(pen: Pen) -> None:
    pen.snapshot()
    pen.write(Snapshot("interval", (), (), (), (), (AlikeTopics(("T",), (3,)),), (), {}, {}))
    assert not replay_to_end(pen.folder).is_certain
    assert "Snapshot 2: tuple index out of range" in pen.problems()[0]
