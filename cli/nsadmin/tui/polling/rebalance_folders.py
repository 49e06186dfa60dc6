"""The unfinished rebalances of this account on this machine, as records of a poll."""

from pathlib import Path

from nsadmin.operations.rebalance.run_state import PLAN_FILE, RunState, TopicProgress, load_rebalances
from nsadmin.operations.run_folder import InvalidStateError, SavedRun
from nsadmin.tui.polling.poll_records import MovingTopicRecord, RebalanceRecord


def list_rebalances(state_home: Path) -> tuple[list[RebalanceRecord], list[str]]:
    """Return the unfinished rebalances, and the errors of folders that cannot be read."""
    records, error_texts = [], []
    for saved_run in load_rebalances(state_home):
        if isinstance(saved_run, InvalidStateError):
            error_texts.append(str(saved_run))
        elif saved_run.state.finished is None:
            records.append(_record_of_run(saved_run))
    return records, error_texts


def _record_of_run(saved_run: SavedRun[RunState]) -> RebalanceRecord:
    run_state = saved_run.state
    return RebalanceRecord(
        run_state.cluster,
        run_state.digest,
        run_state.phase,
        run_state.started,
        run_state.by,
        saved_run.holder_pid,
        len(run_state.returned if run_state.is_rollback else run_state.moved),
        run_state.pause,
        str(saved_run.folder.path / PLAN_FILE),
        [
            _record_of_topic(topic, progress, run_state)
            for topic, progress in sorted(run_state.moving.items())
        ],
    )


def _record_of_topic(topic: str, progress: TopicProgress, run_state: RunState) -> MovingTopicRecord:
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
        run_state.waiting.get(topic, ()),
    )
