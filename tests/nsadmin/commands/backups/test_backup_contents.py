"""backup show and backup diff."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.lab import start_lab


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_backup_is_made_shown_compared_and_restored(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab") as there:
        on = ("-n", there.namesrv_addr, "--json")
        created = run("backup", "create", "cluster-a", "--file", "a.zip", *on)
        [row] = json.loads(created.out)
        assert (created.code, row["file"], row["brokers"], row["missing"]) == (0, "a.zip", 3, 0)
        shown_backup = run("backup", "show", "a.zip", "--json")
        assert {item["section"] for item in json.loads(shown_backup.out)} >= {
            "topics",
            "groups",
            "offsets",
            "settings",
        }
        assert "cluster-a at " in shown_backup.err
        assert "not signed" in shown_backup.err
        as_text = ("--filter", "section!=offsets", "--output", "jsonl")
        assert run("backup", "create", "cluster-a", "--file", "later.zip", *on).code == 0
        assert (
            run("backup", "show", "a.zip", *as_text).out == run("backup", "show", "later.zip", *as_text).out
        )
        assert run("backup", "diff", "a.zip", *on).code == 0
        assert run("updateTopic", "orders", "-c", "cluster-a", "-r", "5", "-w", "5", "--yes", *on).code == 0
        differs = run("backup", "diff", "a.zip", *on)
        assert (differs.code, {item["name"] for item in json.loads(differs.out)}) == (1, {"orders"})
        assert "readQueueNums 8 -> 5, writeQueueNums 8 -> 5" in json.loads(differs.out)[0]["differs"]
        restored = run("backup", "restore", "a.zip", "-t", "orders", "--section", "topics", "--yes", *on)
        assert restored.code == 0, restored.err
        assert {item["result"] for item in json.loads(restored.out)} == {"done"}
        assert run("backup", "diff", "a.zip", *on).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("show missing.zip", "cannot read missing.zip: No such file or directory"),
        ("show foreign.zip", "foreign.zip is not a backup of nsadmin: it has no manifest.json"),
        ("show foreign.zip --passphrase-file nope", "--passphrase-file: cannot read nope: No"),
    ],
)
def test_mistakes_are_one_line(run: Run, tmp_path: Path, words: str, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as archive:
        archive.writestr("readme", "")
    result = run("backup", *words.split())
    assert (result.code, result.err.count("\n"), message in result.err) == (2, 1, True), result.err
