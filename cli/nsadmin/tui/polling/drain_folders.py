"""The drains and rolling restarts of this account on this machine, read as a poll."""

from collections.abc import Callable
from contextlib import suppress

from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.drain import events as drain_events
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.installation import Installation
from nsadmin.operations.rebalance.run_state import load_rebalances
from nsadmin.operations.restart import events as restart_events
from nsadmin.operations.restart.state import RestartState, load_restarts, process_title
from nsadmin.operations.run_folder import EventRecord, InvalidStateError, RecordFile, SavedRun
from nsadmin.tui.polling.poll_records import DrainRecord, DrainsPolled, RestartRecord
from nsadmin.tui.polling.rebalance_folders import list_rebalances

_TAIL_BYTES = 16_384
_MAX_LOG_LINES = 100


def poll_drains(clock: Callable[[], int], installation: Installation) -> DrainsPolled:
    """Read the drains that `undrain` has not ended, and the unfinished restarts and rebalances."""
    state_home, keep_own = installation.state_home, installation.keep_own
    drain_records, restart_records, errors = [], [], []
    for saved in keep_own(load_drains(state_home)):
        if isinstance(saved, InvalidStateError):
            errors.append(str(saved))
        else:
            drain_records.append(_drain_record(saved))
    for saved_restart in keep_own(load_restarts(state_home)):
        if isinstance(saved_restart, InvalidStateError):
            errors.append(str(saved_restart))
        elif not saved_restart.state.is_done:
            restart_records.append(_restart_record(saved_restart))
    rebalance_records, rebalance_errors = list_rebalances(keep_own(load_rebalances(state_home)))
    return DrainsPolled(clock(), drain_records, errors + rebalance_errors, restart_records, rebalance_records)


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


def _describe_event(event: EventRecord) -> str:
    """The words of an event of a restart, or of a drain."""
    return restart_events.describe_record(event) or drain_events.describe_record(event)


def _read_log_lines(events: RecordFile) -> list[str]:
    """The time and the text of the last events, oldest first."""
    log_lines = []
    for event in events.read_last(_TAIL_BYTES):
        # What cannot be described is of a newer version.
        with suppress(ValueError, KeyError, TypeError):
            time_text = format_utc_second(event["time"])
            log_lines.append(f"{time_text}  {_describe_event(event)}")
    return log_lines[-_MAX_LOG_LINES:]
