"""The tables of a name server at a past moment, rebuilt from its journal, or why they are unknown."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from namesrv_core.events import (
    CollectorStarted,
    CollectorStopping,
    EventsLost,
    PollFailed,
    ServerReady,
    ServerStarted,
    ServerStopping,
    Snapshot,
)
from namesrv_core.history.records import JournalRecord
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import reader

MAX_SILENCE_MS = 120_000
"""A running server writes at least every minute. After two minutes of silence it may have ended."""


class PastState(NamedTuple):
    """A name server at a moment. If its tables are unknown, `journal_replay` is None.

    `unknown_reason` says why they are unknown. `was_ready` is False before the server answers route lookups.
    """

    server_name: str
    moment_ms: int
    journal_replay: JournalReplay | None
    was_ready: bool = True
    unknown_reason: str | None = None


def load_past_state(folder: Path, moment_ms: int) -> PastState:
    """Replay the last snapshot before a moment and later events. Raises InvalidSegmentError and OSError."""
    return _replay_to_moment(reader.read_records(folder, moment_ms), moment_ms)


def _replay_to_moment(records: Iterable[JournalRecord], moment_ms: int) -> PastState:
    """Replay records that begin at or before the moment, if the journal goes back that far."""
    replayed_records: list[JournalRecord] = []
    following: JournalRecord | None = None
    was_ready = True
    for record in records:
        if record.time_ms > moment_ms:
            following = record
            break
        if record.event_type == Snapshot.__name__:
            replayed_records = []
        if record.event_type in (ServerStarted.__name__, ServerReady.__name__):
            was_ready = record.event_type == ServerReady.__name__
        replayed_records.append(record)
    known = replayed_records[-1] if replayed_records else following
    name = known.server_name if known else ""
    reason = _find_unknown_reason(replayed_records, following, moment_ms)
    if reason is not None:
        return PastState(name, moment_ms, None, unknown_reason=reason)
    replay = JournalReplay()
    for record in replayed_records:
        replay.feed_record(record)
    if not replay.is_certain:
        return PastState(name, moment_ms, None, unknown_reason=_describe_loss(replayed_records))
    return PastState(name, moment_ms, replay, was_ready)


def _find_unknown_reason(
    earlier: list[JournalRecord], following: JournalRecord | None, moment_ms: int
) -> str | None:
    """The reason why the tables are unknown, from the records around the moment; None if they are known."""
    if not earlier:
        return (
            f"the journal begins at {_format_utc(following.time_ms)}" if following else "the journal is empty"
        )
    last = earlier[-1]
    writer = f"the {last.origin.source or 'name server'}"
    if last.event_type in (ServerStopping.__name__, CollectorStopping.__name__):
        restart = f", and started again at {_format_utc(following.time_ms)}" if following else ""
        return f"{writer} stopped at {_format_utc(last.time_ms)}{restart}"
    if following is not None and _is_start_snapshot(following):
        return (
            f"{writer} ended abnormally after {_format_utc(last.time_ms)}, and started "
            f"again at {_format_utc(following.time_ms)}"
        )
    if following is None and moment_ms - last.time_ms >= MAX_SILENCE_MS:
        return f"the journal ends at {_format_utc(last.time_ms)}"
    return None


def _is_start_snapshot(record: JournalRecord) -> bool:
    return record.event_type == Snapshot.__name__ and record.event_fields.get("reason") == "start"


def _describe_loss(records: list[JournalRecord]) -> str:
    record = next((record for record in records if record.event_type == EventsLost.__name__), None)
    if record is not None:
        lost = record.event_fields.get("lost")
        events = "1 event" if lost == 1 else f"{lost} events"
        return f"the journal lost {events} at {_format_utc(record.time_ms)}; no snapshot followed yet"
    last = records[-1]
    if last.event_type == PollFailed.__name__:
        return f"polls failed, the last one at {_format_utc(last.time_ms)}: {last.event_fields.get('error')}"
    if any(record.event_type == CollectorStarted.__name__ for record in records):
        return f"the collector had just started, and no poll had succeeded until {_format_utc(last.time_ms)}"
    return f"records are missing before {_format_utc(records[-1].time_ms)}, and no snapshot followed yet"


def _format_utc(time_ms: int) -> str:
    seconds, millisecond_part = divmod(time_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{millisecond_part:03d}Z"
