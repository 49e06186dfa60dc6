"""The journals and the saved state of a bundle, as files in a temporary folder while a command runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from nsadmin.client.bundles.bundle_file import SupportBundle

_state_home: "Path | None" = None


def get_state_home() -> "Path | None":
    """Return the state folder of the bundle that is read; None without a bundle."""
    return _state_home


@contextmanager
def enter_folder(bundle: "SupportBundle") -> Iterator[tuple[str, ...]]:
    """Unpack the files of a bundle, and let `get_state_home` return their folder meanwhile."""
    global _state_home
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from nsadmin.client.bundles.bundle_file import JOURNAL_FOLDER, STATE_FOLDER, InvalidBundleError

    outer_home = _state_home
    with TemporaryDirectory(prefix="nsadmin-bundle-") as folder_name:
        folder = Path(folder_name)
        state_home = folder / STATE_FOLDER
        for subfolder in (JOURNAL_FOLDER, STATE_FOLDER):
            (folder / subfolder).mkdir()
            for file_name, content in bundle.read_files(subfolder):
                target = folder / subfolder / file_name
                if not target.resolve().is_relative_to(folder.resolve()):
                    raise InvalidBundleError(f'{bundle.path} has a file outside its folders: "{file_name}"')
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        _state_home = state_home
        try:
            yield tuple(str(path) for path in sorted((folder / JOURNAL_FOLDER).iterdir()) if path.is_dir())
        finally:
            _state_home = outer_home
