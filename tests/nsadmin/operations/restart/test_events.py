"""What a rolling restart tells, as records and in words."""

import pytest

from nsadmin.operations.restart import events
from nsadmin.operations.run_folder import RunEvent


@pytest.mark.parametrize(
    ("event", "record", "words"),
    [
        (
            events.Began(7, "C", ("a", "b"), False),
            {"time": 7, "event": "began", "cluster": "C", "left": ["a", "b"], "resumed": False},
            "restarting C: a, b",
        ),
        (
            events.Began(7, "C", ("b",), True),
            {"time": 7, "event": "began", "cluster": "C", "left": ["b"], "resumed": True},
            "resuming the restart of C: b",
        ),
        (
            events.StepBegan(7, "a", 1, "h:2", "stop"),
            {"time": 7, "event": "stepBegan", "broker": "a", "brokerId": 1, "addr": "h:2", "step": "stop"},
            "a (slave 1) at h:2: stopping it",
        ),
        (
            events.Waiting(7, "a", 0, ("x", "y")),
            {"time": 7, "event": "waiting", "broker": "a", "brokerId": 0, "waitingFor": ["x", "y"]},
            "a is not healthy yet: waiting for x, and for y",
        ),
        (
            events.Restarted(7, "a", 0, 3),
            {"time": 7, "event": "restarted", "broker": "a", "brokerId": 0, "seconds": 3},
            "a is healthy again, after 3 s",
        ),
        (
            events.Paused(7, ("b",)),
            {"time": 7, "event": "paused", "left": ["b"]},
            "paused before b; run the command again to continue",
        ),
        (
            events.Finished(7, "C", 4),
            {"time": 7, "event": "finished", "cluster": "C", "processes": 4},
            "C: 4 brokers restarted",
        ),
    ],
)
def test_each_is_a_record_and_a_line(event: RunEvent, record: dict[str, object], words: str) -> None:
    assert event.to_record() == record
    assert events.describe_record(record) == words


def test_what_a_drain_tells_is_in_its_own_words() -> None:
    assert events.describe_record({"time": 7, "event": "wiped"}) is None
