"""Progress: a bar on stderr for who waits at a terminal while very many servers or topics are asked.

Law: it is never seen of what is quick, and is gone before anything else is written.
"""

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.transport.calls import Exchange

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.3
"""Seconds that pass before it is shown."""
_BETWEEN = 0.05
"""Seconds between two updates."""


def is_wanted() -> bool:
    """Whether stderr is a terminal, and one that can draw."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Bar:
    """An observer of calls: shown while more than a screenful is asked together."""

    def __init__(self) -> None:
        self._screenful = _lines()
        self._began = 0.0
        self._drawn = 0.0
        self._progress: Progress | None = None

    def __call__(self, exchange: Exchange) -> None:
        if exchange.total <= self._screenful:
            return
        if exchange.done == 1:
            self._began = exchange.began
        now = monotonic()
        if exchange.done == exchange.total:
            self.close()
        elif now - self._began >= PATIENCE and now - self._drawn >= _BETWEEN:
            self._drawn = now
            self._draw(exchange)

    def _draw(self, exchange: Exchange) -> None:
        if self._progress is None:
            self._progress = _started()
        task = self._progress.task_ids[0]
        self._progress.update(task, completed=exchange.done, total=exchange.total)

    def close(self) -> None:
        """Take it away, if it is there."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _lines() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines or 24
    except OSError:
        return 24


def _started() -> "Progress":
    # Rich is slow to import; by now somebody has been waiting longer than that.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task("", total=None)
    progress.start()
    return progress
