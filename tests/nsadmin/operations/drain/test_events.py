"""What happens in a drain, as records and in words."""

import json

import pytest

from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import describe_record
from nsadmin.operations.drain.risks import DrainRisk
from nsadmin.operations.run_folder import RunEvent

T = 1_700_000_000_000
TOPICS = ("a", "b", "c", "d", "e")
TOLD: list[tuple[RunEvent, str]] = [
    (events.Started(T, "C", "broker-a", ("h:1", "h:2"), None), "draining broker-a of cluster C on h:1, h:2"),
    (
        events.Started(T, "C", "broker-a", ("h:1",), "wait"),
        "resuming the drain of broker-a of cluster C on h:1",
    ),
    (
        events.Started(T, "C", "broker-a", ("h:1",), "undrain"),
        "resuming the drain of broker-a of cluster C on h:1, whose undoing was interrupted",
    ),
    (events.Joined(T, 12), "process 12 is already draining this broker: following its progress"),
    (events.Joined(T, 0), "another process is already draining this broker: following its progress"),
    (
        events.Checked(T, 3, 0.25, (DrainRisk("static", "1 topic is static", ("a",), True, "r"),)),
        "3 topics, 25% of their writable queues; 1 topic is static",
    ),
    (
        events.Checked(
            T, 3, 0.25, tuple(DrainRisk("static", text, (), True, "r") for text in ("one", "two"))
        ),
        "3 topics, 25% of their writable queues; one; two",
    ),
    (events.Checked(T, 1, None, ()), "1 topic, no topic has a writable queue"),
    (events.SnapshotTaken(T, "h:1", 1234), "h:1: 1234 topics saved"),
    (events.Wiped(T, "h:1", 1, None), "h:1: write permission removed"),
    (events.Wiped(T, "h:1", 2, None), "h:1: write permission removed (for the 2nd time)"),
    (events.Wiped(T, "h:1", 3, None), "h:1: write permission removed (for the 3rd time)"),
    (events.Wiped(T, "h:1", 4, None), "h:1: write permission removed (for the 4th time)"),
    (events.Wiped(T, "h:1", 21, None), "h:1: write permission removed (for the 21st time)"),
    (events.Wiped(T, "h:1", 11, None), "h:1: write permission removed (for the 11th time)"),
    (events.Wiped(T, "h:1", 1, "no answer"), "h:1: the write permission was not removed: no answer"),
    (events.PermissionSet(T, "h:3", 6, 4, None), "h:3: brokerPermission 6 -> 4"),
    (events.PermissionSet(T, "h:3", 6, 4, "no"), "h:3: brokerPermission stays 6: no"),
    (
        events.Closed(T, ("h:1", "h:2")),
        "verified: the broker has no writable queue in the routes of h:1, h:2",
    ),
    (
        events.Reopened(T, "h:1", TOPICS, "created during the drain"),
        "h:1: 5 topics now writable (a, b, c and 2 more): created during the drain",
    ),
    (events.ServerLost(T, "h:1", "no"), "h:1 does not answer, so its routes are unknown: no"),
    (events.ServerBack(T, "h:1"), "h:1 answers again"),
    (events.BrokerGone(T, "h:1"), "h:1: the broker is no longer registered"),
    (events.BrokerBack(T, "h:1"), "h:1: the broker is registered again"),
    (events.Safe(T, ()), "safe to stop"),
    (
        events.Safe(T, ("h:1",)),
        "safe to stop for clients of the other name servers. Clients of these may still write, because they "
        "do not answer, or do not list the broker: h:1",
    ),
    (events.Unsafe(T, "writable again on h:1"), "no longer safe to stop: writable again on h:1"),
    (
        events.CommandEnded(T, "stop broker-a", 3),
        "stop broker-a: failed with exit code 3: the broker stays drained",
    ),
    (events.CommandEnded(T, "stop broker-a", 0), "stop broker-a: exit code 0"),
    (events.PutBack(T, "h:1", 3, "topic by topic", {}, None), "h:1: 3 topics as before (topic by topic)"),
    (
        events.PutBack(T, "h:1", 2, "topic by topic", {"a": "r-- instead of rw-"}, None),
        "h:1: 2 topics as before (topic by topic); not as before: a (r-- instead of rw-)",
    ),
    (
        events.PutBack(T, "h:1", 2, "nothing to do", {}, None, ("a", "b")),
        "h:1: 2 topics as before (nothing to do); closed to writes, as before: a, b",
    ),
    (events.PutBack(T, "h:1", 0, "", {}, "no answer"), "h:1: its routes could not be verified: no answer"),
    (events.Undone(T, "broker-a"), "the drain of broker-a is undone"),
    (
        events.HoldEnded(T, "broker-a"),
        "broker-a is drained, but nsadmin no longer watches it: if it registers with write permission again, "
        "clients write to it. Stop it now, or drain it with --hold or --then COMMAND.",
    ),
]
PROGRESS = events.Progress(
    T, "wait", 1200, {"orders": 9, "pay": 20}, {"orders": "clients", "pay": "clients"}, 5, 1, {"h:4": 0},
    {"h:1": 0}, 2, 1, 3, ("writes to stop",),
)  # fmt: skip


@pytest.mark.parametrize(("event", "said"), TOLD, ids=lambda item: type(item).__name__)
def test_an_event_in_words(event: RunEvent, said: str) -> None:
    assert describe_record(json.loads(json.dumps(event.to_record()))) == said


def test_how_it_stands() -> None:
    assert describe_record(PROGRESS.to_record()) == (
        "1200 messages a minute; in the last minute 20 to pay (from clients), 9 to orders (from "
        "clients); 5 messages not consumed; waiting for writes to stop"
    )
    quiet = PROGRESS._replace(puts=None, residue={}, lag=None, waiting_for=(), phase="safe")
    assert describe_record(quiet.to_record()) == "safe: writes are not counted now"


def test_every_event_has_words_and_a_name_of_its_own() -> None:
    kinds = {type(event) for event, _ in TOLD} | {type(PROGRESS)}
    classes = [kind for kind in vars(events).values() if isinstance(kind, type)]
    assert kinds == {kind for kind in classes if issubclass(kind, RunEvent)} - {RunEvent}


def test_a_record_has_the_names_of_json() -> None:
    assert events.Started(T, "C", "b", ("h:1",), None).to_record() == {
        "time": T, "event": "started", "cluster": "C", "broker": "b", "nameServers": ["h:1"], "resumed": None,
    }  # fmt: skip
    risk = DrainRisk("static", "text", ("a",), True, "r")
    assert events.Checked(T, 1, 0.5, (risk,)).to_record()["risks"] == [
        {"kind": "static", "text": "text", "topics": ("a",), "refuses": True, "remedy": "r"}
    ]


STATUS = events.Progress(
    7, "wait", 1200, {"orders": 9, "pay": 2000}, {"orders": "clients", "pay": "clients"}, 1500, 2,
    {"h:4": 12, "h:5": None}, {"h:1": 0, "h:2": None}, 2, 1, 3, ("writes to stop",),
)  # fmt: skip


def test_all_that_is_known() -> None:
    assert events.describe_status("broker-a", STATUS.to_record()) == [
        ("broker-a", "snapshot wipe settle [wait] safe"),
        ("messages per minute", "1200"),
        ("last minute", "pay 2000 (from clients), orders 9 (from clients)"),
        ("lag", "1500 messages of 2 groups"),
        ("slaves behind", "h:4 12 bytes, h:5 unknown"),
        ("writable topics", "h:1 0, h:2 unknown"),
        ("reopened", "2 times"),
        ("checks without writes", "1 of 3"),
        ("waiting for", "writes to stop"),
    ]


def test_what_is_not_known_or_not_there() -> None:
    empty = STATUS._replace(puts=None, residue={}, lag=None, behind={}, waiting_for=())
    facts = dict(events.describe_status("broker-a", empty.to_record()))
    assert (facts["messages per minute"], facts["waiting for"]) == ("unknown", "nothing")
    assert facts.keys().isdisjoint({"last minute", "lag", "slaves behind"})


def test_the_last_writers() -> None:
    writers = {"pay": ("10.0.0.1", "app-1 (gRPC) through 10.0.0.9"), "orders": ("10.0.0.2",)}
    facts = dict(events.describe_status("broker-a", STATUS._replace(writers=writers).to_record()))
    assert facts["last writers"] == "pay: 10.0.0.1, app-1 (gRPC) through 10.0.0.9; orders: 10.0.0.2"
    earlier = {name: value for name, value in STATUS.to_record().items() if name != "writers"}
    assert "last writers" not in dict(events.describe_status("broker-a", earlier))
