"""check backup: age, completeness and damage."""

from pathlib import Path

from nsadmin.operations.backups.archive import name_backup_file, save_backup
from nsadmin.operations.checks import backup as checking
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import run_check
from tests.support.cluster_backups import BACKUP

HOUR_MS = 3_600_000
WHOLE = BACKUP._replace(remarks=[])


def found(path: Path, now_ms: int, cluster: str | None = None) -> CheckFinding:
    return run_check(
        checking.CHECK, "h:1", scope=CheckScope(backup_path=path, cluster_name=cluster), now_ms=now_ms
    )


def test_the_last_backup_of_a_folder_is_judged_by_its_age(tmp_path: Path) -> None:
    for backup in (WHOLE, WHOLE._replace(created_ms=WHOLE.created_ms + HOUR_MS)):
        save_backup(tmp_path / name_backup_file(backup), backup)
    now_ms = WHOLE.created_ms + HOUR_MS
    young = found(tmp_path, now_ms + 60_000)
    assert (young.state, young.summary) == (
        CheckState.OK,
        "the last backup of cluster-a is 60 s old and not damaged",
    )
    assert found(tmp_path, now_ms + 30 * HOUR_MS).state is CheckState.WARNING
    assert found(tmp_path, now_ms + 60 * HOUR_MS).state is CheckState.CRITICAL
    assert found(tmp_path, now_ms, "cluster-b").state is CheckState.CRITICAL


def test_an_incomplete_backup_is_a_warning_and_a_damaged_one_is_critical(tmp_path: Path) -> None:
    file = tmp_path / "a.nsbackup.zip"
    save_backup(file, BACKUP)
    incomplete = found(file, BACKUP.created_ms)
    assert (incomplete.state, incomplete.details) == (CheckState.WARNING, tuple(BACKUP.remarks))
    file.write_bytes(b"PK")
    assert found(file, BACKUP.created_ms).state is CheckState.CRITICAL


def test_a_missing_file_is_unknown(tmp_path: Path) -> None:
    finding = found(tmp_path / "missing", 0)
    assert (finding.state, "cannot read" in finding.summary) == (CheckState.UNKNOWN, True)
