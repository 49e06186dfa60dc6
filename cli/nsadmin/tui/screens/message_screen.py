"""The screen of one message: its properties and its body, as text, decoded, or as hexadecimal numbers."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.tui.messages.message_lines import ShownBody, body_as_text, list_message_lines, show_body
from nsadmin.tui.messages.message_query import BrowsedMessage, InvalidMessageQueryError, MessageTools
from nsadmin.tui.screens.screen_text import literal_title
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell
from nsadmin.tui.widgets.lines import Lines

LeftMessage: TypeAlias = tuple[BrowsedMessage, str | None]
_KEY_HINTS = "n next  N previous  d decode  x hex  y copy body  Esc closes"
_BORDER_WIDTH = 5
"""The border, the blanks beside it, and the scroll bar."""


class MessageScreen(ModalScreen[LeftMessage]):
    """Shows messages one after the other. The result is the last one, and the id of an action or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close"),
        Binding("n,right,l", "step(1)", "Next message"),
        Binding("N,left,h", "step(-1)", "Previous message"),
        Binding("d", "decode", "Decode the body"),
        Binding("x", "hex", "Hexadecimal numbers"),
        Binding("y", "copy", "Copy the body"),
        Binding("R", "replay", "Replay the dead letter"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
    ]

    def __init__(
        self,
        messages: Sequence[BrowsedMessage],
        first_message: BrowsedMessage,
        tools: MessageTools,
        decoders: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._messages = list(messages) if first_message in messages else [first_message]
        self._index = self._messages.index(first_message)
        self._tools, self._decoders, self._wants_hex = tools, list(decoders), False
        self.shown_body = ShownBody("", "")

    @property
    def message(self) -> BrowsedMessage:
        return self._messages[self._index]

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide"):
            with VerticalScroll():
                yield Lines("surface", id="message")
            yield Input(id="decoders", placeholder=f"decoders: {self._tools.decoder_help}")

    def on_mount(self) -> None:
        self.query_one("#decoders").display = False
        self.query_one(VerticalScroll).focus()
        self._show_message()

    def on_resize(self, event: events.Resize) -> None:
        self._draw_lines()

    def _show_message(self) -> None:
        panel = self.query_one(".panel")
        place_text = f"{self.message.message.topic} › {self.message.position_text}"
        panel.border_title = literal_title(f"{place_text}  {self._index + 1}/{len(self._messages)}")
        is_dead_letter = self.message.message.topic.startswith(DLQ_PREFIX)
        panel.border_subtitle = f"{'R replay  ' if is_dead_letter else ''}{_KEY_HINTS}"
        self.query_one(VerticalScroll).scroll_home(animate=False)
        self._start_decoding()

    def _start_decoding(self) -> None:
        self.run_worker(self._decode_body(self.message), exclusive=True)

    async def _decode_body(self, message: BrowsedMessage) -> None:
        """Decode in a thread: a small body can inflate to a large one."""
        try:
            self.shown_body = await asyncio.to_thread(
                show_body, message, self._tools, self._decoders, self._wants_hex
            )
        except InvalidMessageQueryError as error:
            self._decoders = []
            self.shown_body = show_body(message, self._tools, (), False)._replace(error=str(error))
        self._draw_lines()

    def _draw_lines(self) -> None:
        for widget in self.query("#message").results(Lines):
            width = self.query_one(".panel").size.width - _BORDER_WIDTH
            lines = list_message_lines(self.message, self.shown_body, max(width, 20))
            shown_lines: list[CellLine] = list(lines)
            widget.styles.height = len(shown_lines)
            widget.show_lines([*shown_lines, [Cell("")]])

    def action_step(self, step: int) -> None:
        self._index = max(0, min(self._index + step, len(self._messages) - 1))
        self._show_message()

    def action_scroll(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    def action_hex(self) -> None:
        self._wants_hex = not self._wants_hex
        self._start_decoding()

    def action_decode(self) -> None:
        decoders_input = self.query_one("#decoders", Input)
        decoders_input.value = " ".join(self._decoders)
        decoders_input.display = True
        decoders_input.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self._decoders, self._wants_hex = message.value.split(), False
        self._close_input()
        self._start_decoding()

    def _close_input(self) -> None:
        self.query_one("#decoders").display = False
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(body_as_text(self.shown_body))
        self.query_one(".panel").border_subtitle = "copied, if the terminal allows it"

    def action_replay(self) -> None:
        self.dismiss((self.message, "replay"))

    def action_leave(self) -> None:
        """Close the input of decoders, or else the screen."""
        if self.query_one("#decoders").display:
            self._close_input()
        else:
            self.dismiss((self.message, None))
