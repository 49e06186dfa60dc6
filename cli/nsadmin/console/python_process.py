"""Python programs of ours that run in a process of their own.

They import nothing from the current folder: a `json.py` there would run with the rights of the operator.
"""

import os
import sys
from collections.abc import Mapping


def build_command(module_name: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module, as `python -m` does, without the current folder."""
    return [sys.executable, "-P", "-m", module_name, *arguments]


def build_environment(more_variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of such a process. Its child processes import nothing from there, either."""
    return os.environ | {"PYTHONSAFEPATH": "1"} | dict(more_variables or {})
