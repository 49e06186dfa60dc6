"""The state of a rolling restart: the order of processes, and the progress; and where it is saved."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from msgspec import Meta

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.operations.installation import OwnedState
from nsadmin.operations.run_folder import InvalidStateError, RunFolder, SavedRecord, SavedRun, load_all
from nsadmin.operations.state_folder import escape_file_name, list_homes

RestartStep = Literal["drain", "stop", "start", "wait", "undrain"]
_MASTER_STEPS: tuple[RestartStep, ...] = get_args(RestartStep)
_SLAVE_STEPS: tuple[RestartStep, ...] = ("stop", "start", "wait")


class BrokerProcess(SavedRecord, frozen=True, rename=None):
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


class RestartState(OwnedState, frozen=True, rename=None):
    """A rolling restart. `at` is the index of the current process.

    `boot` is the boot time of that process before its stop, in ms since 1970. `stop_command` and
    `start_command` are the operator's shell commands, with which the TUI offers to resume.
    """

    later_fields: ClassVar = (
        *OwnedState.later_fields,
        "name_servers",
        "stop_command",
        "start_command",
        "by",
    )

    cluster: str
    processes: tuple[BrokerProcess, ...]
    started: int
    at: Annotated[int, Meta(ge=0)] = 0
    step: RestartStep = "stop"
    boot: int | None = None
    stop_command: str = ""
    start_command: str = ""
    by: str = ""
    name_servers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.is_done and self.step not in self.current_process.restart_steps:
            raise ValueError(f'invalid step "{self.step}"')

    @property
    def known_brokers(self) -> tuple[str, ...]:
        return self.brokers or tuple(process.addr for process in self.processes)

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
        next_processes = self.processes[self.at + 1 :]
        if not next_processes:
            return self._replace(at=self.at + 1)
        return self._replace(at=self.at + 1, step=next_processes[0].restart_steps[0], boot=None)


def plan_restart(cluster: str, addrs: Mapping[str, Mapping[int, str]], now_ms: int) -> RestartState:
    """Return the first state, with all processes in the order of their restart."""
    processes = order_processes(addrs)
    first_step = processes[0].restart_steps[0] if processes else "stop"
    return RestartState(cluster, processes, now_ms, step=first_step)


def order_processes(addrs: Mapping[str, Mapping[int, str]]) -> tuple[BrokerProcess, ...]:
    """Return the processes group by group, slaves before their master."""
    return tuple(
        BrokerProcess(broker, broker_id, addrs[broker][broker_id])
        for broker in sorted(addrs)
        for broker_id in sorted(addrs[broker], reverse=True)
    )


def list_remaining_groups(state: RestartState) -> list[str]:
    """Return the groups with a process that is not restarted yet, in order."""
    return list(dict.fromkeys(process.broker for process in state.processes[state.at :]))


def process_title(process: BrokerProcess) -> str:
    """Return a display name, such as "broker-a" or "broker-a (slave 1)"."""
    return process.broker if process.is_master else f"{process.broker} (slave {process.broker_id})"


def open_restart(state_home: Path, cluster: str) -> RunFolder[RestartState]:
    """Return where the restart of a cluster is saved: files of its own in the folder of all restarts."""
    return _open_files(state_home / "restarts" / f"{escape_file_name(cluster)}.json")


def _open_files(state_file: Path) -> RunFolder[RestartState]:
    return RunFolder(
        RestartState,
        state_file,
        events_file=state_file.with_suffix(".events.jsonl"),
        lock_file=state_file.with_suffix(".lock"),
    )


def load_restarts(state_home: Path) -> Iterator[SavedRun[RestartState] | InvalidStateError]:
    """Yield every restart that is not finished, or an InvalidStateError for an invalid file."""
    state_files = [f for home in list_homes(state_home) for f in sorted(home.glob("restarts/*.json"))]
    return load_all(map(_open_files, state_files))
