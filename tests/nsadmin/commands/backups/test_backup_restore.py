"""backup restore."""

from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.lab import start_lab


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_wrong_names_of_a_restore_are_refused_before_anything_is_asked(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab") as there:
        run("updateOrderConf", "orders", "put", "broker-a-0:8;broker-zz:8", "-n", there.namesrv_addr)
        assert run("backup", "create", "cluster-a", "--file", "a.zip", "-n", there.namesrv_addr).code == 0
        dry_run = run("backup", "restore", "a.zip", "-t", "orders", "--dry-run", "-n", there.namesrv_addr)
        assert (
            "nsadmin: the order configuration of orders names broker-zz, not registered now: see "
            "`nsadmin orderConfCheck orders`\n"
        ) in dry_run.err
        assert "are connected" not in dry_run.err
        users = run("backup", "restore", "a.zip", "--section", "users", "--dry-run", "-n", there.namesrv_addr)
        assert ("users have no effect on" in users.err, "ACLs have" in users.err) == (True, False)
        restore_offsets = ("backup", "restore", "a.zip", "--section", "offsets", "--dry-run")
        cluster_b = ("-c", "cluster-b", "--dry-run", "--json", "-n", there.namesrv_addr)
        elsewhere = run("backup", "restore", "a.zip", *cluster_b)
        assert [(row["server"], row["name"]) for row in elsewhere.json] == [
            (f"broker-a-{number}", None) for number in range(3)
        ]
        assert "nsadmin: failed on broker-a-0, broker-a-1, broker-a-2\n" in elsewhere.err
        overwriting = run(*restore_offsets, "--overwrite-offsets", "-n", there.namesrv_addr)
        assert "are connected, and commit their own offsets: stop them first" in overwriting.err
    restore = ("backup", "restore", "a.zip", "--yes", "-n", "127.0.0.1:9")
    for words, message in (
        ("--section nope", 'unknown section "nope" for --section: use topics, staticTopics'),
        ("--map broker-a-0", 'invalid value "broker-a-0" for --map: use OLD=NEW'),
        ("--map nope=x", 'the backup has no broker "nope" (--map): it has broker-a-0, broker-a-1'),
        ("--map broker-a-0=broker-a-1", 'two brokers of the backup would go to "broker-a-1"'),
        ("-t nope", 'the backup has no topic "nope": see `nsadmin backup show a.zip`'),
        ("-t ordrs", 'the backup has no topic "ordrs": did you mean "orders"?'),
        ("-g nope", 'the backup has no group "nope"'),
    ):
        result = run(*restore, *words.split())
        assert (result.code, message in result.err) == (2, True), result.err
