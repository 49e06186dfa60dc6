"""Live: on a terminal, lines that scroll by above facts that stay in place and change."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsadmin.output.rows import Style
from nsadmin.output.table import cell

if TYPE_CHECKING:
    from rich.table import Table


def is_possible(style: Style) -> bool:
    """Whether stdout is a terminal that can draw, and nobody wants anything else there."""
    return style.format in ("table", "wide") and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


class Live:
    """Draws until it is closed; what was drawn last stays."""

    def __init__(self, style: Style) -> None:
        # Rich is slow to import, and a terminal is needed for it.
        from rich.console import Console
        from rich.live import Live as Drawn

        console = Console(file=sys.stdout, no_color=not style.color or None, highlight=False, emoji=False)
        self._drawn = Drawn(console=console, auto_refresh=False)
        self._drawn.start()

    def line(self, text: str) -> None:
        """One more line above."""
        from rich.text import Text

        self._drawn.console.print(Text(cell(text)), soft_wrap=True)

    def show(self, facts: Sequence[tuple[str, str]]) -> None:
        """These facts, each with its name, instead of the last ones."""
        self._drawn.update(_table(facts), refresh=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._drawn.stop()


def _table(facts: Sequence[tuple[str, str]]) -> "Table":
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    table = Table(box=ROUNDED, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(name), Text(cell(value)))
    return table
