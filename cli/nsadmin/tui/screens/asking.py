"""The dialogs: a choice from a list, and input fields for an action."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option


class ChooseScreen(ModalScreen[str | None]):
    """A choice from a list. The result is the id of the choice, or None after Esc.

    `choice_by_letter` has keys that choose at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "Close")]

    def __init__(
        self,
        title: str,
        choices: Sequence[tuple[str, str]],
        chosen: str | None = None,
        letters: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._letters = letters or {}
        self._title = title
        self._choices = list(choices)
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel small") as panel:
            panel.border_title = self._title
            yield OptionList(*(Option(text, id=name) for name, text in self._choices), markup=False)

    def on_mount(self) -> None:
        found = self.query_one(OptionList)
        names = [name for name, _ in self._choices]
        found.highlighted = names.index(self._chosen) if self._chosen in names else 0
        found.focus()

    def on_key(self, event: events.Key) -> None:
        name = self._letters.get(event.character or "")
        if name is not None:
            event.stop()
            self.dismiss(name)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option.id)


class FieldsScreen(ModalScreen[dict[str, str] | None]):
    """Input fields. Enter in the last field closes the dialog.

    The result has the texts by field name, or is None after Esc.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str, fields: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._fields = list(fields)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel small") as panel:
            panel.border_title = self._title
            for name, now in self._fields:
                yield Label(name)
                yield Input(now, id=f"field-{name}")

    def on_mount(self) -> None:
        self.query(Input).first().focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        fields = list(self.query(Input))
        at = fields.index(message.input)
        if at + 1 < len(fields):
            fields[at + 1].focus()
            return
        self.dismiss({name: field.value for (name, _), field in zip(self._fields, fields, strict=True)})
