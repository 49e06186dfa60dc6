"""Journals as polls."""

from pathlib import Path

import pytest

from nsadmin.commands.history.event_descriptions import describe_event
from nsadmin.tui.polling import journal_source
from nsadmin.tui.polling.poll_records import EventSeen, NameServerPolled
from tests.support.examples import JOURNAL
from tests.support.screens import make_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in JOURNAL.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    return tmp_path


def test_journals_are_found_in_a_folder_and_below_it(folder: Path) -> None:
    [journal] = journal_source.find_journals(folder)
    assert (journal.folder, journal.server_addr) == (folder / "namesrv" / "journal", "h:9876")
    assert journal_source.find_journals(folder / "namesrv" / "journal") == [journal]


def test_each_record_is_an_event_and_what_is_known_then(folder: Path) -> None:
    tape = journal_source.JournalTape(journal_source.find_journals(folder), describe_event)
    polls = list(tape.start(tape.begin))
    assert tape.begin <= polls[0].at
    assert tape.end == polls[-1].at
    events = [poll for poll in polls if isinstance(poll, EventSeen)]
    found = [event.kind for event in events]
    assert found == ["ServerReady", "BrokerRegistered", "TopicsChanged", "WritePermWiped"]
    assert events[1].description == "new: broker-a 0=10.0.0.1:10911, 1 topic"
    assert list(events[3].names) == ["broker-a", "orders"]
    assert [poll.at for poll in polls] == sorted(poll.at for poll in polls)
    model = make_model(*polls)
    assert list(model.brokers) == [("broker-a", 0, "10.0.0.1:10911")]
    assert model.list_topic_names() == ["orders"]


def test_a_moment_that_a_journal_does_not_tell_is_an_error(folder: Path) -> None:
    [file] = (folder / "namesrv" / "journal").iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], *lines[3:]]))
    polls = journal_source.JournalTape(journal_source.find_journals(folder), describe_event).start(0)
    last = [poll for poll in polls if isinstance(poll, NameServerPolled)][-1]
    assert last.error == "the journal does not cover this moment"


def test_the_end_of_a_journal_and_what_comes(folder: Path) -> None:
    [file] = (folder / "namesrv" / "journal").iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3]))
    steps = journal_source.follow_events(file.parent, describe_event)
    assert [event.kind for event in next(steps)] == ["ServerReady", "BrokerRegistered"]
    assert next(steps) == []
    with file.open("a") as out:
        out.write(lines[3])
    assert [event.kind for event in next(steps)] == ["TopicsChanged"]


def test_a_late_moment_is_led_to_by_the_last_events_and_the_tables_of_then(folder: Path) -> None:
    tape = journal_source.JournalTape(journal_source.find_journals(folder), describe_event)
    every = list(tape.start(tape.begin))
    late = list(tape.start(tape.end))
    events, tables = (
        [poll for poll in late if isinstance(poll, kind)] for kind in (EventSeen, NameServerPolled)
    )
    assert [poll.at for poll in events] == [poll.at for poll in every if isinstance(poll, EventSeen)]
    assert [poll.at for poll in tables] == [tape.end]
    assert len([poll for poll in every if isinstance(poll, NameServerPolled)]) > 1
