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


def load_past_state(journal_folder: Path, moment_ms: int) -> PastState:
    """Replay the last snapshot before a moment and later events. Raises InvalidSegmentError and OSError."""
    return _replay_to_moment(reader.read_records(journal_folder, moment_ms), moment_ms)


def _replay_to_moment(journal_records: Iterable[JournalRecord], moment_ms: int) -> PastState:
    """Replay records that begin at or before the moment, if the journal goes back that far."""
    replayed_records: list[JournalRecord] = []
    next_record: JournalRecord | None = None
    was_ready = True
    for journal_record in journal_records:
        if journal_record.time_ms > moment_ms:
            next_record = journal_record
            break
        if journal_record.event_type == Snapshot.__name__:
            replayed_records = []
        if journal_record.event_type in (ServerStarted.__name__, ServerReady.__name__):
            was_ready = journal_record.event_type == ServerReady.__name__
        replayed_records.append(journal_record)
    known_record = replayed_records[-1] if replayed_records else next_record
    server_name = known_record.server_name if known_record else ""
    unknown_reason = _find_unknown_reason(replayed_records, next_record, moment_ms)
    if unknown_reason is not None:
        return PastState(server_name, moment_ms, None, unknown_reason=unknown_reason)
    journal_replay = JournalReplay()
    for journal_record in replayed_records:
        journal_replay.feed_record(journal_record)
    if not journal_replay.is_certain:
        return PastState(server_name, moment_ms, None, unknown_reason=_describe_loss(replayed_records))
    return PastState(server_name, moment_ms, journal_replay, was_ready)


def _find_unknown_reason(
    earlier_records: list[JournalRecord], next_record: JournalRecord | None, moment_ms: int
) -> str | None:
    """The reason why the tables are unknown, from the records around the moment; None if they are known."""
    if not earlier_records:
        return (
            f"the journal begins at {_format_utc(next_record.time_ms)}"
            if next_record
            else "the journal is empty"
        )
    last_record = earlier_records[-1]
    writer_text = f"the {last_record.origin.source or 'name server'}"
    if last_record.event_type in (ServerStopping.__name__, CollectorStopping.__name__):
        restart_text = f", and started again at {_format_utc(next_record.time_ms)}" if next_record else ""
        return f"{writer_text} stopped at {_format_utc(last_record.time_ms)}{restart_text}"
    if next_record is not None and _is_start_snapshot(next_record):
        return (
            f"{writer_text} ended abnormally after {_format_utc(last_record.time_ms)}, and started "
            f"again at {_format_utc(next_record.time_ms)}"
        )
    if next_record is None and moment_ms - last_record.time_ms >= MAX_SILENCE_MS:
        return f"the journal ends at {_format_utc(last_record.time_ms)}"
    return None


def _is_start_snapshot(journal_record: JournalRecord) -> bool:
    return (
        journal_record.event_type == Snapshot.__name__
        and journal_record.event_fields.get("reason") == "start"
    )


def _describe_loss(replayed_records: list[JournalRecord]) -> str:
    loss_record = next(
        (
            journal_record
            for journal_record in replayed_records
            if journal_record.event_type == EventsLost.__name__
        ),
        None,
    )
    if loss_record is not None:
        lost_count = loss_record.event_fields.get("lost")
        return (
            f"the journal lost {lost_count} events at {_format_utc(loss_record.time_ms)}; "
            f"no snapshot followed yet"
        )
    last_record = replayed_records[-1]
    if last_record.event_type == PollFailed.__name__:
        return (
            f"polls failed, the last one at {_format_utc(last_record.time_ms)}: "
            f"{last_record.event_fields.get('error')}"
        )
    if any(journal_record.event_type == CollectorStarted.__name__ for journal_record in replayed_records):
        return (
            f"the collector had just started, and no poll had succeeded until "
            f"{_format_utc(last_record.time_ms)}"
        )
    return (
        f"records are missing before {_format_utc(replayed_records[-1].time_ms)}, "
        f"and no snapshot followed yet"
    )


def _format_utc(time_ms: int) -> str:
    seconds, millisecond_part = divmod(time_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{millisecond_part:03d}Z"
