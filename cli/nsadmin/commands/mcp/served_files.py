"""Owns the files that clients can read: pages of the documentation, and the files of --files."""

import os
import stat
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import nsadmin
from nsadmin.console.exit_codes import UsageError

FILE_ENDINGS = (".nsbackup.zip", ".nsbundle.zip", ".snapshot.zst", ".snapshot")
_PAGE_ENDING = ".md"
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


def find_pages() -> Mapping[str, Path]:
    """Return the pages of the documentation by name, such as how-to/dead-letters.md."""
    for folder in _page_folders():
        pages = {
            page_path.relative_to(folder).as_posix(): page_path
            for page_path in sorted(folder.rglob(f"*{_PAGE_ENDING}"))
            if page_path.is_file()
        }
        if pages:
            return pages
    return {}


def _page_folders() -> tuple[Path, ...]:
    """The folders that can have the pages: of a checkout, and of an installed package."""
    package_folder = Path(nsadmin.__file__).parent
    return (package_folder.parents[1] / "docs", Path(sysconfig.get_path("data"), "share", "doc", "nsadmin"))


def read_title(page_text: str) -> str:
    """Return the first heading of a page."""
    return next((line[2:].strip() for line in page_text.splitlines() if line.startswith("# ")), "")
