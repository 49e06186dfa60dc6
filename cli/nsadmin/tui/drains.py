"""The drain folders of this account on this machine, read as a poll."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from nsadmin.operations.drain.events import words
from nsadmin.operations.drain.keeping import EVENTS, Kept, home, kept
from nsadmin.tui.polls import Drain, DrainsPolled

_END = 16_384


def look(now: Callable[[], int], state_home: Path | None = None) -> DrainsPolled:
    """Read all drains of this account that `undrain` has not ended."""
    drains, errors = [], []
    for found in kept(home() if state_home is None else state_home):
        if isinstance(found, Kept):
            drains.append(_drain(found))
        else:
            errors.append(str(found))
    return DrainsPolled(now(), drains, errors)


def _drain(found: Kept) -> Drain:
    state = found.state
    return Drain(
        state.cluster,
        state.broker,
        state.phase,
        state.started,
        state.by,
        found.pid,
        state.durable,
        state.reopened,
        state.safe_since,
        _last(found.folder / EVENTS),
        state.puts,
        state.updated,
    )


def _last(file: Path) -> str:
    """The text of the last event, or "" if the file has none."""
    try:
        with open(file, "rb") as source:
            source.seek(max(os.path.getsize(file) - _END, 0))
            lines = source.read().splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            return words(json.loads(line))
        except (ValueError, KeyError):
            # The drain is writing this line now, or a newer version of nsadmin wrote it.
            continue
    return ""
