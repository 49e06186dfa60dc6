"""Progress: a bar on stderr for who waits at a terminal while very many servers or topics are asked.

Law: it is never seen of what is quick, and is gone before anything else is written.
"""

import os
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.transport.multiplexed_client import Exchange

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.status import Status
    from rich.text import Text as RichText

PATIENCE = 0.3
"""Seconds that pass before it is shown."""
_BETWEEN = 0.05
"""Seconds between two updates."""
SELDOM = 10.0
"""Seconds between plain lines, where there is no terminal to draw on."""


def is_wanted() -> bool:
    """Whether stderr is a terminal, and one that can draw."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Bar:
    """An observer of calls: shown while more than a screenful is asked together, unless it `is_hushed`."""

    def __init__(self) -> None:
        self.is_hushed = False
        self._screenful = _lines()
        self._began = 0.0
        self._drawn = 0.0
        self._progress: Progress | None = None

    def __call__(self, exchange: Exchange) -> None:
        if exchange.total <= self._screenful or self.is_hushed:
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
            self._progress = _started("asking")
        task = self._progress.task_ids[0]
        self._progress.update(task, completed=exchange.done, total=exchange.total)

    def close(self) -> None:
        """Take it away, if it is there."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class Steps:
    """The steps of a procedure: so many of all have been gone."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._gone = what, total, 0
        self._began = monotonic()
        self._progress: Progress | None = None

    def advance(self, steps: int) -> None:
        """So many more."""
        self._gone += steps
        if self._progress is None and monotonic() - self._began >= PATIENCE:
            self._progress = _started(self._what)
        if self._progress is not None:
            task = self._progress.task_ids[0]
            self._progress.update(task, completed=self._gone, total=self._total)

    def close(self) -> None:
        """Take it away, if it is there."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class Line:
    """One line that says what goes on: a moving one on a terminal; elsewhere a plain one, now and then."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = monotonic()
        self._status: Status | None = None

    def say(self, text: str) -> None:
        """A line that stays."""
        self.close()
        self._say(text)
        self._said = monotonic()

    def show(self, text: str) -> None:
        """What goes on now, until there is anything else to say."""
        if is_wanted():
            if self._status is None:
                self._status = _turning()
            self._status.update(_literally(text))
        elif monotonic() - self._said >= SELDOM:
            self.say(text)

    def close(self) -> None:
        """Take the moving one away, if it is there."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def _turning() -> "Status":
    from rich.console import Console

    status = Console(stderr=True).status("")
    status.start()
    return status


def _literally(text: str) -> "RichText":
    """Names may have brackets, which rich would take for styles."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


def _lines() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines or 24
    except OSError:
        return 24


def _started(what: str) -> "Progress":
    # Rich is slow to import; by now somebody has been waiting longer than that.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task("", total=None)
    progress.start()
    return progress
