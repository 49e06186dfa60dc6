"""The dialog that searches messages: a field for each condition of `nsadmin consume`."""

import shlex
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from nsadmin.tui.messages.message_query import InvalidMessageQueryError, MessageQuery, MessageTools
from nsadmin.tui.screens.screen_text import make_panel


class _SearchField(NamedTuple):
    """The name is that of the option. A field of several values has them separated by blanks."""

    option_name: str
    hint: str
    has_several_values: bool = False


_SEARCH_FIELDS = (
    _SearchField("from", "latest, earliest, 10m, 14:03, offset:N, or key:KEY for the index of the brokers"),
    _SearchField("until", "14:03, 2026-11-23T14:03Z"),
    _SearchField("tag", "TAG TAG", True),
    _SearchField("key", "KEY KEY", True),
    _SearchField("property", "NAME=VALUE", True),
    _SearchField("body", "regular expression"),
    _SearchField("field", "PATH=VALUE of a JSON body, such as order.id=7", True),
    _SearchField("sql", "SQL92, on brokers that allow it"),
    _SearchField("broker", "name of a broker"),
    _SearchField("queue", "number of a queue"),
    _SearchField("decode", "decoders, in this order", True),
)


class MessageSearchScreen(ModalScreen[MessageQuery | None]):
    """Enter searches, Tab goes to the next field. The result is None after Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        # With priority, the focus moves before the next letter: a fast typist types into the right field.
        Binding("tab,down", "step_field(1)", show=False, priority=True),
        Binding("shift+tab,up", "step_field(-1)", show=False, priority=True),
    ]

    def __init__(self, query: MessageQuery, tools: MessageTools) -> None:
        super().__init__()
        self._message_query, self._tools = query, tools

    def compose(self) -> ComposeResult:
        title_text = f"Messages of {self._message_query.topic}"
        with make_panel(title_text, "Enter searches, Tab: next field, Esc closes", "search"):
            for field in _SEARCH_FIELDS:
                with Horizontal(classes="field"):
                    yield Label(field.option_name)
                    yield Input(
                        self._current_text(field),
                        placeholder=self._tools.decoder_help if field.option_name == "decode" else field.hint,
                        id=f"search-{field.option_name}",
                    )
            yield Label("", id="problem", markup=False)

    def on_mount(self) -> None:
        self.query(Input).first().focus()

    def action_step_field(self, step: int) -> None:
        if step > 0:
            self.focus_next(Input)
        else:
            self.focus_previous(Input)

    def _current_text(self, field: _SearchField) -> str:
        values = [value for name, value in self._message_query.conditions if name == field.option_name]
        shown_text = shlex.join(values) if field.has_several_values else " ".join(values)
        return shown_text if shown_text.isprintable() else ""

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        try:
            query = self._tools.parse_query(self._build_words())
        except InvalidMessageQueryError as error:
            self.query_one("#problem", Label).update(str(error))
            return
        self.dismiss(query)

    def _build_words(self) -> Sequence[str]:
        """The topic and the options, as `nsadmin consume` takes them. Raises InvalidMessageQueryError."""
        query_words = [f"--topic={self._message_query.topic}"]
        for field in _SEARCH_FIELDS:
            text = self.query_one(f"#search-{field.option_name}", Input).value.strip()
            try:
                values = shlex.split(text) if field.has_several_values else [text]
            except ValueError as error:
                raise InvalidMessageQueryError(f"{field.option_name}: {error}".lower()) from None
            query_words += [f"--{field.option_name}={value}" for value in values if value]
        return query_words
