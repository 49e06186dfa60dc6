"""Checks that name servers can write their journals, and that journal folders are current and undamaged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import (
    CollectorStopping,
    EventsLost,
    JournalResumed,
    PollFailed,
    ServerStopping,
)
from namesrv_core.history.records import Record
from namesrv_core.storage import reading, segments
from namesrv_core.storage.reading import Sieve
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding, State, worst
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.wording import to_the_second

DAY = 86_400_000
"""Losses of the last day (in ms) count."""
_STATUS = "journal"
_BAD = (EventsLost.__name__, JournalResumed.__name__)
_ENDS = (ServerStopping.__name__, CollectorStopping.__name__)


class Folder(NamedTuple):
    """The journal in a folder, with its last record.

    `lost_events` and `failures` (write failures) count from the time given to `inspect_folder`.
    `damage_lines` is None if the journal was not verified. `read_error` says why it cannot be read.
    """

    path: str
    last: Record | None
    lost: int = 0
    failed: int = 0
    problems: Sequence[str] | None = None
    error: str | None = None


class Seen(NamedTuple):
    """The journal status of each name server (None for no journal) and the journal folders, at `now_ms`."""

    now: int
    servers: Sequence[ServerResult[str | None]]
    folders: Sequence[Folder]


def of_servers(admin: AdminClient) -> list[ServerResult[str | None]]:
    """Return the status that each name server reports: "ok", or "failing" with a reason.

    Apache's name servers report none.
    """
    return [
        ServerResult(addr, None if config is None else config.get(_STATUS), error)
        for addr, config, error in admin.name_servers.config_each()
    ]


def of_folder(path: Path, since: int, thorough: bool) -> Folder:
    """Read a journal's records from `since_ms`. With `checks_damage`, verify the whole journal."""
    name = str(path)
    try:
        if not segments.segments(path):
            return Folder(name, None, error="there is no journal")
        last = next(iter(reading.last(path, 1)), None)
        bad = [
            record
            for record in reading.records(path, since, Sieve(_is_bad, types=_BAD))
            if record.time >= since
        ]
        found = list(reading.check(path)) if thorough else None
    except OSError as error:
        return Folder(name, None, error=f"{error.filename or path}: {error.strerror}")
    except RocketMQError as error:
        return Folder(name, None, error=str(error))
    return Folder(
        name,
        last,
        sum(_lost(record) for record in bad if record.type == EventsLost.__name__),
        sum(record.type == JournalResumed.__name__ for record in bad),
        None
        if found is None
        else [f"{one.segment.path.name}: {text}" for one in found for text in one.problems],
    )


def _is_bad(line: bytes) -> bool:
    """Tell from the bytes, without parsing, whether a line can be a record of a loss."""
    return any(name.encode() in line for name in _BAD)


def _lost(record: Record) -> int:
    number = record.fields.get("lost")
    return number if isinstance(number, int) else 0


def judge(scale: Scale, seen: Seen) -> Finding:
    """A failing or damaged journal is critical. Losses, and failing polls of a collector, are a warning."""
    statuses = {addr: status for addr, status, error in seen.servers if error is None and status is not None}
    failing = {addr: status for addr, status in statuses.items() if status != "ok"}
    damaged = [folder for folder in seen.folders if folder.problems or folder.error]
    ages = {folder.path: _age(folder.last, seen.now) for folder in seen.folders if folder.last is not None}
    lost = sum(folder.lost for folder in seen.folders)
    away = [
        f"name server {addr}: {error_text(error)}" for addr, _, error in seen.servers if error is not None
    ]
    if not statuses and not seen.folders:
        return scale.unknown("no journal was found", [*_without(seen), *away])
    samples = [scale.sample("age", max(ages.values()))] if ages else []
    samples += [scale.sample("quiet", age, path) for path, age in ages.items()]
    samples += [scale.sample("lost", lost), scale.sample("failing", len(failing) + len(damaged))]
    least = worst(
        [
            State.CRITICAL if failing or damaged else State.OK,
            State.WARNING if lost or any(map(_warns, seen.folders)) else State.OK,
            State.UNKNOWN if away else State.OK,
        ]
    )
    details = [f"name server {addr}: its journal is {status}" for addr, status in statuses.items()]
    details += [line for folder in seen.folders for line in _lines(folder, seen.now)]
    return scale.finding(
        _summary(statuses, failing, seen, damaged), samples, [*details, *_without(seen), *away], least=least
    )


def _age(last: Record, now: int) -> float:
    """Return the seconds since the last record."""
    return max(now - last.time, 0) / 1000


def _warns(folder: Folder) -> bool:
    return bool(folder.failed) or (folder.last is not None and folder.last.type == PollFailed.__name__)


def _without(seen: Seen) -> list[str]:
    return [
        f"name server {addr} keeps no journal of its own"
        for addr, status, error in seen.servers
        if error is None and status is None
    ]


def _lines(folder: Folder, now: int) -> list[str]:
    if folder.last is None:
        return [f"{folder.path}: {folder.error or 'it has no record'}"]
    lines = [f"{folder.path}: the last record is {_age(folder.last, now):.0f} s old, of {folder.last.server}"]
    if folder.last.type in _ENDS:
        who = folder.last.origin.source or "name server"
        lines.append(f"{folder.path}: the {who} stopped at {to_the_second(folder.last.time)}")
    if folder.last.type == PollFailed.__name__:
        lines.append(f"{folder.path}: polls fail: {folder.last.fields.get('error')}")
    if folder.lost:
        lines.append(f"{folder.path}: {folder.lost} events are lost")
    if folder.failed:
        lines.append(f"{folder.path}: it could not be written for a while, {folder.failed} times")
    return [*lines, *(f"{folder.path}: {problem}" for problem in folder.problems or ())]


def _summary(
    statuses: Mapping[str, str], failing: Mapping[str, str], seen: Seen, damaged: Sequence[Folder]
) -> str:
    parts = []
    if statuses:
        parts.append(
            f"{len(statuses) - len(failing)} of {len(statuses)} name servers can write their journal"
        )
    if seen.folders:
        whole = len(seen.folders) - len(damaged)
        looked = all(folder.problems is not None for folder in seen.folders)
        parts.append(
            f"{whole} of {len(seen.folders)} journals can be read{' and are whole' if looked else ''}"
        )
    return ", ".join(parts)
