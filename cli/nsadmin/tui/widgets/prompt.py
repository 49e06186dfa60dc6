"""The prompt in the last line, for a filter, a command, a file name or a time."""

from collections.abc import Sequence
from typing import Any, Literal

from textual import events
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input

Mode = Literal["filter", "command", "save", "seek"]

_HINTS = {
    "filter": "filter: text, !text, /regex/",
    "command": "a screen, or any nsadmin command; → takes what is offered",
    "save": "a file: .svg or .txt of the screen, .csv of all rows",
    "seek": "a time of day, HH:MM:SS, or +60 and -60 seconds",
}


class Prompt(Input):
    """An input that posts the typed text together with its mode."""

    class Typing(Message):
        """The text changed, and the operator still types."""

        def __init__(self, mode: Mode, text: str) -> None:
            super().__init__()
            self.mode = mode
            self.text = text

    class Ended(Message):
        """The operator pressed Enter, or Esc, in which case the text is None."""

        def __init__(self, mode: Mode, text: str | None) -> None:
            super().__init__()
            self.mode = mode
            self.text = text

    def __init__(self, **options: Any) -> None:
        super().__init__(compact=True, **options)
        self.mode: Mode = "filter"
        self._before: list[str] = []
        self.display = False
        self._at = 0

    def open(self, mode: Mode, text: str = "", offered: Sequence[str] = ()) -> None:
        """Show the prompt and focus it. `suggested_lines` complete what the operator types."""
        self.mode = mode
        self.placeholder = _HINTS[mode]
        self.suggester = SuggestFromList(offered, case_sensitive=False) if offered else None
        self.value = text
        self.cursor_position = len(text)
        self._at = len(self._before)
        # Focus now and not in a callback: a fast typist would type the next letter before it runs.
        self.display = True
        self.screen.set_focus(self)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(self.Typing(self.mode, message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self.mode == "command" and message.value and message.value not in self._before[-1:]:
            self._before.append(message.value)
        self.post_message(self.Ended(self.mode, message.value))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Ended(self.mode, None))
        elif self.mode == "command" and event.key in ("up", "down") and self._before:
            event.stop()
            event.prevent_default()
            self._at = max(0, min(self._at + (-1 if event.key == "up" else 1), len(self._before)))
            self.value = self._before[self._at] if self._at < len(self._before) else ""
            self.cursor_position = len(self.value)
