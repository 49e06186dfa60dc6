"""The commands about backups, in the lab."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.lab import lab


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_backup_is_made_shown_compared_and_restored(run: Run, tmp_path: Path) -> None:
    with lab(tmp_path / "lab") as there:
        on = ("-n", there.namesrv_addr, "--json")
        created = run("backup", "create", "cluster-a", "--file", "a.zip", *on)
        [row] = json.loads(created.out)
        assert (created.code, row["file"], row["brokers"], row["missing"]) == (0, "a.zip", 3, 0)
        shown = run("backup", "show", "a.zip", "--json")
        assert {item["section"] for item in json.loads(shown.out)} >= {
            "topics",
            "groups",
            "offsets",
            "settings",
        }
        assert "cluster-a at " in shown.err
        assert "not signed" in shown.err
        assert run("backup", "diff", "a.zip", *on).code == 0
        assert run("updateTopic", "orders", "-c", "cluster-a", "-r", "5", "-w", "5", "--yes", *on).code == 0
        differs = run("backup", "diff", "a.zip", *on)
        assert (differs.code, {item["name"] for item in json.loads(differs.out)}) == (1, {"orders"})
        restored = run("backup", "restore", "a.zip", "-t", "orders", "--section", "topics", "--yes", *on)
        assert restored.code == 0, restored.err
        assert {item["result"] for item in json.loads(restored.out)} == {"done"}
        assert run("backup", "diff", "a.zip", *on).code == 0


def test_a_folder_keeps_the_last_backups_only(run: Run, tmp_path: Path) -> None:
    with lab(tmp_path / "lab") as there:
        words = ("backup", "create", "cluster-a", "--dir", "all", "--keep", "1", "-n", there.namesrv_addr)
        assert run(*words).code == 0
        [first] = (tmp_path / "all").iterdir()
        first.rename(tmp_path / "all" / "cluster-a-20200101T000000Z.nsbackup.zip")
        done = run(*words)
    assert "deleted 1 older backup" in done.err
    [last] = (tmp_path / "all").iterdir()
    assert not last.name.startswith("cluster-a-2020")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("create c", "pass either --file FILE or --dir DIR"),
        ("create c --file a --keep 2", "--every and --keep need --dir DIR"),
        ("create c --file a --with-secrets", "--with-secrets needs a passphrase: pass --passphrase-file"),
        ("show missing.zip", 'cannot read the backup "missing.zip": No such file or directory'),
        ("show foreign.zip", "foreign.zip is not a backup of nsadmin: it has no manifest.json"),
        ("show foreign.zip --passphrase-file nope", 'cannot read "nope" for --passphrase-file'),
    ],
)
def test_mistakes_are_one_line(run: Run, tmp_path: Path, words: str, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as archive:
        archive.writestr("readme", "")
    servers = ("-n", "127.0.0.1:9") if words.startswith("create") else ()
    done = run("backup", *words.split(), *servers)
    assert (done.code, done.err.count("\n"), message in done.err) == (2, 1, True), done.err


def test_wrong_names_of_a_restore_are_refused_before_anything_is_asked(run: Run, tmp_path: Path) -> None:
    with lab(tmp_path / "lab") as there:
        assert run("backup", "create", "cluster-a", "--file", "a.zip", "-n", there.namesrv_addr).code == 0
    restore = ("backup", "restore", "a.zip", "--yes", "-n", "127.0.0.1:9")
    for words, message in (
        ("--section nope", 'unknown section "nope" for --section: use topics, groups'),
        ("--map broker-a-0", 'invalid value "broker-a-0" for --map: use OLD=NEW'),
        ("--map nope=x", 'the backup has no broker "nope" (--map): it has broker-a-0, broker-a-1'),
        ("--map broker-a-0=broker-a-1", "two brokers of the backup have the same new name"),
        ("-t nope", 'the backup has no topic "nope": see `nsadmin backup show`'),
        ("-g nope", 'the backup has no group "nope"'),
    ):
        done = run(*restore, *words.split())
        assert (done.code, message in done.err) == (2, True), done.err
