"""The state of a rebalance run, and its JSON form. Pure. Times are ms since 1970."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from nsadmin.operations.drain.state import InvalidStateError, SavedRecord, parse_saved
from nsadmin.operations.rebalance.move_stages import STAGE_KINDS, MoveStage
from nsadmin.operations.rebalance.rebalance_plan import QueuePair


class TopicProgress(SavedRecord, frozen=True, rename="camel"):
    """A topic that is moving.

    Attributes:
        stages: Its stages; () until the first observation.
        position: The index of the current stage.
        since: When the current stage began.
        routed_since: When all servers had what the stage wants; None until then.
        was_ordered: Whether brokers had it marked as ordered before the move.
        start: The queues by broker when its stages were made.
        is_turning: Whether it goes back after the next READ_ON stage: a rollback began during a switch.
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


class RunState(SavedRecord, frozen=True, rename="camel"):
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


def parse_state_record(state_json: Any) -> RunState:
    """Parse the JSON form of a run. Raises InvalidStateError."""
    run_state = parse_saved(state_json, RunState)
    for progress in run_state.moving.values():
        for stage in progress.stages:
            if stage.kind not in STAGE_KINDS:
                raise InvalidStateError(f"unknown stage {stage.kind}")
    return run_state
