"""The state of a rolling restart and its JSON form: the order of processes, and the progress. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.operations.drain.state import InvalidStateError, SavedRecord, parse_saved

RestartStep = Literal["drain", "stop", "start", "wait", "undrain"]
_MASTER_STEPS: tuple[RestartStep, ...] = get_args(RestartStep)
_SLAVE_STEPS: tuple[RestartStep, ...] = ("stop", "start", "wait")


class BrokerProcess(SavedRecord, frozen=True):
    """One broker process."""

    broker: str
    broker_id: int
    addr: str

    @property
    def is_master(self) -> bool:
        return self.broker_id == MASTER_BROKER_ID

    @property
    def restart_steps(self) -> tuple[RestartStep, ...]:
        """The steps of its restart. A slave is not drained, because it takes no writes."""
        return _MASTER_STEPS if self.is_master else _SLAVE_STEPS


class RestartState(SavedRecord, frozen=True):
    """A rolling restart. `at` is the index of the current process.

    `boot` is the boot time of that process before its stop, in ms since 1970. `stop_command` and
    `start_command` are the operator's shell commands, with which the TUI offers to resume.
    """

    cluster: str
    processes: tuple[BrokerProcess, ...]
    started: int
    at: Annotated[int, Meta(ge=0)] = 0
    step: RestartStep = "stop"
    boot: int | None = None
    stop_command: str = ""
    start_command: str = ""
    by: str = ""

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.processes)

    @property
    def current_process(self) -> BrokerProcess:
        """The process that is being restarted."""
        return self.processes[self.at]

    @property
    def previous_process(self) -> BrokerProcess | None:
        """The process that was restarted last."""
        return self.processes[self.at - 1] if self.at else None

    def advance_step(self) -> "RestartState":
        """Return the state after the current step."""
        process_steps = self.current_process.restart_steps
        steps_done = process_steps.index(self.step) + 1
        if steps_done < len(process_steps):
            return self._replace(step=process_steps[steps_done])
        return start_process(self._replace(at=self.at + 1))


_OPTIONAL_FIELDS = ("stop_command", "start_command", "by")
"""Files of earlier releases lack them."""


def start_process(restart_state: RestartState) -> RestartState:
    """Return the state at the first step of its current process; unchanged if the restart is done."""
    return (
        restart_state
        if restart_state.is_done
        else restart_state._replace(step=restart_state.current_process.restart_steps[0], boot=None)
    )


def order_processes(addrs_by_group: Mapping[str, Mapping[int, str]]) -> tuple[BrokerProcess, ...]:
    """Return the processes group by group, slaves before their master."""
    return tuple(
        BrokerProcess(broker_name, broker_id, addrs_by_group[broker_name][broker_id])
        for broker_name in sorted(addrs_by_group)
        for broker_id in sorted(addrs_by_group[broker_name], reverse=True)
    )


def list_remaining_groups(restart_state: RestartState) -> list[str]:
    """Return the groups with a process that is not restarted yet, in order."""
    return list(
        dict.fromkeys(broker_process.broker for broker_process in restart_state.processes[restart_state.at :])
    )


def parse_state_record(state_json: Any) -> RestartState:
    """Parse the JSON form of a restart. Raises InvalidStateError."""
    restart_state = parse_saved(state_json, RestartState, _OPTIONAL_FIELDS)
    if not restart_state.is_done and restart_state.step not in restart_state.current_process.restart_steps:
        raise InvalidStateError(f'invalid step "{restart_state.step}"')
    return restart_state


def process_title(broker_process: BrokerProcess) -> str:
    """Return a display name, such as "broker-a" or "broker-a (slave 1)"."""
    return (
        broker_process.broker
        if broker_process.is_master
        else f"{broker_process.broker} (slave {broker_process.broker_id})"
    )
