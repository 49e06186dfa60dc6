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
from namesrv_core.history.records import JournalRecord
from namesrv_core.storage.journal import reader, segments
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text
from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.checks.findings import CheckFinding, CheckState, worst_state
from nsadmin.operations.checks.thresholds import CheckScale

DAY_MS = 86_400_000
"""Losses of the last day (in ms) count."""
_STATUS_KEY = "journal"
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


def read_server_statuses(admin: AdminClient) -> list[ServerResult[str | None]]:
    """Return the status that each name server reports: "ok", or "failing" with a reason.

    Apache's name servers report none.
    """
    return [
        ServerResult(namesrv_addr, None if namesrv_config is None else namesrv_config.get(_STATUS_KEY), error)
        for namesrv_addr, namesrv_config, error in admin.name_servers.get_config_each()
    ]


def inspect_folder(folder_path: Path, since_ms: int, checks_damage: bool) -> InspectedFolder:
    """Read a journal's records from `since_ms`. With `checks_damage`, verify the whole journal."""
    folder_name = str(folder_path)
    try:
        if not segments.list_segments(folder_path):
            return InspectedFolder(folder_name, None, read_error="there is no journal")
        last_record = next(iter(reader.read_last_records(folder_path, 1)), None)
        loss_records = [
            journal_record
            for journal_record in reader.read_records(
                folder_path, since_ms, RecordFilter(_can_be_loss, event_types=_LOSS_TYPES)
            )
            if journal_record.time_ms >= since_ms
        ]
        checked_segments = list(reader.check_journal(folder_path)) if checks_damage else None
    except OSError as error:
        return InspectedFolder(
            folder_name, None, read_error=f"{error.filename or folder_path}: {error.strerror}"
        )
    except RocketMQError as error:
        return InspectedFolder(folder_name, None, read_error=str(error))
    return InspectedFolder(
        folder_name,
        last_record,
        sum(
            _count_lost(journal_record)
            for journal_record in loss_records
            if journal_record.event_type == EventsLost.__name__
        ),
        sum(journal_record.event_type == JournalResumed.__name__ for journal_record in loss_records),
        None
        if checked_segments is None
        else [
            f"{checked_segment.journal_segment.file_path.name}: {problem_text}"
            for checked_segment in checked_segments
            for problem_text in checked_segment.problem_texts
        ],
    )


def _can_be_loss(journal_line: bytes) -> bool:
    """Return whether a line can be a record of a loss. Looks at the bytes only, without parsing."""
    return any(type_name.encode() in journal_line for type_name in _LOSS_TYPES)


def _count_lost(journal_record: JournalRecord) -> int:
    lost_count = journal_record.event_fields.get("lost")
    return lost_count if isinstance(lost_count, int) else 0


def judge_journals(scale: CheckScale, observation: JournalObservation) -> CheckFinding:
    """A failing or damaged journal is critical. Losses, and failing polls of a collector, are a warning."""
    statuses = {
        namesrv_addr: journal_status
        for namesrv_addr, journal_status, error in observation.server_statuses
        if error is None and journal_status is not None
    }
    failure_texts = {
        namesrv_addr: journal_status
        for namesrv_addr, journal_status in statuses.items()
        if journal_status != "ok"
    }
    damaged_folders = [folder for folder in observation.folders if folder.damage_lines or folder.read_error]
    age_by_folder = {
        folder.path: _age_seconds(folder.last_record, observation.now_ms)
        for folder in observation.folders
        if folder.last_record is not None
    }
    lost_count = sum(folder.lost_events for folder in observation.folders)
    failure_lines = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in observation.server_statuses
        if error is not None
    ]
    if not statuses and not observation.folders:
        return scale.make_unknown_finding(
            "no journal was found", [*_format_missing_journals(observation), *failure_lines]
        )
    samples = [scale.make_sample("age", max(age_by_folder.values()))] if age_by_folder else []
    samples += [
        scale.make_sample("quiet", age_seconds, folder_path)
        for folder_path, age_seconds in age_by_folder.items()
    ]
    samples += [
        scale.make_sample("lost", lost_count),
        scale.make_sample("failing", len(failure_texts) + len(damaged_folders)),
    ]
    minimum_state = worst_state(
        [
            CheckState.CRITICAL if failure_texts or damaged_folders else CheckState.OK,
            CheckState.WARNING
            if lost_count or any(map(_has_warning, observation.folders))
            else CheckState.OK,
            CheckState.UNKNOWN if failure_lines else CheckState.OK,
        ]
    )
    detail_lines = [
        f"name server {namesrv_addr}: its journal is {journal_status}"
        for namesrv_addr, journal_status in statuses.items()
    ]
    detail_lines += [
        detail_line
        for folder in observation.folders
        for detail_line in _format_folder(folder, observation.now_ms)
    ]
    return scale.make_finding(
        _format_summary(statuses, failure_texts, observation, damaged_folders),
        samples,
        [*detail_lines, *_format_missing_journals(observation), *failure_lines],
        minimum_state=minimum_state,
    )


def _age_seconds(last_record: JournalRecord, now_ms: int) -> float:
    """Return the seconds since the last record."""
    return max(now_ms - last_record.time_ms, 0) / 1000


def _has_warning(folder: InspectedFolder) -> bool:
    return bool(folder.failures) or (
        folder.last_record is not None and folder.last_record.event_type == PollFailed.__name__
    )


def _format_missing_journals(observation: JournalObservation) -> list[str]:
    return [
        f"name server {namesrv_addr} keeps no journal"
        for namesrv_addr, journal_status, error in observation.server_statuses
        if error is None and journal_status is None
    ]


def _format_folder(folder: InspectedFolder, now_ms: int) -> list[str]:
    if folder.last_record is None:
        return [f"{folder.path}: {folder.read_error or 'the journal is empty'}"]
    detail_lines = [
        f"{folder.path}: the last record is {_age_seconds(folder.last_record, now_ms):.0f} s old, from "
        f"{folder.last_record.server_name}"
    ]
    if folder.last_record.event_type in _STOP_TYPES:
        writer = folder.last_record.origin.source or "name server"
        detail_lines.append(
            f"{folder.path}: the {writer} stopped at {format_utc_second(folder.last_record.time_ms)}"
        )
    if folder.last_record.event_type == PollFailed.__name__:
        detail_lines.append(f"{folder.path}: polls fail: {folder.last_record.event_fields.get('error')}")
    if folder.lost_events:
        detail_lines.append(f"{folder.path}: {folder.lost_events} events were lost")
    if folder.failures:
        detail_lines.append(f"{folder.path}: writes failed {folder.failures} times")
    return [*detail_lines, *(f"{folder.path}: {damage_line}" for damage_line in folder.damage_lines or ())]


def _format_summary(
    statuses: Mapping[str, str],
    failure_texts: Mapping[str, str],
    observation: JournalObservation,
    damaged_folders: Sequence[InspectedFolder],
) -> str:
    summary_parts = []
    if statuses:
        summary_parts.append(
            f"{len(statuses) - len(failure_texts)} of {len(statuses)} name servers can write their journal"
        )
    if observation.folders:
        intact_count = len(observation.folders) - len(damaged_folders)
        checked = all(folder.damage_lines is not None for folder in observation.folders)
        summary_parts.append(
            f"{intact_count} of {len(observation.folders)} journals can be "
            f"read{' and are undamaged' if checked else ''}"
        )
    return ", ".join(summary_parts)
