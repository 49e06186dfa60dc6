"""The tables of a moment, and every reason for which they are not known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import (
    CollectorStarted,
    CollectorStopping,
    EventsLost,
    Heartbeats,
    KvPut,
    PollFailed,
    PollRecovered,
    ServerReady,
    ServerStarted,
    ServerStopping,
    Snapshot,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal.past_state import MAX_SILENCE_MS, PastState, load_past_state
from namesrv_core.storage.journal.rolling_writer import JournalWriter
from tests.support import journals
from tests.support.journals import NOW

ALIVE = Heartbeats(0, None, None)


class Pen(journals.JournalPen):
    def at(self, seconds: float) -> PastState:
        return load_past_state(self.folder, NOW + round(seconds * 1000))


def snapshot(reason: str, **kv: str) -> Snapshot:
    return journals.make_snapshot(reason, kv={"n": kv})


@pytest.fixture
def pen(tmp_path: Path) -> Iterator[Pen]:
    new_pen = Pen(tmp_path)
    yield new_pen
    new_pen.journal.close()


def kv_of(past: PastState) -> Any:
    assert past.journal_replay is not None, past.unknown_reason
    assert past.unknown_reason is None
    return past.journal_replay.kv_tables


def test_tables_are_those_of_the_last_event_before_in_open_and_closed_segments(pen: Pen) -> None:
    pen.write_events(snapshot("start"), KvPut("n", "k", None, "1"), KvPut("n", "k", "1", "2"))
    pen.close_segment()
    pen.write_events(snapshot("roll", k="2"), KvPut("n", "k", "2", "3"))
    kv_values = [kv_of(pen.at(seconds)) for seconds in (0, 0.999, 1, 2.5, 3, 3.9, 4, 60)]
    values = [table["n"].get("k") for table in kv_values]
    assert values == [None, None, "1", "2", "2", "2", "3", "3"]
    assert pen.at(1).server_name == "s:9876"


def test_before_the_journal_and_after_its_end_nobody_knows(pen: Pen) -> None:
    pen.write_events(snapshot("start"), ALIVE)
    assert pen.at(-0.001) == PastState(
        "s:9876", NOW - 1, None, unknown_reason="the journal begins at 2025-11-21T14:03:00.000Z"
    )
    assert pen.at(1 + MAX_SILENCE_MS / 1000 - 0.001).unknown_reason is None
    late = pen.at(1 + MAX_SILENCE_MS / 1000)
    assert (late.journal_replay, late.unknown_reason) == (
        None,
        "the journal ends at 2025-11-21T14:03:01.000Z",
    )


def test_between_stop_and_start_nobody_knows(pen: Pen) -> None:
    pen.write_events(snapshot("start"), ServerStopping("SIGTERM"))
    assert pen.at(1.5).unknown_reason == "the name server stopped at 2025-11-21T14:03:01.000Z"
    pen.now += 5000
    pen.write_events(snapshot("start", k="v"))
    why = "the name server stopped at 2025-11-21T14:03:01.000Z, and started again at 2025-11-21T14:03:07.000Z"
    assert [pen.at(seconds).unknown_reason for seconds in (0.9, 1, 6.9, 7)] == [None, why, why, None]
    assert kv_of(pen.at(7)) == {"n": {"k": "v"}}


def test_after_the_last_word_of_a_server_that_was_killed_nobody_knows(pen: Pen) -> None:
    pen.write_events(snapshot("start"), ALIVE)
    pen.close_segment()
    pen.now += 5000
    pen.write_events(snapshot("start"))
    why = (
        "the name server ended abnormally after 2025-11-21T14:03:01.000Z, "
        "and started again at 2025-11-21T14:03:07.000Z"
    )
    assert [pen.at(seconds).unknown_reason for seconds in (0.999, 1, 6.999, 7)] == [None, why, why, None]


def test_after_a_loss_nobody_knows_until_the_next_snapshot(pen: Pen) -> None:
    pen.write_events(snapshot("start"), EventsLost(7), KvPut("n", "k", None, "v"), snapshot("loss", k="v"))
    why = "the journal lost 7 events at 2025-11-21T14:03:01.000Z; no snapshot followed yet"
    assert [pen.at(seconds).unknown_reason for seconds in (0, 1, 2, 3)] == [None, why, why, None]


def test_behind_a_hole_nobody_knows_until_the_next_snapshot(pen: Pen) -> None:
    pen.write_events(snapshot("start"), ALIVE, ALIVE, snapshot("interval"))
    (path,) = pen.folder.glob("*.jsonl")
    first, _, third, fourth = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"damaged\n" + third + fourth)
    why = "records are missing before 2025-11-21T14:03:02.000Z, and no snapshot followed yet"
    assert [pen.at(seconds).unknown_reason for seconds in (0, 2, 3)] == [None, why, None]


def test_a_server_that_waits_for_brokers_is_not_ready_until_it_says_so(pen: Pen) -> None:
    pen.write_events(
        snapshot("start"), ServerStarted("1", 2), KvPut("n", "k", None, "v"), ServerReady("s:1"), ALIVE
    )
    assert [pen.at(seconds).was_ready for seconds in (1, 2, 3, 4)] == [False, False, True, True]


def test_while_a_collector_sees_nothing_nobody_knows(pen: Pen) -> None:
    pen.write_events(
        CollectorStarted("1", 1, 15_000), snapshot("poll"), PollFailed("no answer", 1), PollRecovered(1, 1000)
    )
    pen.write_events(CollectorStopping("SIGTERM"))
    whys = [pen.at(seconds).unknown_reason for seconds in range(5)]
    assert whys == [
        "the collector had just started, and no poll had succeeded until 2025-11-21T14:03:00.000Z",
        None,
        "polls failed, the last one at 2025-11-21T14:03:02.000Z: no answer",
        None,
        "the name server stopped at 2025-11-21T14:03:04.000Z",
    ]


def test_a_collector_is_called_so(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path)
    origin = RecordOrigin(NOW + 1000, "collector", None, "collector")
    journal.append_lines(encode_record_line(1, "s:9876", origin, CollectorStopping("SIGTERM")), 1, NOW)
    journal.close()
    assert (
        load_past_state(tmp_path, NOW + 2000).unknown_reason
        == "the collector stopped at 2025-11-21T14:03:01.000Z"
    )
