"""The file of remembered settings. Several screens write it: each write reads it again under a lock."""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from namesrv_core import operator_files, private_files
from namesrv_core.storage import atomic_write


class BrokenSettingsError(Exception):
    """The file cannot be used. The text is one line."""


class SettingsFile:
    """A JSON file with a map. A broken file is put aside at the next write."""

    def __init__(self, path: Path) -> None:
        self._file_path = path

    def read_settings(self) -> dict[str, Any]:
        """The settings; none without a file. Raises BrokenSettingsError."""
        try:
            settings = operator_files.parse_json(operator_files.read_bytes(self._file_path))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not JSON"
            raise BrokenSettingsError(f"{self._file_path} is ignored: {reason}") from None
        if not isinstance(settings, dict):
            raise BrokenSettingsError(f"{self._file_path} is ignored: it is not a map")
        return settings

    def change_settings(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Apply a change to the settings in the file, which another screen may have changed meanwhile.

        Raises OSError if the file cannot be written.
        """
        private_files.make_folder(self._file_path.parent, 0o700)
        lock_path = self._file_path.with_name(f"{self._file_path.name}.lock")
        with open(lock_path, "a", opener=private_files.open_private_file) as lock_file:
            fcntl.flock(lock_file, fcntl.LOCK_EX)
            try:
                settings = self.read_settings()
            except BrokenSettingsError:
                os.replace(self._file_path, self._file_path.with_name(f"{self._file_path.name}.broken"))
                settings = {}
            change(settings)
            settings_text = json.dumps(settings, ensure_ascii=False, indent=1, sort_keys=True)
            atomic_write.replace_file(self._file_path, settings_text.encode("utf-8", "surrogatepass"))


def take_map(parent: dict[str, Any], name: str) -> dict[str, Any]:
    """The map with this name within a map. A missing or wrong one is replaced by an empty one."""
    child = parent.get(name)
    if not isinstance(child, dict):
        child = parent[name] = {}
    return child
