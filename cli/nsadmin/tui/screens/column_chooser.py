"""The dialog that chooses the columns of a table."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import SelectionList
from textual.widgets.selection_list import Selection

from nsadmin.tui.views.table import Column


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
        with Vertical(classes="panel small") as panel:
            panel.border_title = "Columns"
            panel.border_subtitle = "Space shows or hides, Enter applies, Esc cancels"
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
