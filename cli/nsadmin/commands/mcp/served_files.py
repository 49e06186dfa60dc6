"""The files of --files, which clients can read."""

import os
import stat
from pathlib import Path

from nsadmin.console.exit_codes import UsageError

FILE_ENDINGS = (".nsbackup.zip", ".nsbundle.zip", ".snapshot.zst", ".snapshot")
_MAX_FILES = 1000


class ServedFolder:
    """The folder of --files. Clients name files in it, and cannot name others."""

    def __init__(self, folder_text: str) -> None:
        self._folder = Path(folder_text).expanduser().resolve()
        if not self._folder.is_dir():
            raise UsageError(f'no folder "{folder_text}" for --files: name a folder with backups or bundles')

    def list_names(self) -> list[str]:
        """Return the names of the regular files with a known ending; at most 1000."""
        names = sorted(name for name in os.listdir(self._folder) if name.endswith(FILE_ENDINGS))
        return [name for name in names if self._is_regular(name)][:_MAX_FILES]

    def find_path(self, file_name: str) -> str | None:
        """Return the path of a listed file; None for every other name."""
        return str(self._folder / file_name) if file_name in self.list_names() else None

    def _is_regular(self, file_name: str) -> bool:
        # A symbolic link could lead out of the folder.
        try:
            return stat.S_ISREG(os.lstat(self._folder / file_name).st_mode)
        except OSError:
            return False
