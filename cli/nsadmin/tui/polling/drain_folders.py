"""The drains and rolling restarts of this account on this machine, read as a poll."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.drain import events as drain_events
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.restart import events as restart_events
from nsadmin.operations.restart.state import RestartState, load_restarts, process_title
from nsadmin.operations.run_folder import EventRecord, InvalidStateError, RecordFile, SavedRun
from nsadmin.operations.state_folder import find_state_home
from nsadmin.tui.polling.poll_records import DrainRecord, DrainsPolled, RestartRecord
from nsadmin.tui.polling.rebalance_folders import list_rebalances

_TAIL_BYTES = 16_384
_MAX_LOG_LINES = 100


def poll_drains(clock: Callable[[], int], state_home: Path | None = None) -> DrainsPolled:
    """Read all drains that `undrain` has not ended, and all unfinished restarts and rebalances."""
    state_home = find_state_home() if state_home is None else state_home
    drain_records, restart_records, error_texts = [], [], []
    for kept_drain in load_drains(state_home):
        if isinstance(kept_drain, InvalidStateError):
            error_texts.append(str(kept_drain))
        else:
            drain_records.append(_drain_record(kept_drain))
    for saved_restart in load_restarts(state_home):
        if isinstance(saved_restart, InvalidStateError):
            error_texts.append(str(saved_restart))
        elif not saved_restart.state.is_done:
            restart_records.append(_restart_record(saved_restart))
    rebalance_records, rebalance_errors = list_rebalances(state_home)
    return DrainsPolled(
        clock(), drain_records, error_texts + rebalance_errors, restart_records, rebalance_records
    )


def _drain_record(kept_drain: SavedDrain) -> DrainRecord:
    drain_state = kept_drain.state
    log_lines = _read_log_lines(kept_drain.folder.events)
    return DrainRecord(
        drain_state.cluster,
        drain_state.broker,
        drain_state.phase,
        drain_state.started,
        drain_state.by,
        kept_drain.holder_pid,
        drain_state.durable,
        drain_state.reopened,
        drain_state.safe_since,
        log_lines[-1].partition("  ")[2] if log_lines else "",
        drain_state.puts,
        drain_state.updated,
        log_lines,
    )


def _restart_record(saved_restart: SavedRun[RestartState]) -> RestartRecord:
    state = saved_restart.state
    log_lines = _read_log_lines(saved_restart.folder.events)
    return RestartRecord(
        state.cluster,
        process_title(state.current_process),
        state.step,
        state.at,
        len(state.processes),
        state.started,
        state.by,
        saved_restart.holder_pid,
        state.stop_command,
        state.start_command,
        log_lines[-1].partition("  ")[2] if log_lines else "",
        log_lines,
    )


def _describe_event(event_record: EventRecord) -> str:
    """The words of an event of a restart, or of a drain."""
    return restart_events.describe_record(event_record) or drain_events.describe_record(event_record)


def _read_log_lines(events: RecordFile) -> list[str]:
    """The time and the text of the last events, oldest first."""
    log_lines = []
    for event_record in events.read_last(_TAIL_BYTES):
        # What cannot be described is of a newer version.
        with suppress(ValueError, KeyError, TypeError):
            time_text = format_utc_second(event_record["time"])
            log_lines.append(f"{time_text}  {_describe_event(event_record)}")
    return log_lines[-_MAX_LOG_LINES:]
