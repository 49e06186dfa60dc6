"""The events of a rolling restart, as JSON records and as lines of text.

`time` is in ms since 1970. The drains of a restart emit the events of `nsadmin.operations.drain.events`.
"""

from collections.abc import Callable, Iterable

from nsadmin.console.phrases import count_noun
from nsadmin.operations.restart.state import BrokerProcess, process_title
from nsadmin.operations.run_folder import EventRecord, RunEvent


class Began(RunEvent, frozen=True):
    """A rolling restart begins or resumes. `left` are the groups still to restart."""

    cluster: str
    left: tuple[str, ...]
    resumed: bool


class StepBegan(RunEvent, frozen=True):
    """A step of a process begins: drain, stop, start, wait or undrain."""

    broker: str
    broker_id: int
    addr: str
    step: str


class Waiting(RunEvent, frozen=True):
    """A process is not healthy yet. `waiting_for` says what is missing."""

    broker: str
    broker_id: int
    waiting_for: tuple[str, ...]


class Restarted(RunEvent, frozen=True):
    """A process is healthy again. If it is a master, its whole group is."""

    broker: str
    broker_id: int
    seconds: int


class Paused(RunEvent, frozen=True):
    """The requested number of groups is done. The next start of the command resumes with `left`."""

    left: tuple[str, ...]


class Stopped(RunEvent, frozen=True):
    """The restart ended with an error. The next start of the command resumes."""

    reason: str


class Finished(RunEvent, frozen=True):
    """All processes of the cluster are restarted."""

    cluster: str
    processes: int


def describe_record(record: EventRecord) -> str | None:
    """Describe a record in one line; None for a record of a drain."""
    describe_event = _DESCRIBERS.get(record["event"])
    return None if describe_event is None else describe_event(record)


def join_conditions(conditions: Iterable[str]) -> str:
    """Join missing conditions to what follows "waiting for"."""
    return ", and for ".join(conditions)


def _describe_process(record: EventRecord) -> str:
    return process_title(BrokerProcess(record["broker"], record["brokerId"], ""))


_STEP_TEXTS = {
    "drain": "draining it",
    "stop": "stopping it",
    "start": "starting it",
    "wait": "waiting until it is healthy",
    "undrain": "allowing writes again",
}
_DESCRIBERS: dict[str, Callable[[EventRecord], str]] = {
    "began": lambda record: (
        f"{'resuming the restart of' if record['resumed'] else 'restarting'} {record['cluster']}: "
        f"{', '.join(record['left'])}"
    ),
    "stepBegan": lambda record: (
        f"{_describe_process(record)} at {record['addr']}: {_STEP_TEXTS[record['step']]}"
    ),
    "waiting": lambda record: (
        f"{_describe_process(record)} is not healthy yet: waiting for {join_conditions(record['waitingFor'])}"
    ),
    "restarted": lambda record: f"{_describe_process(record)} is healthy again, after {record['seconds']} s",
    "paused": lambda record: f"paused before {', '.join(record['left'])}; run the command again to continue",
    "stopped": lambda record: f"stopped: {record['reason']}",
    "finished": lambda record: f"{record['cluster']}: {count_noun(record['processes'], 'broker')} restarted",
}
