"""What to run if a Python package of an extra is missing."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path


def describe_missing(package: str, extra: str) -> str:
    """Return one line with a command that works for this installation, and needs no published nsadmin."""
    return f"the Python package {package} is missing: run {_install_command(extra)}"


def _install_command(extra: str) -> str:
    # Imported late: it loads much, and packages are rarely missing.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires("nsadmin") or []
    except PackageNotFoundError:
        requirements = []
    packages = [
        r.partition(";")[0].strip() for r in requirements if f'extra == "{extra}"' in r.replace("'", '"')
    ]
    # The environments of pipx and of `uv tool` have no pip.
    if Path(sys.prefix, "pipx_metadata.json").exists():
        words = ["pipx", "inject", "nsadmin"]
    elif find_spec("pip") is None:
        words = ["uv", "pip", "install", "--python", sys.executable]
    else:
        words = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*words, *packages])
