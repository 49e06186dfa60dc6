"""Reports a procedure's events while it runs: redrawn in place on a terminal, else as lines or JSON."""

import json
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.operations.drain.events import Record
from nsadmin.operations.drain.standing import standing
from nsadmin.output import Text
from nsadmin.session import Session

if TYPE_CHECKING:
    from nsadmin.output.live import Live

# After these events a command of the operator can run and write to the terminal.
_BEFORE_COMMANDS = ("safe", "stepBegan")
_FORMATS = ("table", "wide", "json", "jsonl")


class Teller:
    """Turns each event into a line of text; empty if it was drawn in place or repeats the last line.

    It is a context manager, because it has to restore the terminal. It raises UsageError for an output format
    that has no lines, such as CSV.
    """

    def __init__(self, session: Session, command: str, words: Callable[[Record], str]) -> None:
        chosen = session.options.style.format
        if chosen not in _FORMATS:
            raise UsageError(
                f"{command}: --output {chosen} cannot be: give jsonl, or nothing for lines of text"
            )
        self._as_json = chosen in ("json", "jsonl")
        self._style = session.options.style
        self._words = words
        self._last = self._broker = ""
        self._live: Live | None = None
        self._draws = False

    def __enter__(self) -> Self:
        from nsadmin.output.live import is_possible

        self._draws = is_possible(self._style)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        """Stop drawing in place: the last drawing stays, and later output appears below it."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def __call__(self, told: Record) -> Text:
        """The event as a line, or an empty text."""
        if self._as_json:
            return Text(json.dumps(told, ensure_ascii=False))
        self._broker = told.get("broker", self._broker)
        if self._draws and told["event"] == "progress":
            self._show(told)
            return Text("")
        said = self._words(told)
        if said == self._last:
            return Text("")
        self._last = said
        if told["event"] in _BEFORE_COMMANDS:
            self._leave()
        line = f"{utc(told['time'])} {said}"
        if self._live is None:
            return Text(line)
        self._live.line(line)
        return Text("")

    def _show(self, told: Record) -> None:
        from nsadmin.output.live import Live

        if self._live is None:
            self._live = Live(self._style)
        self._live.show(standing(self._broker, told))
