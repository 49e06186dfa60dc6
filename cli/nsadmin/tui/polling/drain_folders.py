"""The drains, rolling restarts and rebalances of this account on this machine, read as a poll."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.drain import events as drain_events
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.installation import Installation
from nsadmin.operations.rebalance.run_state import PLAN_FILE, RunState, TopicProgress, load_rebalances
from nsadmin.operations.restart import events as restart_events
from nsadmin.operations.restart.state import RestartState, load_restarts, process_title
from nsadmin.operations.run_folder import InvalidStateError, RecordFile, SavedRun
from nsadmin.tui.polling.poll_records import (
    DrainRecord,
    DrainsPolled,
    MovingTopicRecord,
    RebalanceRecord,
    RestartRecord,
)

R = TypeVar("R", bound=SavedDrain | SavedRun[Any])
_TAIL_BYTES = 16_384
_MAX_LOG_LINES = 100


def poll_drains(clock: Callable[[], int], installation: Installation) -> DrainsPolled:
    """Read the drains that `undrain` has not ended, and the unfinished restarts and rebalances."""
    state_home, errors = installation.state_home, list[str]()

    def read_own(saved_runs: Iterable[R | InvalidStateError]) -> Iterator[R]:
        for saved in installation.keep_own(saved_runs):
            if isinstance(saved, InvalidStateError):
                errors.append(str(saved))
            else:
                yield saved

    drains = [_drain_record(saved) for saved in read_own(load_drains(state_home))]
    restarts = [_restart_record(r) for r in read_own(load_restarts(state_home)) if not r.state.is_done]
    runs = read_own(load_rebalances(state_home))
    rebalances = [_rebalance_record(saved) for saved in runs if saved.state.finished is None]
    return DrainsPolled(clock(), drains, errors, restarts, rebalances)


def _drain_record(saved: SavedDrain) -> DrainRecord:
    state = saved.state
    lines = _read_log_lines(saved.folder.events)
    return DrainRecord(
        state.cluster,
        state.broker,
        state.phase,
        state.started,
        state.by,
        saved.holder_pid,
        state.durable,
        state.reopened,
        state.safe_since,
        lines[-1].partition("  ")[2] if lines else "",
        state.puts,
        state.updated,
        lines,
    )


def _restart_record(saved: SavedRun[RestartState]) -> RestartRecord:
    state = saved.state
    lines = _read_log_lines(saved.folder.events)
    return RestartRecord(
        state.cluster,
        process_title(state.current_process),
        state.step,
        state.at,
        len(state.processes),
        state.started,
        state.by,
        saved.holder_pid,
        state.stop_command,
        state.start_command,
        lines[-1].partition("  ")[2] if lines else "",
        lines,
    )


def _rebalance_record(saved: SavedRun[RunState]) -> RebalanceRecord:
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
        [_moving_topic_record(topic, progress, state) for topic, progress in sorted(state.moving.items())],
    )


def _moving_topic_record(topic: str, progress: TopicProgress, state: RunState) -> MovingTopicRecord:
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


def _read_log_lines(events: RecordFile) -> list[str]:
    """The time and the text of the last events, oldest first."""
    log_lines = []
    for event in events.read_last(_TAIL_BYTES):
        # What cannot be described is of a newer version.
        with suppress(ValueError, KeyError, TypeError):
            time_text = format_utc_second(event["time"])
            text = restart_events.describe_record(event) or drain_events.describe_record(event)
            log_lines.append(f"{time_text}  {text}")
    return log_lines[-_MAX_LOG_LINES:]
