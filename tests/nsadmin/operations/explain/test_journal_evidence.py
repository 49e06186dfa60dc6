"""What a journal knows of a topic's end, or of who took its permission."""

from pathlib import Path

from namesrv_core.events import (
    BrokerUnregistered,
    Event,
    QueueData,
    TopicChanges,
    TopicDeleted,
    TopicsChanged,
    WritePermWiped,
)
from nsadmin.operations.explain.journal_evidence import read_journal_evidence
from tests.support.journals import NOW, JournalPen, make_snapshot, registration_events

WIPE, DELETE = "WIPE_WRITE_PERM_OF_BROKER", "DELETE_TOPIC_IN_NAMESRV"
OPERATOR = "10.0.0.9:5"


def change(before: int | None, after: int | None) -> tuple[TopicChanges, ...]:
    """From one permission to another; None is a topic that is not there."""
    sides = [None if perm is None else QueueData("a", 8, 8, perm) for perm in (before, after)]
    return (TopicChanges(("T",), *sides),)


BORN = registration_events("a", "T", addr="h:1")
WIPED: list[Event] = [WritePermWiped("a", 1, change(6, 4))]
LEFT: list[Event] = [
    BrokerUnregistered("c", "a", 0, "h:1", "channel closed", None),
    TopicsChanged("a", "unregistration", change(6, None)),
]
DELETED: list[Event] = [TopicDeleted("T", None, change(6, None))]


def journal(folder: Path, *deeds: tuple[list[Event], str]) -> Path:
    """A journal with these events and what caused them, a second apart."""
    pen = JournalPen(folder, "ns-1")
    pen.write_events(make_snapshot("start"))
    for events, cause in deeds:
        pen.write_events(*events, cause=cause, client=OPERATOR if cause in (WIPE, DELETE) else None)
    pen.journal.close()
    return folder


def test_who_took_the_permission_and_when(tmp_path: Path) -> None:
    memory = read_journal_evidence(journal(tmp_path, (BORN, "r"), (WIPED, WIPE)), "ns-1", "T")
    deed = memory.closed_brokers["a"]
    assert (deed.namesrv_name, deed.time_ms, deed.event_cause, deed.client_addr) == (
        "ns-1",
        NOW + 3000,
        WIPE,
        OPERATOR,
    )
    assert (memory.gone_brokers, memory.topic_deletion, memory.last_addrs) == ({}, None, {})
    assert read_journal_evidence(tmp_path, "ns-1", "U").closed_brokers == {}


def test_a_permission_that_came_back_was_not_taken(tmp_path: Path) -> None:
    again: list[Event] = [TopicsChanged("a", "registration", change(4, 6))]
    known = read_journal_evidence(journal(tmp_path, (BORN, "r"), (WIPED, WIPE), (again, "r")), "ns-1", "T")
    assert (known.closed_brokers, known.gone_brokers) == ({}, {})


def test_who_left_wiped_is_gone_and_not_wiped(tmp_path: Path) -> None:
    known = read_journal_evidence(
        journal(tmp_path, (BORN, "r"), (WIPED, WIPE), (LEFT, "channel closed")), "ns-1", "T"
    )
    assert (known.closed_brokers, [*known.gone_brokers]) == ({}, ["a"])


def test_with_which_broker_it_went_and_where_that_was(tmp_path: Path) -> None:
    memory = read_journal_evidence(journal(tmp_path, (BORN, "r"), (LEFT, "channel closed")), "ns-1", "T")
    assert (memory.gone_brokers["a"].event_cause, memory.gone_brokers["a"].reason) == (
        "channel closed",
        "unregistration",
    )
    assert memory.last_addrs == {"a": ("h:1",)}


def test_who_is_back_is_not_gone(tmp_path: Path) -> None:
    memory = read_journal_evidence(
        journal(tmp_path, (BORN, "r"), (LEFT, "channel closed"), (BORN, "r")), "ns-1", "T"
    )
    assert (memory.gone_brokers, memory.last_addrs) == ({}, {})


def test_who_deleted_it(tmp_path: Path) -> None:
    parts = ((BORN, "r"), (LEFT, "channel closed"), (BORN, "r"), (DELETED, DELETE))
    memory = read_journal_evidence(journal(tmp_path, *parts), "ns-1", "T")
    assert memory.topic_deletion is not None
    assert (memory.topic_deletion.event_cause, memory.topic_deletion.client_addr, memory.gone_brokers) == (
        DELETE,
        OPERATOR,
        {},
    )


def test_what_was_made_anew_is_not_deleted(tmp_path: Path) -> None:
    known = read_journal_evidence(journal(tmp_path, (BORN, "r"), (DELETED, DELETE), (BORN, "r")), "ns-1", "T")
    assert known.topic_deletion is None


def test_a_topic_that_was_never_open_was_not_closed(tmp_path: Path) -> None:
    closed: list[Event] = [TopicsChanged("a", "registration", change(None, 4))]
    assert read_journal_evidence(journal(tmp_path, (closed, "r")), "ns-1", "T").closed_brokers == {}
