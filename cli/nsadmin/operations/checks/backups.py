"""Checks that the last backup is young, complete and not damaged."""

from pathlib import Path

from nsadmin.operations.backups.archive import InvalidBackupError, list_backup_files, load_backup
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale


def judge_last_backup(
    scale: CheckScale, backup_path: Path, now_ms: int, cluster_name: str | None = None
) -> CheckFinding:
    """Verify a backup, or the last one of a folder, and judge its age.

    A damaged backup is CRITICAL, and a folder without one as well. A file that cannot be read is UNKNOWN.
    """
    try:
        backup_files = list_backup_files(backup_path, cluster_name) if backup_path.is_dir() else [backup_path]
        if not backup_files:
            cluster_text = f" of {cluster_name}" if cluster_name else ""
            return CheckFinding(
                scale.check_name, CheckState.CRITICAL, f"{backup_path} contains no backup{cluster_text}"
            )
        loaded_backup = load_backup(backup_files[-1])
    except OSError as error:
        return scale.make_unknown_finding(f"cannot read {backup_path}: {error.strerror}")
    except InvalidBackupError as error:
        return CheckFinding(scale.check_name, CheckState.CRITICAL, str(error))
    backup = loaded_backup.backup
    age_seconds = max(0.0, (now_ms - backup.created_ms) / 1000)
    return scale.make_finding(
        f"the last backup of {backup.cluster_name} is {_describe_age(age_seconds)} old and not damaged",
        [
            scale.make_sample("age", round(age_seconds)),
            scale.make_sample("missing", len(backup.remarks)),
            scale.make_sample("size", loaded_backup.size_bytes),
            scale.make_sample("backups", len(backup_files)),
        ],
        backup.remarks,
        about=backup.cluster_name,
        minimum_state=CheckState.WARNING if backup.remarks else CheckState.OK,
    )


def _describe_age(age_seconds: float) -> str:
    if age_seconds < 120:
        return f"{age_seconds:.0f} s"
    return f"{age_seconds / 60:.0f} min" if age_seconds < 7200 else f"{age_seconds / 3600:.0f} h"
