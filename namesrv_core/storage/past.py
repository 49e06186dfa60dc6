"""The past: the tables that a name server had at a moment, from its journal, or why nobody knows them."""

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
from namesrv_core.history.records import Record
from namesrv_core.history.replay import Replay
from namesrv_core.storage import reading

PROOF_MILLIS = 120_000
"""A running server writes at least every minute; after two without a word it may be gone."""


class Past(NamedTuple):
    """A name server at a moment (ms). `tables` is None where they are not known; `why` then says so.

    `was_ready` is False where it answered no question about routes yet.
    """

    server: str
    moment: int
    tables: Replay | None
    was_ready: bool = True
    why: str | None = None


def at(folder: Path, moment: int) -> Past:
    """The tables at a moment: its last snapshot before, and the events behind it. BadSegment, OSError."""
    return _past(reading.records(folder, moment), moment)


def _past(records: Iterable[Record], moment: int) -> Past:
    """`records` begin at or before the moment wherever there are such."""
    kept: list[Record] = []
    following: Record | None = None
    was_ready = True
    for record in records:
        if record.time > moment:
            following = record
            break
        if record.type == Snapshot.__name__:
            kept = []
        if record.type in (ServerStarted.__name__, ServerReady.__name__):
            was_ready = record.type == ServerReady.__name__
        kept.append(record)
    some = kept[-1] if kept else following
    server = some.server if some else ""
    why = _unknown(kept, following, moment)
    if why is not None:
        return Past(server, moment, None, why=why)
    tables = Replay()
    for record in kept:
        tables.feed(record)
    if not tables.is_certain:
        return Past(server, moment, None, why=_loss(kept))
    return Past(server, moment, tables, was_ready)


def _unknown(before: list[Record], following: Record | None, moment: int) -> str | None:
    """Why nobody knows what the tables were, from what is written around the moment."""
    if not before:
        return f"the journal begins at {_utc(following.time)}" if following else "the journal is empty"
    last = before[-1]
    who = f"the {last.origin.source or 'name server'}"
    if last.type in (ServerStopping.__name__, CollectorStopping.__name__):
        again = f", and started again at {_utc(following.time)}" if following else ""
        return f"{who} stopped at {_utc(last.time)}{again}"
    if following is not None and _is_start(following):
        return (
            f"{who} ended without a word after {_utc(last.time)}, and started again at {_utc(following.time)}"
        )
    if following is None and moment - last.time >= PROOF_MILLIS:
        return f"the journal ends at {_utc(last.time)}"
    return None


def _is_start(record: Record) -> bool:
    return record.type == Snapshot.__name__ and record.fields.get("reason") == "start"


def _loss(records: list[Record]) -> str:
    lost = next((record for record in records if record.type == EventsLost.__name__), None)
    if lost is not None:
        count = lost.fields.get("lost")
        return f"the journal lost {count} events at {_utc(lost.time)}; no snapshot followed yet"
    last = records[-1]
    if last.type == PollFailed.__name__:
        return f"polls failed, at {_utc(last.time)} with: {last.fields.get('error')}"
    if any(record.type == CollectorStarted.__name__ for record in records):
        return f"the collector had just been started, and no poll had succeeded by {_utc(last.time)}"
    return f"records are missing before {_utc(records[-1].time)}, and no snapshot followed yet"


def _utc(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"
