"""snapshotSave, snapshotShow, snapshotList."""

from pathlib import Path

import pytest

from namesrv_core.events import BrokerUnregistered, KvPut
from nsadmin.client.snapshots import decode_snapshot, encode_snapshot
from tests.nsadmin.client.test_snapshots import PICTURE
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.journals import make_snapshot, registration_events, write_journal


@pytest.fixture(autouse=True)
def current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_is_saved_is_what_the_name_server_tells(
    ask: Run, first_server: FakeNameServer, current_folder: Path
) -> None:
    result = ask("snapshotSave", "s.snapshot.zst", "--json")
    assert result.code == 0
    (row,) = result.json
    assert (row["file"], row["brokers"], row["topics"]) == ("s.snapshot.zst", 1, 1)
    saved = (current_folder / "s.snapshot.zst").read_bytes()
    assert (current_folder / "s.snapshot.zst").stat().st_mode & 0o777 == 0o600
    assert row["size"] == len(saved)
    assert decode_snapshot(saved).topics["T"]["broker-a"]["perm"] == 7
    assert ask("routeDiff", "--from", "s.snapshot.zst", "--to", first_server.addr).code == 0


def test_a_past_moment_is_saved_from_a_journal_and_differs_from_it_in_nothing(
    run: Run, current_folder: Path, tmp_path: Path
) -> None:
    events = [
        make_snapshot("start"),
        *registration_events("a", "T", "U"),
        KvPut("N", "k", None, "v"),
        KvPut("ORDER_TOPIC_CONFIG", "T", None, "a:8"),
        KvPut("N", "password", None, "hidden"),
        BrokerUnregistered("c", "a", 0, "10.0.0.1:10911", "expired", None),
    ]
    journal = ("--journal", write_journal(tmp_path / "j", events))
    at = "2025-11-21T14:03:05.500Z"
    result = run("snapshotSave", "--at", at, *journal, "--json")
    assert result.code == 0
    (row,) = result.json
    assert row["file"] == "20251121T140305500Z.snapshot.zst"
    assert (row["time"], row["brokers"], row["topics"]) == (at, 1, 2)
    saved = decode_snapshot((current_folder / row["file"]).read_bytes())
    assert saved.kv == {"N": {"k": "v"}, "ORDER_TOPIC_CONFIG": {"T": "a:8"}}
    assert run("routeDiff", "--from", row["file"], "--to", at, *journal).code == 0
    assert run("routeDiff", "--from", row["file"], "--to", "2025-11-21T14:03:01Z", *journal).code == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("--at", "2025-11-21T14:02:00Z"),
            "s:9876: its state at 2025-11-21T14:02:00.000Z is unknown: the journal begins at "
            "2025-11-21T14:03:00.000Z",
        ),
        (("--at", "2999-01-01"), 'invalid time "2999-01-01" for --at: it is in the future'),
        (
            ("--at", "-1h", "--namespace", "N"),
            "--namespace and --at exclude each other: a journal has all namespaces",
        ),
        ((), "--journal and --namesrv need --at TIME"),
    ],
)
def test_a_moment_that_cannot_be_saved_leaves_no_file(
    run: Run, current_folder: Path, tmp_path: Path, given: tuple[str, ...], said: str
) -> None:
    folder = write_journal(tmp_path / "j", [make_snapshot("start"), *registration_events("a", "T")])
    result = run("snapshotSave", "s", *given, "--journal", folder)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert said in result.err
    assert not (current_folder / "s").exists()


def test_debug_shows_what_is_asked(ask: Run, first_server: FakeNameServer) -> None:
    result = ask("snapshotSave", "s", "--debug")
    assert f"{first_server.addr} GET_ROUTEINFO_BY_TOPIC (105): SUCCESS (0)" in result.err


def test_without_a_name_it_is_called_by_its_time(ask: Run, current_folder: Path) -> None:
    assert ask("snapshotSave").code == 0
    (path,) = current_folder.iterdir()
    assert path.name.endswith("Z.snapshot.zst")


def test_nothing_is_overwritten_and_nothing_is_left_of_a_failure(
    ask: Run, current_folder: Path, dead_addr: str
) -> None:
    (current_folder / "s").write_text("mine")
    result = ask("snapshotSave", "s")
    assert (result.code, result.err) == (
        2,
        "nsadmin: s exists: use another name\n",
    )
    assert (current_folder / "s").read_text() == "mine"
    assert ask("snapshotSave", "t", "-n", dead_addr).code == 4
    assert not (current_folder / "t").exists()


def test_what_a_file_has_is_shown(run: Run, current_folder: Path) -> None:
    (current_folder / "s").write_bytes(encode_snapshot(PICTURE))
    result = run(
        "snapshotShow", "s", "--output", "tsv", "--no-headers", "--columns", "what,name,brokerName,summary"
    )
    assert (result.code, result.err) == (0, "nsadmin: s:9876, 1970-01-01T00:00:00.007Z\n")
    queues = "readQueueNums 8, writeQueueNums 8, perm rw-, topicSysFlag 0"
    assert result.out.splitlines() == [
        "broker\ta\t\tclusterName c, brokerAddrs 0=x:1",
        "broker\tb\t\tclusterName c, brokerAddrs none",
        "order\tT\t\ta:4",
        f"topic\tT\ta\t{queues}",
        f"topic\t\u4e3b\u9898\tb\t{queues}",
        "kv\tn k\t\tv",
        "setting\tlistenPort\t\t9876",
    ]


def test_the_snapshots_of_a_folder_oldest_first(run: Run, current_folder: Path) -> None:
    (current_folder / "a.snapshot.zst").write_bytes(encode_snapshot(PICTURE))
    (current_folder / "b.snapshot.zst").write_bytes(encode_snapshot(PICTURE._replace(time=3)))
    (current_folder / "other").write_text("")
    result = run("snapshotList", "--columns", "file,brokers,topics,kvEntries", "--no-headers")
    assert (result.code, result.err) == (0, "")
    assert [line.split() for line in result.out.splitlines()] == [
        ["b.snapshot.zst", "2", "2", "2"], ["a.snapshot.zst", "2", "2", "2"],
    ]  # fmt: skip
    (current_folder / "c.snapshot.zst").write_text("nonsense")
    result = run("snapshotList", str(current_folder))
    assert (result.code, result.out.count("\n")) == (3, 3)
    assert (
        "is not a snapshot: neither JSON nor compressed JSON: Expecting value: line 1 column 1 (char 0)"
    ) in result.err


def test_a_folder_that_is_not_there(run: Run) -> None:
    result = run("snapshotList", "none")
    assert (result.code, result.err) == (2, "nsadmin: cannot read none: No such file or directory\n")
    assert run("snapshotShow", "none").err == "nsadmin: cannot read none: No such file or directory\n"
