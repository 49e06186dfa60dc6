"""The folder in which procedures keep their state, and the names of files in it."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nsadmin.client.bundles import bundle_state

if TYPE_CHECKING:
    from pathlib import Path

_MAX_NAME_LENGTH = 200
INSTALLATIONS_FOLDER = "installations"
"""The folder with a folder for each installation of RocketMQ, as their clusters may have equal names."""


def find_state_home(environment: Mapping[str, str] = os.environ) -> "Path":
    """Return the folder in NSADMIN_STATE, else `nsadmin` in the user's XDG state folder.

    While a command reads a bundle, it is the bundle's.
    """
    # Imported late: commands that only read an inventory do not need it.
    from pathlib import Path

    return Path(locate_state_home(environment))


def locate_state_home(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of `find_state_home` as text. Raises RuntimeError for a user without a home."""
    if (bundle_home := bundle_state.get_state_home()) is not None:
        return str(bundle_home)
    base_folder = environment.get("XDG_STATE_HOME") or "~/.local/state"
    state_path = os.path.expanduser(environment.get("NSADMIN_STATE") or os.path.join(base_folder, "nsadmin"))
    if state_path.startswith("~"):
        raise RuntimeError("could not determine the home folder")
    return state_path


def list_homes(state_home: "Path") -> list["Path"]:
    """Return the folders of all installations, after `state_home`, where earlier releases saved all runs."""
    return [state_home, *sorted((state_home / INSTALLATIONS_FOLDER).glob("*"))]


def name_folder(key: str) -> str:
    """Return a name for a folder of this key. A file name has at most 255 bytes."""
    name = escape_file_name(key)
    if len(name) <= _MAX_NAME_LENGTH:
        return name
    # Imported late: few keys are that long.
    import hashlib

    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{name[:_MAX_NAME_LENGTH]}-{digest}"


def escape_file_name(raw_name: str) -> str:
    """Escape characters that file systems interpret with %. Different names stay different."""
    escaped_name = re.sub(r"[^\w.-]|^\.", lambda char: f"%{char[0].encode().hex()}", raw_name, flags=re.ASCII)
    return escaped_name or "%"
