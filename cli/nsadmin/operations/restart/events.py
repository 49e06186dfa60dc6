"""The events of a rolling restart, as JSON records and as lines of text.

`time` is in ms since 1970. The drains of a restart emit the events of `nsadmin.operations.drain.events`.
"""

from collections.abc import Callable
from typing import NamedTuple

from nsadmin.operations.drain.events import EventRecord
from nsadmin.operations.drain.state import to_camel_case
from nsadmin.operations.restart.state import BrokerProcess, process_title


class Began(NamedTuple):
    """A rolling restart begins or resumes. `left` are the groups still to restart."""

    time: int
    cluster: str
    left: tuple[str, ...]
    resumed: bool


class StepBegan(NamedTuple):
    """A step of a process begins: drain, stop, start, wait or undrain."""

    time: int
    broker: str
    broker_id: int
    addr: str
    step: str


class Waiting(NamedTuple):
    """A process is not healthy yet. `waiting_for` says what is missing."""

    time: int
    broker: str
    broker_id: int
    waiting_for: tuple[str, ...]


class Restarted(NamedTuple):
    """A process is healthy again. If it is a master, its whole group is."""

    time: int
    broker: str
    broker_id: int
    seconds: int


class Paused(NamedTuple):
    """The requested number of groups is done. The next start of the command resumes with `left`."""

    time: int
    left: tuple[str, ...]


class Stopped(NamedTuple):
    """The restart ended with an error. The next start of the command resumes."""

    time: int
    reason: str


class Finished(NamedTuple):
    """All processes of the cluster are restarted."""

    time: int
    cluster: str
    processes: int


RestartEvent = Began | StepBegan | Waiting | Restarted | Paused | Stopped | Finished


def build_event_record(restart_event: RestartEvent) -> EventRecord:
    """Return an event in its JSON form."""
    class_name = type(restart_event).__name__
    record_fields = {
        to_camel_case(field_name): list(field_value) if isinstance(field_value, tuple) else field_value
        for field_name, field_value in restart_event._asdict().items()
    }
    return {
        "time": record_fields.pop("time"),
        "event": class_name[0].lower() + class_name[1:],
        **record_fields,
    }


def describe_record(record: EventRecord) -> str | None:
    """Describe a record in one line; None for a record of a drain."""
    describe_event = _DESCRIBERS.get(record["event"])
    return None if describe_event is None else describe_event(record)


def _describe_process(record: EventRecord) -> str:
    return process_title(BrokerProcess(record["broker"], record["brokerId"], ""))


_DESCRIBERS: dict[str, Callable[[EventRecord], str]] = {
    "began": lambda record: (
        f"{'resuming the restart of' if record['resumed'] else 'restarting'} {record['cluster']}: "
        f"{', '.join(record['left'])}"
    ),
    "stepBegan": lambda record: f"{_describe_process(record)} at {record['addr']}: {record['step']}",
    "waiting": lambda record: f"{_describe_process(record)} is waiting for {'; '.join(record['waitingFor'])}",
    "restarted": lambda record: f"{_describe_process(record)} is healthy again, after {record['seconds']} s",
    "paused": lambda record: f"paused before {', '.join(record['left'])}; run the command again to continue",
    "stopped": lambda record: f"stopped: {record['reason']}",
    "finished": lambda record: f"{record['cluster']}: {record['processes']} brokers restarted",
}
