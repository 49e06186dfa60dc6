"""backup create."""

import json
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.hostile_folder import foreign_link, needs_root
from tests.support.lab import start_lab


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_folder_keeps_the_last_backups_only(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab") as there:
        named = run("backup", "create", "cluster-a", "--file", "a b.zip", "-n", there.namesrv_addr)
        assert "nsadmin: nsadmin backup diff 'a b.zip' shows what changed after it\n" in named.err
        words = ("backup", "create", "cluster-a", "--dir", "all", "--keep", "1", "-n", there.namesrv_addr)
        created = run(*words)
        assert (created.code, "backup diff" in created.err) == (0, False)
        [first] = (tmp_path / "all").iterdir()
        first.rename(tmp_path / "all" / "cluster-a-20200101T000000Z.nsbackup.zip")
        result = run(*words)
    assert "deleted 1 older backup" in result.err
    [last] = (tmp_path / "all").iterdir()
    assert not last.name.startswith("cluster-a-2020")


def test_each_cluster_has_its_file_and_the_newest_two_of_a_folder_are_compared(
    run: Run, tmp_path: Path
) -> None:
    def rename(cluster: str, year: int) -> None:
        [file] = (tmp_path / "all").glob(f"{cluster}-2*Z.nsbackup.zip")
        file.rename(file.with_name(f"{cluster}-{year}0101T000000Z.nsbackup.zip"))

    with start_lab(tmp_path / "lab") as there:
        on = ("-n", there.namesrv_addr)
        words = ("backup", "create", "*", "--dir", "all", *on)
        created = run(*words, "--json")
        assert [row["clusterName"] for row in json.loads(created.out)] == ["cluster-a", "cluster-b"]
        of_each = run("backup", "show", "all", "--json")
        assert (of_each.code, [line.split()[1] for line in of_each.err.splitlines()]) == (
            0,
            ["cluster-a", "cluster-b"],
        )
        assert {row["clusterName"] for row in json.loads(of_each.out)} == {"cluster-a", "cluster-b"}
        assert run("backup", "show", "all").out.startswith("clusterName")
        shown = run("backup", "show", "all", "--cluster", "cluster-b")
        assert (shown.code, shown.err.startswith("nsadmin: cluster-b at ")) == (0, True)
        missing = run("backup", "show", "all", "--cluster", "nosuch")
        assert (missing.code, missing.err) == (2, "nsadmin: all has no backup of nosuch\n")
        assert run("backup", "show", "one.zip", "--cluster", "c").err.startswith("nsadmin: --cluster chooses")
        single = run("backup", "create", "*", "--file", "one.zip", *on)
        assert (single.code, "--file is for one cluster: pass --dir DIR" in single.err) == (2, True)
        rename("cluster-a", 2020)
        [other] = (tmp_path / "all").glob("cluster-b-*")
        # Its name begins like that of the other cluster.
        similar = other.rename(other.with_name("cluster-a-eu-20200101T000000Z.nsbackup.zip"))
        assert run("updateTopic", "orders", "-c", "cluster-a", "-r", "5", "-w", "5", "-y", *on).code == 0
        assert run("backup", "create", "cluster-a", "--dir", "all", "--keep", "2", *on).code == 0
        assert similar.exists()
        mixed = run("backup", "diff", "all", *on)
        assert (mixed.code, mixed.out.startswith("clusterName")) == (1, True)
        assert f"no differences ({Path('all') / similar.name} -> the cluster now)" in mixed.err
        similar.rename(similar.with_name("cluster-b-20200101T000000Z.nsbackup.zip"))
        assert run("updateTopic", "orders", "-c", "cluster-b", "-r", "3", "-w", "3", "-y", *on).code == 0
        assert run("backup", "create", "cluster-b", "--dir", "all", *on).code == 0
        assert run("backup", "diff", "all").out.startswith("clusterName")
        several = run("backup", "restore", "all", "--dry-run")
        assert (several.code, "all has backups of several clusters: name a file, all/" in several.err) == (
            2,
            True,
        )
        each = run("backup", "diff", "all", "--json")
        clusters = {row["clusterName"] for row in json.loads(each.out)}
        assert (each.code, clusters) == (1, {"cluster-a", "cluster-b"})
        for file in Path("all").glob("cluster-b-*"):
            file.unlink()
        [kept] = [file for file in Path("all").glob("cluster-a-*") if "-2020" not in file.name]
        newest = run("backup", "show", "all", "--json")
        assert (newest.code, newest.out) == (0, run("backup", "show", str(kept), "--json").out)
        restored = run("backup", "restore", "all", "--section", "topics", "--dry-run", *on)
        assert (restored.code, f"the newest backup is {kept}" in restored.err) == (0, True)
        both = run("backup", "diff", "all", str(kept))
        assert (both.code, "all is a folder: name a file in it, or only the folder" in both.err) == (2, True)
        changed = run("backup", "diff", "all", "--json")
        assert (changed.code, {row["name"] for row in json.loads(changed.out)}) == (1, {"orders"})
        (tmp_path / "all" / "cluster-a-20200101T000000Z.nsbackup.zip").unlink()
        alone = run("backup", "diff", "all", *on)
        [file] = Path("all").iterdir()
        assert (alone.code, alone.err) == (0, f"nsadmin: no differences ({file} -> the cluster now)\n")


@needs_root
def test_a_link_of_another_user_in_place_of_the_folder_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = foreign_link(tmp_path / "link", tmp_path / "real")
    with start_lab(tmp_path / "lab") as there:
        result = run("backup", "create", "cluster-a", "--dir", str(link), "-n", there.namesrv_addr)
    assert result.code == 2
    assert f'"{link}": not followed, because it is a symbolic link of another user' in result.err
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("create c", "pass either --file FILE or --dir DIR"),
        ("create c --file a --keep 2", "--every and --keep need --dir DIR"),
        ("create c --file a --with-secrets", "--with-secrets needs a passphrase: pass --passphrase-file"),
    ],
)
def test_mistakes_are_one_line(run: Run, words: str, message: str) -> None:
    result = run("backup", *words.split(), "-n", "127.0.0.1:9")
    assert (result.code, result.err.count("\n"), message in result.err) == (2, 1, True), result.err
