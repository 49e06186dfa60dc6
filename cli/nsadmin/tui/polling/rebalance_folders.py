"""The unfinished rebalances of this account on this machine, as records of a poll."""

from collections.abc import Iterable

from nsadmin.operations.rebalance.run_state import PLAN_FILE, RunState, TopicProgress
from nsadmin.operations.run_folder import InvalidStateError, SavedRun
from nsadmin.tui.polling.poll_records import MovingTopicRecord, RebalanceRecord


def list_rebalances(
    saved_runs: Iterable[SavedRun[RunState] | InvalidStateError],
) -> tuple[list[RebalanceRecord], list[str]]:
    """Return the unfinished rebalances, and the errors of folders that cannot be read."""
    records, errors = [], []
    for saved in saved_runs:
        if isinstance(saved, InvalidStateError):
            errors.append(str(saved))
        elif saved.state.finished is None:
            records.append(_record_of_run(saved))
    return records, errors


def _record_of_run(saved: SavedRun[RunState]) -> RebalanceRecord:
    state = saved.state
    return RebalanceRecord(
        state.cluster,
        state.digest,
        state.describe_phase(saved.holder_pid),
        state.started,
        state.by,
        saved.holder_pid,
        len(state.returned if state.is_rollback else state.moved),
        state.pause,
        str(saved.folder.path / PLAN_FILE),
        [_record_of_topic(topic, progress, state) for topic, progress in sorted(state.moving.items())],
    )


def _record_of_topic(topic: str, progress: TopicProgress, state: RunState) -> MovingTopicRecord:
    stage = progress.stage
    return MovingTopicRecord(
        topic,
        "" if stage is None else stage.kind,
        progress.position + 1,
        len(progress.stages),
        progress.since,
        {}
        if stage is None
        else {broker: (queues.read, queues.write) for broker, queues in sorted(stage.counts.items())},
        state.waiting.get(topic, ()),
    )
