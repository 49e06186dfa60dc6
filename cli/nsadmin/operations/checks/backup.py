"""Checks that the last backup is young, complete and not damaged."""

from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.operations.backups.archive import (
    InvalidBackupError,
    LoadedBackup,
    list_backup_files,
    load_backup,
)
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState


class BackupObservation(NamedTuple):
    """The last of `file_count` backups at `now_ms`. `problem` says why it is missing or damaged."""

    now_ms: int
    loaded: LoadedBackup | None
    file_count: int = 1
    problem: str = ""
    problem_state: CheckState = CheckState.CRITICAL


def observe(admin: AdminClient, scope: CheckScope) -> BackupObservation:
    """Verify the backup. It is CRITICAL if it is damaged or missing, and UNKNOWN if it cannot be read."""
    assert scope.backup_path is not None
    path, now_ms = scope.backup_path, admin.clock_ms
    try:
        files = list_backup_files(path, scope.cluster_name) if path.is_dir() else [path]
        if not files:
            cluster_text = f" of {scope.cluster_name}" if scope.cluster_name else ""
            return BackupObservation(now_ms, None, 0, f"{path} contains no backup{cluster_text}")
        return BackupObservation(now_ms, load_backup(files[-1]), len(files))
    except OSError as error:
        problem = f"cannot read {path}: {error.strerror}"
        return BackupObservation(now_ms, None, 0, problem, CheckState.UNKNOWN)
    except InvalidBackupError as error:
        return BackupObservation(now_ms, None, 0, str(error))


def judge(scale: CheckScale, seen: BackupObservation) -> CheckFinding:
    if seen.loaded is None:
        return CheckFinding(scale.check_name, seen.problem_state, seen.problem)
    backup = seen.loaded.backup
    age_seconds = max(0.0, (seen.now_ms - backup.created_ms) / 1000)
    return scale.make_finding(
        f"the last backup of {backup.cluster_name} is {_describe_age(age_seconds)} old and not damaged",
        {
            "age": round(age_seconds),
            "missing": len(backup.remarks),
            "size": seen.loaded.size_bytes,
            "backups": seen.file_count,
        },
        backup.remarks,
        about=backup.cluster_name,
        minimum_state=CheckState.WARNING if backup.remarks else CheckState.OK,
    )


def _describe_age(age_seconds: float) -> str:
    if age_seconds < 120:
        return f"{age_seconds:.0f} s"
    return f"{age_seconds / 60:.0f} min" if age_seconds < 7200 else f"{age_seconds / 3600:.0f} h"


CHECK = Check(
    "backup",
    (
        CheckMeasure("age", "age of the last backup", "s", warning="93600", critical="180000"),
        CheckMeasure("missing", "servers and sections that the last backup lacks"),
        CheckMeasure("size", "size of the last backup", "B"),
        CheckMeasure("backups", "backups in the folder"),
    ),
    observe,
    judge,
    warning_when="the last backup is older than 26 hours, or lacks a server",
    critical_when="older than 50 hours, damaged, or missing",
    remedy="nsadmin backup create CLUSTER --dir DIR",
)
