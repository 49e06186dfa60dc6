"""What checks measured in earlier runs: one file per check, in the folder of the cluster's inventory."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from namesrv_core.storage import atomic_write
from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.run_folder import InvalidStateError, convert_saved, read_json_file
from nsadmin.operations.state_folder import escape_file_name

HOUR_MS = 3_600_000
_LOOKS_PER_WINDOW = 12


class Look(NamedTuple):
    """The figures of a run at `at_ms`, by name."""

    at_ms: int
    figures: Mapping[str, float]

    @property
    def since_text(self) -> str:
        return f"since {format_utc_second(self.at_ms)}"


class _SavedLooks(msgspec.Struct):
    looks: list[tuple[int, dict[str, float]]]


def compare_look(scope: CheckScope, check_name: str, look: Look, window_ms: int = HOUR_MS) -> Look | None:
    """Save a look, and return the earlier one to compare it with: about `window_ms` old, or older.

    So a change is reported for a while, and not only to the first of several runs. A younger look is
    returned if there is no other, and None without any. A file that cannot be read or written is no look.
    """
    inventory = scope.inventory
    if inventory is None or inventory.is_off:
        return None
    file_name = escape_file_name(f"check-{check_name} {scope.cluster_name or ''}".rstrip())
    path = Path(inventory.store.inventory_folder) / f"{file_name}.json"
    looks: Sequence[Look] = ()
    with suppress(InvalidStateError):
        saved = read_json_file(path, lambda json_value: convert_saved(json_value, _SavedLooks))
        looks = [] if saved is None else [Look(*look) for look in saved.looks]
    with suppress(OSError):
        kept_looks = add_look(looks, look, window_ms)
        file_bytes = json.dumps({"looks": kept_looks}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        atomic_write.replace_file(path, file_bytes, keeps_backup=False)
    return choose_look(looks, look.at_ms, window_ms)


def choose_look(looks: Sequence[Look], now_ms: int, window_ms: int) -> Look | None:
    """The newest look that is older than the window, else the oldest one."""
    past = [look for look in looks if look.at_ms < now_ms]
    older = [look for look in past if look.at_ms <= now_ms - window_ms]
    return older[-1] if older else past[0] if past else None


def add_look(looks: Sequence[Look], look: Look, window_ms: int) -> list[Look]:
    """The looks to keep: those of the window, not too close to each other, and one that is older."""
    baseline = choose_look(looks, look.at_ms, window_ms)
    kept = [old for old in looks if baseline is not None and baseline.at_ms <= old.at_ms < look.at_ms]
    is_close = bool(kept) and look.at_ms - kept[-1].at_ms < window_ms // _LOOKS_PER_WINDOW
    return kept if is_close else [*kept, look]
