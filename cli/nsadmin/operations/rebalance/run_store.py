"""The folder of a rebalance run: its plan, its state, its events, and the lock of the cluster.

Rule: saved data survives a kill at any moment, and at most one process of this machine rebalances a cluster.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import private_files
from nsadmin.operations.drain.state import InvalidStateError, build_state_record
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.rebalance.rebalance_plan import (
    RebalancePlan,
    load_rebalance_plan,
    save_rebalance_plan,
)
from nsadmin.operations.rebalance.run_state import RunState, parse_state_record
from nsadmin.operations.state_file import append_event_record, read_state_file, write_state_file
from nsadmin.operations.state_folder import escape_file_name

STATE_FILE, PLAN_FILE, EVENTS_FILE, LOCK_FILE = "state.json", "plan.yaml", "events.jsonl", "lock"


class SavedRun(NamedTuple):
    """A run as loaded from its folder. `holder_pid` is the process that rebalances its cluster now."""

    run_folder: Path
    run_state: RunState
    holder_pid: int | None


def cluster_folder_of(state_home: Path, cluster_name: str) -> Path:
    """Return the folder of a cluster's runs."""
    return state_home / "rebalances" / escape_file_name(cluster_name)


class RunStore:
    """The folder of one run. Raises OSError if it is not writable, InvalidStateError if it is invalid."""

    def __init__(self, state_home: Path, cluster_name: str, plan_digest: str) -> None:
        cluster_folder = cluster_folder_of(state_home, cluster_name)
        self.run_folder = cluster_folder / plan_digest
        self._lock = ProcessLock(cluster_folder / LOCK_FILE)
        self._last_saved: RunState | None = None

    def try_lock(self) -> bool:
        """Lock the cluster; return False if another process holds the lock."""
        return self._lock.acquire_lock()

    def release_lock(self) -> None:
        """Release the lock of the cluster."""
        self._lock.release_lock()

    @property
    def holder_pid(self) -> int | None:
        """The process that holds the lock; None if it is free."""
        return self._lock.owner_pid

    def load_state(self) -> RunState | None:
        """Return the saved state; None if this plan was not run."""
        return read_state_file(self.run_folder / STATE_FILE, parse_state_record)

    def save_state(self, run_state: RunState) -> None:
        """Save the state if it changed."""
        if self._last_saved is None or run_state._replace(updated=0) != self._last_saved._replace(updated=0):
            write_state_file(self.run_folder / STATE_FILE, build_state_record(run_state))
        self._last_saved = run_state

    def archive_run(self) -> None:
        """Rename the folder of a run that was rolled back, so that the plan can run again."""
        run_state = self.load_state()
        if run_state is not None:
            self.run_folder.rename(self.run_folder.with_name(f"{self.run_folder.name}-{run_state.started}"))

    def save_plan(self, plan: RebalancePlan) -> None:
        """Keep a copy of the plan, for a rollback without the plan's file."""
        private_files.make_folder(self.run_folder, 0o700)
        save_rebalance_plan(plan, self.run_folder / PLAN_FILE)

    def load_plan(self) -> RebalancePlan:
        """Return the copy of the plan. Raises OSError or InvalidPlanFileError."""
        return load_rebalance_plan(self.run_folder / PLAN_FILE)

    def append_event(self, event_record: Mapping[str, Any]) -> None:
        """Append an event to the file of events."""
        append_event_record(self.run_folder / EVENTS_FILE, event_record)


def load_runs(state_home: Path, cluster_name: str | None = None) -> Iterator[SavedRun | InvalidStateError]:
    """Yield every run by cluster and start time; an InvalidStateError for an invalid folder."""
    folder_pattern = "*" if cluster_name is None else escape_file_name(cluster_name)
    saved_runs: list[SavedRun] = []
    for state_file in sorted((state_home / "rebalances").glob(f"{folder_pattern}/*/{STATE_FILE}")):
        try:
            run_state = read_state_file(state_file, parse_state_record)
        except InvalidStateError as error:
            yield error
            continue
        if run_state is not None:
            lock = ProcessLock(state_file.parent.parent / LOCK_FILE)
            is_open = run_state.finished is None
            saved_runs.append(SavedRun(state_file.parent, run_state, lock.owner_pid if is_open else None))
    yield from sorted(saved_runs, key=lambda run: (run.run_state.cluster, run.run_state.started))
