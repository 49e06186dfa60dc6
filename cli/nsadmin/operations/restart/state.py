"""State: which brokers are restarted in which order, and how far it has come, as a file has it. Pure."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.operations.drain.state import BadState

VERSION = 1
Step = Literal["drain", "stop", "start", "wait", "undrain"]
_OF_MASTERS: tuple[Step, ...] = get_args(Step)
_OF_SLAVES: tuple[Step, ...] = ("stop", "start", "wait")


class Process(NamedTuple):
    """One broker process."""

    broker: str
    broker_id: int
    addr: str

    @property
    def is_master(self) -> bool:
        return self.broker_id == MASTER_ID

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done with it; slaves take no writes."""
        return _OF_MASTERS if self.is_master else _OF_SLAVES


class State(NamedTuple):
    """A rolling restart: `at` is the process that is restarted now, by its place in the order.

    `boot` is when that process was started before it was stopped (ms since 1970).
    """

    cluster: str
    processes: tuple[Process, ...]
    started: int
    at: int = 0
    step: Step = "stop"
    boot: int | None = None

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.processes)

    @property
    def process(self) -> Process:
        """The one that is restarted now."""
        return self.processes[self.at]

    @property
    def before(self) -> Process | None:
        """The one that was restarted last."""
        return self.processes[self.at - 1] if self.at else None

    def next(self) -> "State":
        """With one step more behind it."""
        steps = self.process.steps
        behind = steps.index(self.step) + 1
        if behind < len(steps):
            return self._replace(step=steps[behind])
        return beginning(self._replace(at=self.at + 1))


def beginning(state: State) -> State:
    """At the first step of the process that is next, if there is one."""
    return state if state.is_done else state._replace(step=state.process.steps[0], boot=None)


def ordered(groups: Mapping[str, Mapping[int, str]]) -> tuple[Process, ...]:
    """One group after the other, slaves before their master: addresses by broker name and id."""
    return tuple(
        Process(name, number, groups[name][number])
        for name in sorted(groups)
        for number in sorted(groups[name], reverse=True)
    )


def groups_left(state: State) -> list[str]:
    """The groups that have a process which was not restarted yet, in order."""
    return list(dict.fromkeys(process.broker for process in state.processes[state.at :]))


def record(state: State) -> dict[str, Any]:
    """As a file has it."""
    fields = state._asdict()
    return {
        "version": VERSION,
        **fields,
        "processes": [process._asdict() for process in state.processes],
    }


def state_of(value: Any) -> State:
    """What `record` made. BadState."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise BadState("it is no rolling restart that this program knows")
    try:
        processes = tuple(Process(**item) for item in value["processes"])
        found = State(
            **{name: value[name] for name in State._fields if name != "processes"}, processes=processes
        )
    except (KeyError, TypeError) as error:
        raise BadState(f"it is no rolling restart: {error}") from None
    if not found.is_done and found.step not in found.process.steps:
        raise BadState(f"it is at a step {found.step!r} that nobody knows")
    return found


def name(process: Process) -> str:
    """ "broker-a", or "broker-a (slave 1)"."""
    return process.broker if process.is_master else f"{process.broker} (slave {process.broker_id})"
