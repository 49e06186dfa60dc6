"""The state of a rebalance run, and its JSON form. Pure. Times are ms since 1970."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nsadmin.operations.drain.state import InvalidStateError, to_camel_case
from nsadmin.operations.rebalance.move_stages import STAGE_KINDS, MoveStage
from nsadmin.operations.rebalance.rebalance_plan import QueuePair

STATE_VERSION = 1


class TopicProgress(NamedTuple):
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
    position: int = 0
    since: int = 0
    routed_since: int | None = None
    was_ordered: bool = False
    start: Mapping[str, QueuePair] = {}
    is_turning: bool = False

    @property
    def stage(self) -> MoveStage | None:
        """The current stage; None before the first observation and after the last stage."""
        return self.stages[self.position] if self.position < len(self.stages) else None


class RunState(NamedTuple):
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


def build_state_record(run_state: RunState) -> dict[str, Any]:
    """Return a state in its JSON form."""
    return {
        "version": STATE_VERSION,
        **_camel_keys(run_state),
        "moving": {topic: _progress_record(progress) for topic, progress in run_state.moving.items()},
    }


def parse_state_record(state_json: Any) -> RunState:
    """Parse the result of `build_state_record`. Raises InvalidStateError."""
    if not isinstance(state_json, dict) or state_json.get("version") != STATE_VERSION:
        raise InvalidStateError("not a rebalance, or from another version of nsadmin")
    try:
        fields = {name: state_json[to_camel_case(name)] for name in RunState._fields}
        return RunState(
            **fields
            | {name: tuple(fields[name]) for name in ("name_servers", "moved", "returned")}
            | {
                "moving": {topic: _parse_progress(record) for topic, record in fields["moving"].items()},
                "waiting": {topic: tuple(texts) for topic, texts in fields["waiting"].items()},
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidStateError(f"not a rebalance: {error}") from None


def _progress_record(progress: TopicProgress) -> dict[str, Any]:
    return {
        **_camel_keys(progress),
        "stages": [_camel_keys(stage) for stage in progress.stages],
    }


def _parse_progress(record: Mapping[str, Any]) -> TopicProgress:
    fields = {name: record[to_camel_case(name)] for name in TopicProgress._fields}
    return TopicProgress(
        **fields
        | {
            "stages": tuple(_parse_stage(stage_record) for stage_record in record["stages"]),
            "start": _parse_counts(record["start"]),
        }
    )


def _parse_stage(record: Mapping[str, Any]) -> MoveStage:
    if record["kind"] not in STAGE_KINDS:
        raise ValueError(f"unknown stage {record['kind']}")
    fields = {name: record[to_camel_case(name)] for name in MoveStage._fields}
    return MoveStage(
        **fields
        | {
            "counts": _parse_counts(record["counts"]),
            "deletes_on": tuple(record["deletesOn"]),
        }
    )


def _parse_counts(record: Mapping[str, Any]) -> dict[str, QueuePair]:
    return {broker: QueuePair(*queues) for broker, queues in record.items()}


def _camel_keys(record: Any) -> dict[str, Any]:
    return {to_camel_case(name): value for name, value in record._asdict().items()}
