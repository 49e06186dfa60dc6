"""Which journals are read."""

from pathlib import Path

import pytest

from nsadmin.client import NotFound
from nsadmin.commands.history.journal_source import ServerJournal, find_journals
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions
from tests.support.journals import make_snapshot, write_journal


def session(*folders: str) -> Session:
    return Session(SharedOptions(journal_folders=folders))


@pytest.fixture
def two_journals(tmp_path: Path) -> list[str]:
    return [write_journal(tmp_path / name, [make_snapshot("start")], f"{name}:9876") for name in ("s", "t")]


def test_those_named_count_and_else_the_context_s(two_journals: list[str]) -> None:
    first, second = (
        ServerJournal(Path(folder), f"{name}:9876") for folder, name in zip(two_journals, "st", strict=True)
    )
    assert find_journals(session(*two_journals), None, None) == [first, second]
    assert find_journals(session(*two_journals), [two_journals[1], two_journals[1]], None) == [second]
    assert find_journals(session(*two_journals), None, "t") == [second]
    assert find_journals(session(*two_journals), None, "s:9876") == [first]


def test_a_server_without_a_journal_is_told_from_those_with_one(two_journals: list[str]) -> None:
    with pytest.raises(NotFound, match='no journal of "u": use one of s:9876, t:9876'):
        find_journals(session(*two_journals), None, "u")


def test_no_journal_at_all(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match="no journal: record one with nsadmin collect DIR, or pass that of nsadmin's name server with",
    ):
        find_journals(session(), None, None)
    with pytest.raises(
        UsageError, match=rf"{tmp_path} is not a journal: it has no files such as 0000000000000001-\*\.jsonl"
    ):
        find_journals(session(), [str(tmp_path)], None)


def test_a_damaged_one_goes_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "0000000000000001-20251121T140300000Z.jsonl.zst").write_bytes(b"nonsense")
    assert find_journals(session(str(tmp_path)), None, None) == [ServerJournal(tmp_path, str(tmp_path))]


def test_the_folder_of_a_lab_stands_for_its_journals(tmp_path: Path) -> None:
    for name in ("ns-1", "ns-2"):
        write_journal(tmp_path / name / "journal", [make_snapshot("start")], name)
    journals = find_journals(session(str(tmp_path), str(tmp_path / "ns-1")), None, None)
    assert [journal.server_name for journal in journals] == ["ns-1", "ns-2"]


def test_the_folder_of_a_collector_stands_for_the_journals_of_its_name_servers(
    two_journals: list[str], tmp_path: Path
) -> None:
    write_journal(tmp_path / "brokers", [make_snapshot("start")], "brokers")
    (tmp_path / "reports").mkdir()
    journals = find_journals(session(str(tmp_path)), None, None)
    assert [journal.server_name for journal in journals] == ["s:9876", "t:9876"]
    [brokers] = find_journals(session(str(tmp_path / "brokers")), None, None)
    assert brokers.server_name == "brokers"
