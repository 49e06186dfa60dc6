"""Checks that name servers can write their journals, and that journal folders are current and undamaged."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import CollectorStopping, EventsLost, JournalResumed, PollFailed, ServerStopping
from namesrv_core.history.records import JournalRecord
from namesrv_core.storage.journal import reader, segments
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.client import AdminClient, ServerResult
from nsadmin.console.phrases import count_noun, format_utc_second
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckMeasure,
    CheckState,
    list_failures,
    worst_state,
)

_STATUS_KEY = "journal"
_NO_JOURNAL = "no name server that answered keeps a journal, and --journal names none"
_LOSS_TYPES = (EventsLost.__name__, JournalResumed.__name__)
_STOP_TYPES = (ServerStopping.__name__, CollectorStopping.__name__)


class InspectedFolder(NamedTuple):
    """The journal in a folder, with its last record.

    `lost_events` and `failures` (write failures) count from the time given to `inspect_folder`.
    `damage_lines` is None if the journal was not verified. `read_error` says why it cannot be read.
    """

    path: str
    last_record: JournalRecord | None
    lost_events: int = 0
    failures: int = 0
    damage_lines: Sequence[str] | None = None
    read_error: str | None = None


class JournalObservation(NamedTuple):
    """The journal status of each name server (None for no journal) and the journal folders, at `now_ms`."""

    now_ms: int
    server_statuses: Sequence[ServerResult[str | None]]
    folders: Sequence[InspectedFolder]


def observe(admin: AdminClient, scope: CheckScope) -> JournalObservation:
    now_ms = admin.clock_ms
    statuses = read_server_statuses(admin) if scope.asks_journal_status else []
    has_journal = scope.journal_folders or any(status is not None for _, status, _ in statuses)
    is_answered = any(error is None for _, _, error in statuses)
    scope.skip_if(not has_journal, _NO_JOURNAL if is_answered or not statuses else listed_brokers.NO_ANSWER)
    since_ms = scope.journal_since(now_ms)
    journals = dict.fromkeys(f for folder in scope.journal_folders for f in segments.find_journals(folder))
    folders = [inspect_folder(journal, since_ms, scope.verifies_records) for journal in journals]
    return JournalObservation(now_ms, statuses, folders)


def read_server_statuses(admin: AdminClient) -> list[ServerResult[str | None]]:
    """Return the status that each name server reports: "ok", or "failing" with a reason.

    Apache's name servers report none.
    """
    return [
        ServerResult(addr, None if config is None else config.get(_STATUS_KEY), error)
        for addr, config, error in admin.name_servers.get_config_each()
    ]


def inspect_folder(folder_path: Path, since_ms: int, checks_damage: bool) -> InspectedFolder:
    """Read a journal's records from `since_ms`. With `checks_damage`, verify the whole journal."""
    folder_name = str(folder_path)
    try:
        if not segments.list_segments(folder_path):
            return InspectedFolder(folder_name, None, read_error="there is no journal")
        last_record = next(iter(reader.read_last_records(folder_path, 1)), None)
        record_filter = RecordFilter(
            lambda line: any(name.encode() in line for name in _LOSS_TYPES), event_types=_LOSS_TYPES
        )
        records = reader.read_records(folder_path, since_ms, record_filter)
        losses = [record for record in records if record.time_ms >= since_ms]
        checked_segments = list(reader.check_journal(folder_path)) if checks_damage else None
    except OSError as error:
        is_other = error.filename not in (None, folder_name)
        problem = f"{error.filename}: {error.strerror}" if is_other else str(error.strerror)
        return InspectedFolder(folder_name, None, read_error=problem)
    except RocketMQError as error:
        return InspectedFolder(folder_name, None, read_error=str(error))
    lost_counts = [r.event_fields.get("lost") for r in losses if r.event_type == EventsLost.__name__]
    return InspectedFolder(
        folder_name,
        last_record,
        sum(lost for lost in lost_counts if isinstance(lost, int)),
        sum(record.event_type == JournalResumed.__name__ for record in losses),
        None
        if checked_segments is None
        else [
            f"{segment.journal_segment.file_path.name}: {problem}"
            for segment in checked_segments
            for problem in segment.problem_texts
        ],
    )


def judge(scale: CheckScale, seen: JournalObservation) -> CheckFinding:
    """A failing or damaged journal is critical. Losses, and failing polls of a collector, are a warning."""
    statuses = {
        addr: status for addr, status, error in seen.server_statuses if error is None and status is not None
    }
    failing = {addr: status for addr, status in statuses.items() if status != "ok"}
    damaged = [folder for folder in seen.folders if folder.damage_lines or folder.read_error]
    age_by_folder = {
        folder.path: _age_seconds(folder.last_record, seen.now_ms)
        for folder in seen.folders
        if folder.last_record is not None
    }
    lost_count = sum(folder.lost_events for folder in seen.folders)
    unknown_lines = [
        *(
            f"name server {addr} keeps no journal"
            for addr, status, error in seen.server_statuses
            if error is None and status is None
        ),
        *list_failures(seen.server_statuses, kind="name server"),
    ]
    if not statuses and not seen.folders:
        is_silent = seen.server_statuses and all(error for _, _, error in seen.server_statuses)
        return scale.make_unknown_finding(
            listed_brokers.NO_ANSWER if is_silent else _NO_JOURNAL, unknown_lines
        )
    figures: Figures = {
        **({"age": max(age_by_folder.values()), "quiet": age_by_folder} if age_by_folder else {}),
        "lost": lost_count,
        "failing": len(failing) + len(damaged),
    }
    has_failure = any(error is not None for _, _, error in seen.server_statuses)
    minimum_state = worst_state(
        [
            CheckState.CRITICAL if failing or damaged else CheckState.OK,
            CheckState.WARNING if lost_count or any(map(_has_warning, seen.folders)) else CheckState.OK,
            CheckState.UNKNOWN if has_failure else CheckState.OK,
        ]
    )
    details = [
        *(f"name server {addr}: its journal is {status}" for addr, status in statuses.items()),
        *(line for folder in seen.folders for line in _format_folder(folder, seen.now_ms)),
        *unknown_lines,
    ]
    summary = _format_summary(len(statuses), len(failing), seen.folders, len(damaged))
    return scale.make_finding(summary, figures, details, minimum_state=minimum_state)


def _age_seconds(last_record: JournalRecord, now_ms: int) -> float:
    """Return the seconds since the last record."""
    return max(now_ms - last_record.time_ms, 0) / 1000


def _has_warning(folder: InspectedFolder) -> bool:
    return bool(folder.failures) or (
        folder.last_record is not None and folder.last_record.event_type == PollFailed.__name__
    )


def _format_folder(folder: InspectedFolder, now_ms: int) -> list[str]:
    last = folder.last_record
    if last is None:
        return [f"{folder.path}: {folder.read_error or 'the journal is empty'}"]
    age_seconds = _age_seconds(last, now_ms)
    lines = [f"the last record is {age_seconds:.0f} s old, from {last.server_name}"]
    if last.event_type in _STOP_TYPES:
        writer = last.origin.source or "name server"
        lines.append(f"the {writer} stopped at {format_utc_second(last.time_ms)}")
    if last.event_type == PollFailed.__name__:
        lines.append(f"polls fail: {last.event_fields.get('error')}")
    if folder.lost_events:
        lines.append(f"lost {count_noun(folder.lost_events, 'event')}")
    if folder.failures:
        lines.append(f"writes failed {count_noun(folder.failures, 'time')}")
    return [f"{folder.path}: {line}" for line in (*lines, *(folder.damage_lines or ()))]


def _format_summary(
    status_count: int, failing_count: int, folders: Sequence[InspectedFolder], damaged_count: int
) -> str:
    parts = []
    if status_count:
        parts.append(f"{status_count - failing_count} of {status_count} name servers can write their journal")
    if folders:
        verified = all(folder.damage_lines is not None for folder in folders)
        parts.append(
            f"{len(folders) - damaged_count} of {len(folders)} journals can be "
            f"read{' and are undamaged' if verified else ''}"
        )
    return ", ".join(parts)


CHECK = Check(
    "journal",
    (
        CheckMeasure(
            "age",
            "age of the last record, in the journal with the oldest one",
            "s",
            warning="120",
            critical="600",
        ),
        CheckMeasure("quiet", "age of a journal's last record", "s", label_name="journal"),
        CheckMeasure("lost", "lost events in the checked part of the journals"),
        CheckMeasure("failing", "journals that cannot be written, or are damaged"),
    ),
    observe,
    judge,
    warning_when="no record for two minutes, lost events, or failing polls",
    critical_when="no record for ten minutes, failing, or damaged",
    remedy="nsadmin journal verify DIR",
)
