"""Owns the live display of a terminal: lines scroll above a block of facts that is updated in place."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsadmin.console.output.result_rows import OutputStyle
from nsadmin.console.output.text_table import cell_text

if TYPE_CHECKING:
    from rich.table import Table


def can_draw_live(output_style: OutputStyle) -> bool:
    """Whether stdout is a terminal that can draw, and the format is a table."""
    return (
        output_style.output_format in ("table", "wide")
        and sys.stdout.isatty()
        and os.environ.get("TERM") != "dumb"
    )


class LiveDisplay:
    """The live display; its last state stays on the screen after `close`."""

    def __init__(self, output_style: OutputStyle) -> None:
        # Rich is slow to import, and a terminal is needed for it.
        from rich.console import Console
        from rich.live import Live as Drawn

        console = Console(
            file=sys.stdout, no_color=not output_style.uses_color or None, highlight=False, emoji=False
        )
        self._rich_live = Drawn(console=console, auto_refresh=False)
        self._rich_live.start()

    def print_line(self, line_text: str) -> None:
        """Add a line above the facts."""
        from rich.text import Text

        self._rich_live.console.print(Text(cell_text(line_text)), soft_wrap=True)

    def show_facts(self, named_facts: Sequence[tuple[str, str]]) -> None:
        """Replace the block of facts, given by name."""
        self._rich_live.update(_facts_table(named_facts), refresh=True)

    def close(self) -> None:
        """Stop drawing, and restore the terminal."""
        self._rich_live.stop()


def _facts_table(named_facts: Sequence[tuple[str, str]]) -> "Table":
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    rich_table = Table(box=ROUNDED, show_header=False)
    rich_table.add_column(style="bold", no_wrap=True)
    rich_table.add_column(overflow="fold")
    for fact_name, fact_value in named_facts:
        rich_table.add_row(Text(fact_name), Text(cell_text(fact_value)))
    return rich_table
