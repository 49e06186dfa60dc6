"""snapshotSave, snapshotShow, snapshotList."""

import json
from pathlib import Path

import pytest

from nsadmin.client.pictures import from_bytes, to_bytes
from tests.nsadmin.client.test_pictures import PICTURE
from tests.nsadmin.conftest import Run
from tests.support.servers import FakeNameServer


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_is_saved_is_what_the_name_server_tells(run: Run, first: FakeNameServer, here: Path) -> None:
    done = run("snapshotSave", "s.snapshot.zst", "-n", first.addr, "--json")
    assert done.code == 0
    (row,) = json.loads(done.out)
    assert (row["file"], row["brokers"], row["topics"]) == ("s.snapshot.zst", 1, 1)
    saved = (here / "s.snapshot.zst").read_bytes()
    assert row["size"] == len(saved)
    assert from_bytes(saved).topics["T"]["broker-a"]["perm"] == 7
    assert run("routeDiff", "--from", "s.snapshot.zst", "--to", first.addr).code == 0


def test_without_a_name_it_is_called_by_its_time(run: Run, first: FakeNameServer, here: Path) -> None:
    assert run("snapshotSave", "-n", first.addr).code == 0
    (path,) = here.iterdir()
    assert path.name.endswith("Z.snapshot.zst")


def test_nothing_is_overwritten_and_nothing_is_left_of_a_failure(
    run: Run, first: FakeNameServer, here: Path, dead: str
) -> None:
    (here / "s").write_text("mine")
    done = run("snapshotSave", "s", "-n", first.addr)
    assert (done.code, done.err) == (2, "nsadmin: snapshotSave: s: File exists\n")
    assert (here / "s").read_text() == "mine"
    assert run("snapshotSave", "t", "-n", dead).code == 4
    assert not (here / "t").exists()


def test_what_a_file_has_is_shown(run: Run, here: Path) -> None:
    (here / "s").write_bytes(to_bytes(PICTURE))
    done = run(
        "snapshotShow", "s", "--output", "tsv", "--no-headers", "--columns", "what,name,brokerName,summary"
    )
    assert (done.code, done.err) == (0, "nsadmin: s:9876, 1970-01-01T00:00:00.007Z\n")
    queues = "readQueueNums 8, writeQueueNums 8, perm rw-, topicSysFlag 0"
    assert done.out.splitlines() == [
        "broker\ta\t\tclusterName c, brokerAddrs 0=x:1",
        "broker\tb\t\tclusterName c, brokerAddrs none",
        "order\tT\t\ta:4",
        f"topic\tT\ta\t{queues}",
        f"topic\t\u4e3b\u9898\tb\t{queues}",
        "kv\tn k\t\tv",
        "setting\tlistenPort\t\t9876",
    ]


def test_the_snapshots_of_a_folder_oldest_first(run: Run, here: Path) -> None:
    (here / "a.snapshot.zst").write_bytes(to_bytes(PICTURE))
    (here / "b.snapshot.zst").write_bytes(to_bytes(PICTURE._replace(time=3)))
    (here / "other").write_text("")
    done = run("snapshotList", "--columns", "file,brokers,topics,kvEntries", "--no-headers")
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["b.snapshot.zst", "2", "2", "2"], ["a.snapshot.zst", "2", "2", "2"],
    ]  # fmt: skip
    (here / "c.snapshot.zst").write_text("nonsense")
    done = run("snapshotList", str(here))
    assert (done.code, done.out.count("\n")) == (3, 3)
    assert "c.snapshot.zst is no snapshot: " in done.err


def test_a_folder_that_is_not_there(run: Run) -> None:
    done = run("snapshotList", "none")
    assert (done.code, done.err) == (2, "nsadmin: snapshotList: none: No such file or directory\n")
    assert run("snapshotShow", "none").err == "nsadmin: snapshotShow: none: No such file or directory\n"
