"""Owns progress on stderr: a bar for long waits at a terminal, and status lines elsewhere.

Quick commands show none, and a bar is removed before anything else is written.
"""

import os
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from namesrv_core.transport.multiplexed_client import Exchange
from nsadmin.console.stderr import escape_unprintable

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.status import Status
    from rich.text import Text as RichText

PATIENCE_SECONDS = 0.3
"""Seconds before a bar is shown."""
_REDRAW_SECONDS = 0.05
"""Seconds between two updates of a bar."""
PLAIN_LINE_PERIOD_SECONDS = 10.0
"""Seconds between plain lines, without a terminal to draw on."""


def can_draw_on_stderr() -> bool:
    """Whether stderr is a terminal that can draw."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class RequestProgressBar:
    """Observes requests, and shows a bar while more of them than the screen has lines are under way.

    It shows nothing while `is_hushed`.
    """

    def __init__(self) -> None:
        self.is_hushed = False
        self._screen_lines = _terminal_lines()
        self._began_at = 0.0
        self._drawn_at = 0.0
        self._rich_progress: Progress | None = None

    def __call__(self, exchange: Exchange) -> None:
        if exchange.total <= self._screen_lines or self.is_hushed:
            return
        if exchange.done == 1:
            self._began_at = exchange.began
        seconds = monotonic()
        if exchange.done == exchange.total:
            self.close()
        elif seconds - self._began_at >= PATIENCE_SECONDS and seconds - self._drawn_at >= _REDRAW_SECONDS:
            self._drawn_at = seconds
            self._draw_progress(exchange)

    def _draw_progress(self, exchange: Exchange) -> None:
        if self._rich_progress is None:
            self._rich_progress = _start_progress("asking")
        task_id = self._rich_progress.task_ids[0]
        self._rich_progress.update(task_id, completed=exchange.done, total=exchange.total)

    def close(self) -> None:
        """Remove the bar, if it is shown."""
        if self._rich_progress is not None:
            self._rich_progress.stop()
            self._rich_progress = None


class StepProgressBar:
    """A bar for the steps of a procedure; with `write_plain_line`, a plain line every 10 seconds."""

    def __init__(
        self, step_label: str, total_steps: int, write_plain_line: Callable[[str], None] | None = None
    ) -> None:
        self._step_label, self._total_steps, self._done_steps = step_label, total_steps, 0
        self._write_plain_line = write_plain_line
        self._began_at = monotonic()
        self._rich_progress: Progress | None = None

    def advance_steps(self, steps: int) -> None:
        self._done_steps += steps
        if self._write_plain_line is not None:
            if monotonic() - self._began_at >= PLAIN_LINE_PERIOD_SECONDS:
                self._began_at = monotonic()
                self._write_plain_line(f"{self._step_label}: {self._done_steps} of {self._total_steps}")
            return
        if self._rich_progress is None and monotonic() - self._began_at >= PATIENCE_SECONDS:
            self._rich_progress = _start_progress(self._step_label)
        if self._rich_progress is not None:
            task_id = self._rich_progress.task_ids[0]
            self._rich_progress.update(task_id, completed=self._done_steps, total=self._total_steps)

    def close(self) -> None:
        """Remove the bar, if it is shown."""
        if self._rich_progress is not None:
            self._rich_progress.stop()
            self._rich_progress = None


class StatusLine:
    """One line of status: animated on a terminal, else a plain line every 10 seconds."""

    def __init__(self, write_plain_line: Callable[[str], None]) -> None:
        self._write_plain_line = write_plain_line
        self._written_at = monotonic()
        self._rich_status: Status | None = None

    def write_line(self, text: str) -> None:
        self.close()
        self._write_plain_line(text)
        self._written_at = monotonic()

    def show_status(self, text: str) -> None:
        if can_draw_on_stderr():
            if self._rich_status is None:
                self._rich_status = _start_spinner()
            self._rich_status.update(_literal_text(text))
        elif monotonic() - self._written_at >= PLAIN_LINE_PERIOD_SECONDS:
            self.write_line(text)

    def close(self) -> None:
        """Remove the animated line, if it is shown."""
        if self._rich_status is not None:
            self._rich_status.stop()
            self._rich_status = None


def _start_spinner() -> "Status":
    from rich.console import Console

    status = Console(stderr=True).status("")
    status.start()
    return status


def _literal_text(text: str) -> "RichText":
    """Return the text without markup and control characters: Rich would take brackets for styles."""
    from rich.text import Text

    return Text(escape_unprintable(text), no_wrap=True, overflow="ellipsis")


def _terminal_lines() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines or 24
    except OSError:
        return 24


def _start_progress(task_label: str) -> "Progress":
    # Rich is slow to import. It is loaded only when the wait already takes longer than that.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    rich_progress = Progress(
        TextColumn(task_label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    rich_progress.add_task("", total=None)
    rich_progress.start()
    return rich_progress
