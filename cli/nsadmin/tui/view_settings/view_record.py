"""The settings of one view, as they are saved and restored. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nsadmin.tui.navigation.view_navigation import ViewState
from nsadmin.tui.views.table import InvalidFilterError, RowFilter, SortOrder


class ViewRecord(NamedTuple):
    """Sort order, columns and filter modes. `columns` is None for all columns.

    `screen` and `filter` are set only in saved views.
    """

    sort: str | None = None
    descending: bool = False
    columns: tuple[str, ...] | None = None
    problemsOnly: bool = False
    showAll: bool = False
    grouped: bool = False
    screen: str | None = None
    filter: str = ""

    def to_json(self) -> dict[str, Any]:
        items = self._asdict().items()
        return {name: list(value) if isinstance(value, tuple) else value for name, value in items}


def parse_record(json_value: Any) -> ViewRecord | None:
    """The record of a JSON value. Values of a wrong kind get their default; None for no map."""
    if not isinstance(json_value, Mapping):
        return None

    def read_flag(name: str) -> bool:
        return json_value.get(name) is True

    def read_text(name: str) -> str | None:
        value = json_value.get(name)
        return value if isinstance(value, str) else None

    columns = json_value.get("columns")
    is_valid = isinstance(columns, list) and columns and all(isinstance(column, str) for column in columns)
    return ViewRecord(
        read_text("sort"),
        read_flag("descending"),
        tuple(columns) if is_valid and isinstance(columns, list) else None,
        read_flag("problemsOnly"),
        read_flag("showAll"),
        read_flag("grouped"),
        read_text("screen"),
        read_text("filter") or "",
    )


def record_view(state: ViewState) -> ViewRecord:
    """The settings of a view that are remembered. Its filter text is not."""
    sort_order = state.sort_order
    return ViewRecord(
        None if sort_order is None else sort_order.key,
        sort_order is not None and sort_order.descending,
        state.chosen_columns,
        state.shows_problems_only,
        state.shows_hidden,
        state.is_grouped,
    )


def apply_record(record: ViewRecord, state: ViewState) -> None:
    """Restore a view. Columns that the view does not have any more are left out."""
    keys = [column.key for column in state.view.columns]
    is_known = record.sort is not None and record.sort in keys
    state.sort_order = SortOrder(record.sort or "", record.descending) if is_known else None
    known_columns = tuple(column for column in record.columns or () if column in keys)
    state.chosen_columns = known_columns or None
    state.shows_problems_only = record.problemsOnly
    state.shows_hidden = record.showAll
    state.is_grouped = record.grouped and state.view.grouping_key is not None
    if record.screen is not None:
        try:
            state.row_filter = RowFilter(record.filter)
        except InvalidFilterError:
            state.row_filter = RowFilter()
