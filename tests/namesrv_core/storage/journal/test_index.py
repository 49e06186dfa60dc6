"""The index beside a closed segment: it leads to all lines that concern a subject, and does without."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.events import QueueData, TopicChange, TopicsChanged, group_topic_changes
from namesrv_core.history.subject_filter import JournalSubject, SubjectFilter, SubjectKind
from namesrv_core.storage.journal import index, segments
from namesrv_core.storage.journal.reader import RecordFilter, read_records
from namesrv_core.storage.journal.segments import JournalSegment
from tests.namesrv_core.history.test_subject_filter import EVENTS
from tests.support.journals import JournalPen

SUBJECTS: tuple[tuple[SubjectKind, str], ...] = (
    ("topic", "T"), ("topic", "U"), ("topic", "\u4e3b\u9898"), ("topic", "S"), ("topic", "none"),
    ("broker", "a"), ("broker", "b"), ("cluster", "c"), ("cluster", "d"), ("kv", "n"),
)  # fmt: skip


@pytest.fixture
def pen(tmp_path: Path) -> Iterator[JournalPen]:
    """A journal with a closed segment that has its index, and an open one."""
    new_pen = JournalPen(tmp_path)
    new_pen.write_events(*EVENTS)
    new_pen.close_segment()
    new_pen.write_events(*EVENTS)
    yield new_pen
    new_pen.journal.close()


def closed(pen: JournalPen) -> JournalSegment:
    return segments.list_segments(pen.folder)[0]


def told(pen: JournalPen, kind: SubjectKind, name: str, indexed: bool = True) -> list[int]:
    concerning = SubjectFilter(JournalSubject(kind, name))
    records = read_records(
        pen.folder, 0, RecordFilter(concerning.can_match_line, concerning.search_terms if indexed else None)
    )
    return [record.seq for record in records if concerning.matching_fields(record) is not None]


@pytest.mark.parametrize(("kind", "name"), SUBJECTS)
def test_with_it_the_same_is_told_as_without(pen: JournalPen, kind: SubjectKind, name: str) -> None:
    assert index.index_path(closed(pen).file_path).exists()
    assert told(pen, kind, name) == told(pen, kind, name, indexed=False) != []


def test_it_leads_to_the_lines_and_to_no_others(pen: JournalPen) -> None:
    def kinds(*terms: str, types: list[str] | None = None) -> list[bytes]:
        places = index.find_lines(closed(pen).file_path, terms or None, types)
        assert places is not None
        texts = segments.read_lines_at(closed(pen), *places)
        return [text.split(b'"type":"')[1].split(b'"')[0] for text in texts]

    assert kinds("topic U") == [b"TopicsChanged", b"WritePermWiped"]
    assert kinds("topic U", types=["WritePermWiped", "KvPut"]) == [b"WritePermWiped"]
    assert kinds(types=["WritePermWiped"]) == [b"WritePermWiped"]
    assert kinds("topic none") == []


def test_types_alone_lead_to_their_lines_as_well(pen: JournalPen) -> None:
    def seqs(sieve: RecordFilter) -> list[int]:
        return [record.seq for record in read_records(pen.folder, 0, sieve) if record.event_type == "KvPut"]

    assert seqs(RecordFilter(event_types=["KvPut"])) == seqs(RecordFilter()) != []


def test_a_segment_in_which_nothing_concerns_is_not_decompressed(pen: JournalPen) -> None:
    path = closed(pen).file_path
    path.chmod(0o644)
    path.write_bytes(b"nonsense")
    assert list(read_records(pen.folder, 0, RecordFilter(lambda _: False, ["topic none"]))) == []
    with pytest.raises(segments.InvalidSegmentError):
        list(read_records(pen.folder, 0, RecordFilter(None, ["topic T"])))


@pytest.mark.parametrize("length", [0, 7, 8, 15, 16, 40, -1])
def test_one_that_is_damaged_is_none(pen: JournalPen, length: int) -> None:
    path = index.index_path(closed(pen).file_path)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:length] if length >= 0 else b"X" * 100)
    assert index.find_lines(closed(pen).file_path, ["topic T", "any"]) is None
    assert told(pen, "topic", "T") == told(pen, "topic", "T", indexed=False)


def test_topics_that_stand_in_the_same_lines_share_a_list(tmp_path: Path) -> None:
    queue = QueueData("a", 8, 8, 6)
    names = [f"topic-{number}" for number in range(1000)]
    pen = JournalPen(tmp_path)
    pen.write_events(
        *(
            TopicsChanged(
                "a", "registration", group_topic_changes(TopicChange(n, None, queue) for n in names)
            ),
        )
        * 50
    )
    pen.close_segment()
    pen.journal.close()
    (segment,) = segments.list_segments(tmp_path)
    data = index.index_path(segment.file_path).read_bytes()
    assert struct.unpack_from("<8sIIII", data) == (b"NSINDEX2", len(data), 1, 1002, 1)
    assert len(data) < 1002 * 12 + 500
    for name in names[::100]:
        places = index.find_lines(segment.file_path, [f"topic {name}"])
        assert places is not None
        assert len(list(segments.read_lines_at(segment, *places))) == 50


def test_lines_that_nobody_understands_are_in_no_index(tmp_path: Path) -> None:
    pen = JournalPen(tmp_path)
    pen.write_events(*EVENTS)
    pen.journal.close()
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(b"nonsense\n" + b'{"v":1,"seq":1}\n' + path.read_bytes())
    segments.compress_segment(path)
    (segment,) = segments.list_segments(tmp_path)
    index.build_index(segment)
    assert told(pen, "topic", "U") == [3, 4, 13]


def test_what_cannot_be_written_leaves_nothing(pen: JournalPen, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    index.index_path(closed(pen).file_path).unlink()
    before = sorted(pen.folder.iterdir())
    with pytest.raises(OSError, match="No space"):
        index.build_index(closed(pen))
    assert sorted(pen.folder.iterdir()) == before
