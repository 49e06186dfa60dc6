"""check backup."""

import json
from pathlib import Path

from nsadmin.operations.backups.archive import save_backup
from tests.nsadmin.conftest import Run
from tests.support.cluster_backups import BACKUP


def test_an_old_backup_is_critical_and_its_age_can_be_accepted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.nsbackup.zip"
    save_backup(file, BACKUP._replace(remarks=[]))
    result = run("check", "backup", str(tmp_path), "--json")
    finding = json.loads(result.out)
    assert (result.code, finding["state"], finding["about"]) == (2, "CRITICAL", "cluster-a")
    assert run("check", "backup", str(file), "--warning", "~:", "--critical", "~:").code == 0
    assert run("check", "backup", str(tmp_path), "--clusterName", "other").code == 2
