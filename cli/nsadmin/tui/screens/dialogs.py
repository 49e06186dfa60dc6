"""The dialogs: a choice from a list, and input fields for an action."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, SelectionList
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from nsadmin.tui.screens.screen_text import make_panel
from nsadmin.tui.views.table import Column


class ChooseScreen(ModalScreen[str | None]):
    """A choice from a list. The result is the id of the choice, or None after Esc.

    `choice_by_letter` has keys that choose at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "Close")]

    def __init__(
        self,
        title: str,
        choices: Sequence[tuple[str, str]],
        initial_choice: str | None = None,
        choice_by_letter: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._choice_by_letter = choice_by_letter or {}
        self._panel_title = title
        self._choices = list(choices)
        self._initial_choice = initial_choice

    def compose(self) -> ComposeResult:
        with make_panel(self._panel_title, classes="small"):
            options = (Option(text, id=choice) for choice, text in self._choices)
            yield OptionList(*options, markup=False)

    def on_mount(self) -> None:
        option_list = self.query_one(OptionList)
        choice_ids = [choice for choice, _ in self._choices]
        initial = self._initial_choice
        option_list.highlighted = choice_ids.index(initial) if initial in choice_ids else 0
        option_list.focus()

    def on_key(self, event: events.Key) -> None:
        choice = self._choice_by_letter.get(event.character or "")
        if choice is not None:
            event.stop()
            self.dismiss(choice)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option.id)


class FieldsScreen(ModalScreen[dict[str, str] | None]):
    """Input fields. Enter in the last field closes the dialog.

    The result has the texts by field name, or is None after Esc.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str, initial_values: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._panel_title = title
        self._initial_values = list(initial_values)

    def compose(self) -> ComposeResult:
        with make_panel(self._panel_title, classes="small"):
            for name, current_value in self._initial_values:
                yield Label(name)
                # An input sends control characters of a server's value to the terminal, and drops line ends.
                shown_value = current_value if current_value.isprintable() else ""
                yield Input(shown_value)

    def on_mount(self) -> None:
        self.query(Input).first().focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        input_widgets = list(self.query(Input))
        input_index = input_widgets.index(message.input)
        if input_index + 1 < len(input_widgets):
            input_widgets[input_index + 1].focus()
            return
        names = [name for name, _ in self._initial_values]
        self.dismiss({name: widget.value for name, widget in zip(names, input_widgets, strict=True)})


class ColumnChooser(ModalScreen[list[str] | None]):
    """Space shows or hides a column, and Enter applies. The result has the keys of shown columns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close"),
        Binding("enter", "apply", "Apply", priority=True),
    ]

    def __init__(self, columns: Sequence[Column[Any]], chosen_keys: Collection[str] | None) -> None:
        super().__init__()
        self._columns = list(columns)
        self._chosen_keys = chosen_keys

    def compose(self) -> ComposeResult:
        with make_panel("Columns", "Space shows or hides, Enter applies, Esc cancels", "small"):
            yield SelectionList[str](
                *(
                    Selection(
                        f"{column.heading:<14} {column.meaning}",
                        column.key,
                        self._chosen_keys is None or column.key in self._chosen_keys,
                    )
                    for column in self._columns
                )
            )

    def on_mount(self) -> None:
        self.query_one(SelectionList).focus()

    def action_apply(self) -> None:
        selected_keys = set(self.query_one(SelectionList).selected)
        self.dismiss([column.key for column in self._columns if column.key in selected_keys])
