"""check journal: of name servers, and of folders."""

from pathlib import Path

import pytest

from namesrv_core.events import EventsLost, JournalResumed, PollFailed, ServerStopping
from nsadmin import AdminClient
from nsadmin.client import NotFound, ServerResult
from nsadmin.operations.checks import journal
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.journal import CHECK, JournalObservation
from tests.support.fake_servers import FakeNameServer
from tests.support.journals import NOW, JournalPen, make_snapshot, write_journal


def judged(path: Path, later: int = 0, since: int = 0, thorough: bool = False) -> CheckFinding:
    """What is found so many ms after the first record."""
    folder = journal.inspect_folder(path, since, thorough)
    return CHECK.judge(CHECK.make_scale(), JournalObservation(NOW + later, [], [folder]))


def of_servers(*servers: ServerResult[str | None]) -> CheckFinding:
    return CHECK.judge(CHECK.make_scale(), JournalObservation(NOW, servers, []))


@pytest.mark.parametrize(
    ("later", "state"),
    [
        (0, CheckState.OK),
        (120_000, CheckState.OK),
        (121_000, CheckState.WARNING),
        (601_000, CheckState.CRITICAL),
    ],
)
def test_a_journal_goes_on(tmp_path: Path, later: int, state: CheckState) -> None:
    write_journal(tmp_path / "j", [make_snapshot()])
    finding = judged(tmp_path / "j", later)
    assert finding.state is state
    assert finding.summary == "1 of 1 journals can be read"
    assert finding.details[0] == f"{tmp_path}/j: the last record is {later / 1000:.0f} s old, from s:9876"
    assert [sample.value for sample in finding.samples] == [later / 1000, later / 1000, 0, 0]


def test_one_that_was_ended_says_so(tmp_path: Path) -> None:
    write_journal(tmp_path / "j", [make_snapshot(), ServerStopping("SIGTERM")])
    assert judged(tmp_path / "j").details[1] == (
        f"{tmp_path}/j: the name server stopped at 2025-11-21T14:03:01Z"
    )


def test_what_was_lost_is_a_warning_for_a_while(tmp_path: Path) -> None:
    write_journal(
        tmp_path / "j",
        [make_snapshot(), EventsLost(7), EventsLost(2), JournalResumed("disk full", 5), make_snapshot()],
    )
    finding = judged(tmp_path / "j")
    assert finding.state is CheckState.WARNING
    assert finding.samples[2].value == 9
    assert finding.details[1:] == (
        f"{tmp_path}/j: lost 9 events",
        f"{tmp_path}/j: writes failed 1 time",
    )
    assert judged(tmp_path / "j", since=NOW + 2000).samples[2].value == 2
    assert judged(tmp_path / "j", since=NOW + 4000).state is CheckState.OK


def test_polls_that_fail_are_a_warning(tmp_path: Path) -> None:
    write_journal(tmp_path / "j", [make_snapshot(), PollFailed("connection refused", 3)])
    finding = judged(tmp_path / "j")
    assert finding.state is CheckState.WARNING
    assert finding.details[1] == f"{tmp_path}/j: polls fail: connection refused"


def test_damage_is_critical_where_it_is_looked_for(tmp_path: Path) -> None:
    pen = JournalPen(tmp_path / "j")
    pen.write_events(make_snapshot(), make_snapshot())
    pen.journal.close()
    assert judged(tmp_path / "j", thorough=True).summary == "1 of 1 journals can be read and are undamaged"
    [file] = (tmp_path / "j").glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b"rubbish\n", lines[1]]))
    assert judged(tmp_path / "j").state is CheckState.OK
    finding = judged(tmp_path / "j", thorough=True)
    assert finding.state is CheckState.CRITICAL
    assert finding.details[1].startswith(f"{tmp_path}/j: {file.name}: line 2:")


def test_a_folder_of_journals_stands_for_them(tmp_path: Path) -> None:
    for name in ("a/journal", "b"):
        write_journal(tmp_path / name, [make_snapshot()])
    scope = CheckScope(journal_folders=[tmp_path, tmp_path / "b"], asks_journal_status=False)
    with AdminClient("127.0.0.1:1") as admin:
        paths = [f.path for f in journal.observe(admin, scope).folders]
    assert paths == [f"{tmp_path}/a/journal", f"{tmp_path}/b"]


def test_what_is_no_journal_is_critical(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, why in (("empty", "there is no journal"), ("none", "No such file or directory")):
        finding = judged(tmp_path / name)
        assert finding.state is CheckState.CRITICAL
        assert why in finding.details[0]


def test_name_servers_say_whether_they_can_write() -> None:
    fine, none = ServerResult[str | None]("h:1", "ok", None), ServerResult[str | None]("h:2", None, None)
    finding = of_servers(fine, none)
    assert (finding.state, finding.summary) == (CheckState.OK, "1 of 1 name servers can write their journal")
    assert finding.details == ("name server h:1: its journal is ok", "name server h:2 keeps no journal")
    failing = of_servers(fine, ServerResult[str | None]("h:3", "failing: disk full", None))
    assert failing.state is CheckState.CRITICAL
    assert failing.details[1] == "name server h:3: its journal is failing: disk full"
    away = ServerResult[str | None]("h:4", None, NotFound("gone"))
    assert of_servers(fine, away).state is CheckState.UNKNOWN
    assert of_servers(none, away).summary == (
        "no name server that answered keeps a journal, and --journal names none"
    )
    assert of_servers(away).summary == "no name server answered"


def test_what_they_say_is_among_their_settings(
    first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.config["journal"] = "failing: disk full"
    with AdminClient([first_server.addr, second_server.addr, dead_addr], timeout=5) as admin:
        statuses = journal.read_server_statuses(admin)
    assert [result.result for result in statuses] == ["failing: disk full", None, None]
    assert statuses[2].error is not None
