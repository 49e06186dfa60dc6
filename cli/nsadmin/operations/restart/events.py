"""What a rolling restart tells while it runs: a value for each thing that happened.

Each is a record in JSON, and a line of words. `time` is in ms since 1970. What its drains tell is theirs.
"""

from collections.abc import Callable
from typing import NamedTuple

from nsadmin.operations.drain.events import Record
from nsadmin.operations.drain.state import camel
from nsadmin.operations.restart.state import Process, name


class Began(NamedTuple):
    """A rolling restart begins, or goes on: `left` are the groups that are still to be restarted."""

    time: int
    cluster: str
    left: tuple[str, ...]
    resumed: bool


class StepBegan(NamedTuple):
    """A step with a process: drain, stop, start, wait or undrain."""

    time: int
    broker: str
    broker_id: int
    addr: str
    step: str


class Waiting(NamedTuple):
    """What a process lacks to be healthy again."""

    time: int
    broker: str
    broker_id: int
    waiting_for: tuple[str, ...]


class Restarted(NamedTuple):
    """A process is healthy again, or, with its master, a group."""

    time: int
    broker: str
    broker_id: int
    seconds: int


class Paused(NamedTuple):
    """As many groups as wanted are done; started again, it goes on with these."""

    time: int
    left: tuple[str, ...]


class Finished(NamedTuple):
    """All of them are restarted."""

    time: int
    cluster: str
    processes: int


Event = Began | StepBegan | Waiting | Restarted | Paused | Finished


def told(event: Event) -> Record:
    """An event as JSON has it."""
    kind = type(event).__name__
    fields = {camel(field): list(v) if isinstance(v, tuple) else v for field, v in event._asdict().items()}
    return {"time": fields.pop("time"), "event": kind[0].lower() + kind[1:], **fields}


def words(item: Record) -> str | None:
    """A record in a line; None for one of a drain."""
    said = _WORDS.get(item["event"])
    return None if said is None else said(item)


def _process(item: Record) -> str:
    return name(Process(item["broker"], item["brokerId"], ""))


_WORDS: dict[str, Callable[[Record], str]] = {
    "began": lambda item: (
        f"{'goes on with' if item['resumed'] else 'restarts'} {item['cluster']}: {', '.join(item['left'])}"
    ),
    "stepBegan": lambda item: f"{_process(item)} at {item['addr']}: {item['step']}",
    "waiting": lambda item: f"{_process(item)} waits for {'; '.join(item['waitingFor'])}",
    "restarted": lambda item: f"{_process(item)} is healthy again, after {item['seconds']} s",
    "paused": lambda item: f"paused before {', '.join(item['left'])}; start it again to go on",
    "finished": lambda item: f"{item['cluster']}: {item['processes']} brokers were restarted",
}
