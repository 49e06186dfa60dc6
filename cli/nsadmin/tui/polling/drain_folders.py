"""The drain folders of this account on this machine, read as a poll."""

import os
from collections.abc import Callable
from pathlib import Path

from namesrv_core import operator_files
from nsadmin.operations.drain.events import describe_record
from nsadmin.operations.drain.store import EVENTS_FILE, SavedDrain, load_drains
from nsadmin.operations.state_folder import find_state_home
from nsadmin.tui.polling.poll_records import DrainRecord, DrainsPolled

_TAIL_BYTES = 16_384


def poll_drains(clock: Callable[[], int], state_home: Path | None = None) -> DrainsPolled:
    """Read all drains of this account that `undrain` has not ended."""
    drain_records, error_texts = [], []
    for kept_drain in load_drains(find_state_home() if state_home is None else state_home):
        if isinstance(kept_drain, SavedDrain):
            drain_records.append(_drain_record(kept_drain))
        else:
            error_texts.append(str(kept_drain))
    return DrainsPolled(clock(), drain_records, error_texts)


def _drain_record(kept_drain: SavedDrain) -> DrainRecord:
    drain_state = kept_drain.drain_state
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
        _last_event_text(kept_drain.drain_folder / EVENTS_FILE),
        drain_state.puts,
        drain_state.updated,
    )


def _last_event_text(events_file: Path) -> str:
    """The text of the last event, or "" if the file has none."""
    try:
        with open(events_file, "rb") as opened_file:
            opened_file.seek(max(os.path.getsize(events_file) - _TAIL_BYTES, 0))
            event_lines = opened_file.read().splitlines()
    except OSError:
        return ""
    for event_line in reversed(event_lines):
        try:
            return describe_record(operator_files.parse_json(event_line))
        except (ValueError, KeyError):
            # The drain is writing this line now, or a newer version of nsadmin wrote it.
            continue
    return ""
