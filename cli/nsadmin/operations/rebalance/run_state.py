"""The state of a rebalance run, and the folder that has it. Times are ms since 1970."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from namesrv_core import private_files
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.installation import OwnedState
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from nsadmin.operations.process_lock import name_process
from nsadmin.operations.rebalance.move_stages import MoveStage
from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    format_rebalance_plan,
    load_rebalance_plan,
)
from nsadmin.operations.run_folder import (
    LOCK_FILE,
    STATE_FILE,
    InvalidStateError,
    RunFolder,
    SavedRecord,
    SavedRun,
    load_all,
)
from nsadmin.operations.state_folder import escape_file_name, list_homes

PLAN_FILE = "plan.yaml"


class TopicProgress(SavedRecord, frozen=True):
    """A topic that is moving.

    Attributes:
        stages: Its stages; () until the first observation.
        position: The index of the current stage.
        since: When the current stage began.
        routed_since: When all servers had what the stage wants; None until then.
        was_ordered: Whether brokers had it marked as ordered before the move.
        start: The queues by broker when its stages were made.
        is_turning: Whether a rollback began, and it goes back once its stage allows that.
    """

    stages: tuple[MoveStage, ...] = ()
    position: Annotated[int, Meta(ge=0)] = 0
    since: int = 0
    routed_since: int | None = None
    was_ordered: bool = False
    start: Mapping[str, QueuePair] = {}
    is_turning: bool = False

    @property
    def stage(self) -> MoveStage | None:
        """The current stage; None before the first observation and after the last stage."""
        return self.stages[self.position] if self.position < len(self.stages) else None


class RunState(OwnedState, frozen=True):
    """A rebalance run.

    Attributes:
        digest: The digest of the plan.
        cluster_queues: The writable queues of the cluster when the run began, for `max_share`.
        has_groups: Whether the missing groups exist.
        is_rollback: Whether the topics go back to where they were.
        moving: The topics in motion.
        moved: The topics that are where the plan wants them.
        returned: The topics that are back, during a rollback.
        confs_before: Topic to its order configuration before its move, "" for none.
        pause: Why the run paused itself; None if it did not.
        finished: When it finished; None before.
        waiting: Topic to what it waits for, as texts, at the last observation.
    """

    cluster: str
    digest: str
    name_servers: tuple[str, ...]
    started: int
    updated: int
    by: str = ""
    cluster_queues: int = 0
    has_groups: bool = False
    is_rollback: bool = False
    moving: Mapping[str, TopicProgress] = {}
    moved: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    confs_before: Mapping[str, str] = {}
    pause: str | None = None
    finished: int | None = None
    waiting: Mapping[str, tuple[str, ...]] = {}

    @property
    def phase(self) -> str:
        """ "running", "paused", "rollingBack", "done" or "rolledBack"."""
        if self.finished is not None:
            return "rolledBack" if self.is_rollback else "done"
        if self.pause is not None:
            return "paused"
        return "rollingBack" if self.is_rollback else "running"

    def describe_phase(self, holder_pid: int | None) -> str:
        """Return the phase; "interrupted" if no process carries it on."""
        is_interrupted = holder_pid is None and self.phase in ("running", "rollingBack")
        return "interrupted" if is_interrupted else self.phase


class RebalanceFolder(RunFolder[RunState]):
    """The folder of one run, with a copy of its plan. The lock is the cluster's."""

    def __init__(self, path: Path) -> None:
        super().__init__(RunState, path / "state.json", lock_file=path.parent / LOCK_FILE)
        self.plan_file = path / PLAN_FILE

    def archive(self) -> None:
        """Rename the folder of a run that was rolled back, so that the plan can run again."""
        state = self.state.load()
        if state is not None:
            self.path.rename(self.path.with_name(f"{self.path.name}-{state.started}"))

    def save_plan(self, plan: RebalancePlan) -> None:
        """Keep a copy of the plan, for a rollback without the plan's file."""
        private_files.make_folder(self.path, 0o700)
        self.replace_text(PLAN_FILE, format_rebalance_plan(plan))


def open_rebalance(state_home: Path, cluster: str, plan_digest: str) -> RebalanceFolder:
    """Return the folder of the run of a plan in one of the homes."""
    return RebalanceFolder(state_home / "rebalances" / escape_file_name(cluster) / plan_digest)


def load_rebalances(
    state_home: Path, cluster: str | None = None
) -> Iterator[SavedRun[RunState] | InvalidStateError]:
    """Yield every run by cluster and start time; first an InvalidStateError for each invalid folder."""
    pattern = "*" if cluster is None else escape_file_name(cluster)
    pattern = f"rebalances/{pattern}/*/{STATE_FILE}"
    state_files = [f for home in list_homes(state_home) for f in sorted(home.glob(pattern))]
    saved_runs = []
    for saved in load_all(RebalanceFolder(file.parent) for file in state_files):
        if isinstance(saved, InvalidStateError):
            yield saved
        else:
            # The process that has the lock of the cluster runs one that is not finished.
            saved_runs.append(saved if saved.state.finished is None else saved._replace(holder_pid=None))
    yield from sorted(saved_runs, key=lambda saved: (saved.state.cluster, saved.state.started))


def explain_open_run(saved: SavedRun[RunState]) -> str:
    """Say which topics of an unfinished run are in motion, and how to end it."""
    state = saved.state
    topics = abbreviate_names(sorted(state.moving), 5) or "no topic"
    if saved.holder_pid is not None:
        return (
            f"{name_process(saved.holder_pid)} rebalances {state.cluster}, with {topics} in motion: "
            f"wait until `{state.advise('rebalance', 'status')}` shows that it is done"
        )
    plan_file = saved.folder.path / PLAN_FILE
    has_ordered = any(move.is_ordered for move in _load_moves(saved))
    resume = ["rebalance", "run", str(plan_file), *(["--ordered"] if has_ordered else [])]
    undo = state.advise(*resume, "--rollback")
    how = (
        f"`{undo}` resumes it"
        if state.is_rollback
        else f"`{state.advise(*resume)}` resumes it, `{undo}` undoes it"
    )
    what = "a rollback" if state.is_rollback else "a rebalance"
    return f"{what} of {state.cluster} is {state.describe_phase(None)}, with {topics} in motion: {how}"


def _load_moves(saved: SavedRun[RunState]) -> Sequence[RebalanceMove]:
    # A run without a readable copy of its plan cannot be resumed with it.
    with suppress(OSError, InvalidPlanFileError):
        return load_rebalance_plan(saved.folder.path / PLAN_FILE).moves
    return ()


def explain_awaited_run(
    runs: Iterable[SavedRun[RunState] | InvalidStateError], topics: Collection[str]
) -> str | None:
    """Explain the unfinished run whose plan has one of these topics; None if there is none."""
    for saved in runs:
        if isinstance(saved, InvalidStateError) or saved.state.finished is not None:
            continue
        if {*saved.state.moving, *(move.topic for move in _load_moves(saved))} & set(topics):
            return explain_open_run(saved)
    return None


def explain_rebalance_conflicts(
    runs: Iterable[SavedRun[RunState] | InvalidStateError], topics: Collection[str]
) -> Iterator[str]:
    """Yield a line for each unfinished run that moves or moved one of these topics."""
    for saved in runs:
        if isinstance(saved, InvalidStateError):
            yield str(saved)
            continue
        state = saved.state
        changed = sorted({*state.moving, *state.moved} & set(topics))
        if state.finished is None and changed:
            yield f"this changes {abbreviate_names(changed, 5)}; {explain_open_run(saved)}"
