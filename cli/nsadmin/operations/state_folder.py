"""The folder in which procedures keep their state, and the names of files in it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path


def find_state_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder in NSADMIN_STATE, else `nsadmin` in the user's XDG state folder."""
    given_folder = environment.get("NSADMIN_STATE")
    if given_folder:
        return Path(given_folder).expanduser()
    base_folder = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base_folder).expanduser() / "nsadmin"


def escape_file_name(raw_name: str) -> str:
    """Escape characters that file systems interpret with %. Different names stay different."""
    escaped_name = re.sub(
        r"[^\w.-]|^\.", lambda special_char: f"%{special_char[0].encode().hex()}", raw_name, flags=re.ASCII
    )
    return escaped_name or "%"
