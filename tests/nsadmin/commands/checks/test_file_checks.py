"""The commands of checks that read files of this machine."""

import json
from pathlib import Path

from nsadmin.operations.backups.archive import save_backup
from tests.nsadmin.commands.checks.conftest import found
from tests.nsadmin.conftest import Run
from tests.support.cluster_backups import BACKUP
from tests.support.fake_servers import FakeNameServer
from tests.support.journals import make_snapshot as empty
from tests.support.journals import write_journal


def test_journals_of_name_servers_of_the_context_or_as_named(
    run: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    assert found(run, "journal", "-n", first_server.addr)["state"] == "UNKNOWN"
    first_server.config["journal"] = "ok"
    assert found(run, "journal", "-n", first_server.addr)["state"] == "OK"
    folder = write_journal(tmp_path / "j", [empty()])
    run("contextSet", "lab", "-n", first_server.addr, "--journal", folder)
    value = found(run, "journal", "--context", "lab")
    assert value["summary"] == "1 of 1 name servers can write their journal, 1 of 1 journals can be read"
    assert value["state"] == "CRITICAL"
    asked = len(first_server.asked)
    value = found(run, "journal", "--journal", folder, "--warning", "~:", "--critical", "~:", "--verify")
    assert (value["state"], value["summary"]) == ("OK", "1 of 1 journals can be read and are undamaged")
    assert len(first_server.asked) == asked
    result = run("check", "journal", "--journal", folder, "--since", "soon")
    assert (
        result.code,
        'invalid time "soon" for --from: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z' in result.err,
    ) == (3, True)


def test_an_old_backup_is_critical_and_its_age_can_be_accepted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.nsbackup.zip"
    save_backup(file, BACKUP._replace(remarks=[]))
    result = run("check", "backup", str(tmp_path), "--json")
    finding = json.loads(result.out)
    assert (result.code, finding["state"], finding["about"]) == (2, "CRITICAL", "cluster-a")
    assert run("check", "backup", str(file), "--warning", "~:", "--critical", "~:").code == 0
    assert run("check", "backup", str(tmp_path), "--clusterName", "other").code == 2


def test_the_metrics_of_a_backup_have_the_label_cluster(run: Run, tmp_path: Path) -> None:
    save_backup(tmp_path / "a.nsbackup.zip", BACKUP)
    result = run("check", "backup", str(tmp_path), "--format", "prometheus")
    assert 'nsadmin_check_state{check="backup",cluster="cluster-a"} 2' in result.out
