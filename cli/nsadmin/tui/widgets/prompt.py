"""The prompt in the last line, for a filter, a command, a file name or a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from textual import events
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input

PromptMode = Literal["filter", "command", "save", "seek", "view"]

_MODE_HINTS = {
    "filter": "filter: text, !text, /regex/",
    "command": "a screen, or any nsadmin command; Tab completes",
    "save": "file: .svg or .txt for the screen, .csv or .jsonl for all rows",
    "view": "a name for this screen with its filter, sort order and columns",
    "seek": "a time of day, HH:MM:SS, or +60 and -60 seconds",
}


class Prompt(Input):
    """An input that posts the typed text together with its mode."""

    @dataclass
    class Typing(Message):
        """The text changed, and the operator still types."""

        prompt_mode: PromptMode
        typed_text: str

    @dataclass
    class CompletionAsked(Message):
        """The operator pressed Tab (step 1) or Shift+Tab (step -1) in the command prompt."""

        line_text: str
        step: int

    @dataclass
    class Ended(Message):
        """The operator pressed Enter, or Esc, in which case the text is None."""

        prompt_mode: PromptMode
        typed_text: str | None

    def __init__(self, **options: Any) -> None:
        super().__init__(compact=True, **options)
        self.prompt_mode: PromptMode = "filter"
        self._command_history: list[str] = []
        self.display = False
        self._history_index = 0

    def open_prompt(
        self, mode: PromptMode, initial_text: str = "", suggested_lines: Sequence[str] = ()
    ) -> None:
        """Show the prompt and focus it. `suggested_lines` complete what the operator types."""
        self.prompt_mode = mode
        self.placeholder = _MODE_HINTS[mode]
        self.suggester = SuggestFromList(suggested_lines, case_sensitive=False) if suggested_lines else None
        self.value = initial_text
        self.cursor_position = len(initial_text)
        self._history_index = len(self._command_history)
        # Focus now and not in a callback: a fast typist would type the next letter before it runs.
        self.display = True
        self.screen.set_focus(self)

    def replace_line(self, line: str) -> None:
        self.value = line
        self.cursor_position = len(line)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(self.Typing(self.prompt_mode, message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        is_new = message.value not in ("", *self._command_history[-1:])
        if self.prompt_mode == "command" and is_new:
            self._command_history.append(message.value)
        self.post_message(self.Ended(self.prompt_mode, message.value))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Ended(self.prompt_mode, None))
        elif event.key in ("tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            if self.prompt_mode == "command":
                self.post_message(self.CompletionAsked(self.value, 1 if event.key == "tab" else -1))
        elif self.prompt_mode == "command" and event.key in ("up", "down") and self._command_history:
            event.stop()
            event.prevent_default()
            index = self._history_index + (-1 if event.key == "up" else 1)
            self._history_index = max(0, min(index, len(self._command_history)))
            self.value = [*self._command_history, ""][self._history_index]
            self.cursor_position = len(self.value)
