"""The figures of a run in a page of docs/: they stand between two marks, and other text stays unchanged."""

import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path

from namesrv_core import __version__

RELIABILITY = Path(__file__).parents[2] / "docs" / "explanation" / "reliability.md"


def write(page: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the figures of the last run. Raises ValueError if the page has no marks for them."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    text = page.read_text()
    head, old_table, rest = text.partition(begin)
    _, ended, tail = rest.partition(end)
    if not (old_table and ended):
        raise ValueError(f'{page} has no marks for "{name}"')
    page.write_text("".join([head, begin, *(f"{line}\n" for line in lines), end, tail]))


def machine(*programs: str) -> str:
    """On what, with which programs besides, and when; the load is that of its last minute."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    programs = (f"nsadmin {__version__}", f"Python {platform.python_version()}", *programs)
    return (
        f"{day}, {', '.join(programs)}, "
        f"{os.cpu_count()} processors ({platform.machine()}), load of the machine at the end "
        f"{os.getloadavg()[0]:.1f}."
    )
