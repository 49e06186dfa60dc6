"""The controller of the rows of the current view: filter, order, grouping, and rows with problems."""

from typing import Any

from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.views.table import Heading, InvalidFilterError, RowFilter, SortOrder, is_numeric_column


class TableController:
    def __init__(self, app: BaseTui) -> None:
        self._app = app

    def set_filter(self, filter_text: str) -> None:
        """Show only rows that pass the filter. An invalid regular expression shows all rows and its error."""
        state = self._app.view_state
        try:
            state.row_filter = RowFilter(filter_text)
        except InvalidFilterError as error:
            state.row_filter = RowFilter()
            self._app.show_message(f"invalid regular expression {error}", "bad")

    # Rows with problems.

    def move_to_problem(self, step: int) -> None:
        """Put the cursor on the next or the previous row with a problem, from the cursor round the table."""
        app, grid = self._app, self._app.row_grid
        rows = grid.rows
        for distance in range(1, len(rows) + 1):
            index = (grid.cursor_index + step * distance) % len(rows)
            if not isinstance(rows[index], Heading) and app.current_view.is_problem(rows[index]):
                grid.move_cursor_to(index)
                return
        app.show_message("no row here has a problem")

    def toggle_problems_only(self) -> None:
        state = self._app.view_state
        state.shows_problems_only = not state.shows_problems_only
        self._app.redraw_screen()

    def toggle_details(self) -> None:
        """Show or hide the details of the row at the cursor, for which a narrow screen has no room."""
        app = self._app
        app.shows_details = not app.shows_details
        app.redraw_screen()

    def toggle_hidden_rows(self) -> None:
        state = self._app.view_state
        state.shows_hidden = not state.shows_hidden
        self._app.redraw_screen()

    # Marks.

    def toggle_mark(self) -> None:
        """Mark the row at the cursor, or remove its mark, and go to the next row."""
        app, grid = self._app, self._app.row_grid
        if grid.cursor_item is None:
            app.show_message("a heading cannot be marked", "warn")
            return
        app.view_state.marked_keys ^= {app.current_view.row_key(grid.cursor_item)}
        grid.move_cursor_to(grid.cursor_index + 1)
        app.redraw_screen()

    def toggle_all_marks(self) -> None:
        """Mark all rows that pass the filter. If a row is marked, remove all marks instead."""
        app, state = self._app, self._app.view_state
        if state.marked_keys:
            state.marked_keys.clear()
        else:
            state.marked_keys = {app.current_view.row_key(row) for row in app.filtered_rows}
        app.redraw_screen()

    # The order of rows.

    def step_sort_column(self, step: int) -> None:
        """Sort by the next column that has a title. After the last column, use the view's own order."""
        state, columns = self._app.view_state, self._app.current_view.columns
        keys: list[str | None] = [None, *dict.fromkeys(column.key for column in columns if column.heading)]
        key_index = keys.index(state.sort_order.key if state.sort_order else None)
        key = keys[(key_index + step) % len(keys)]
        state.sort_order = None if key is None else SortOrder(key, is_numeric_column(columns, key))
        self._app.redraw_screen()

    def sort_by_column(self, key: str) -> None:
        """Sort by this column. If the rows are sorted by it already, reverse the order."""
        state = self._app.view_state
        if state.sort_order is not None and state.sort_order.key == key:
            self.reverse_order()
            return
        state.sort_order = SortOrder(key, is_numeric_column(state.view.columns, key))
        self._app.redraw_screen()

    def reverse_order(self) -> None:
        state = self._app.view_state
        if state.sort_order is not None:
            state.sort_order = state.sort_order._replace(descending=not state.sort_order.descending)
            self._app.redraw_screen()

    def toggle_grouping(self) -> None:
        state, app = self._app.view_state, self._app
        if state.view.grouping_key is None:
            app.show_message("this view has no groups", "warn")
            return
        state.is_grouped = not state.is_grouped
        app.redraw_screen()

    def fold_group(self, group: str | None = None) -> None:
        """Hide or show the rows of a group. Without a name, take the group of the row at the cursor."""
        state, grid = self._app.view_state, self._app.row_grid
        if not state.is_grouped or grid.cursor_row is None:
            self.toggle_grouping()
            return
        group = group or self._group_name_of(grid.cursor_row)
        state.folded_groups ^= {group}
        if group in state.folded_groups:
            grid.select_heading(group)
        self._app.redraw_screen()

    def _group_name_of(self, row: Any) -> str:
        if isinstance(row, Heading):
            return row.group_name
        view = self._app.current_view
        return next(c for c in view.columns if c.key == view.grouping_key).render_cell(row).text

    def fold_all_groups(self) -> None:
        state, app = self._app.view_state, self._app
        if not state.is_grouped:
            self.toggle_grouping()
        if state.is_grouped:
            groups = {self._group_name_of(row) for row in app.filtered_rows}
            state.folded_groups = set() if groups <= state.folded_groups else groups
            app.redraw_screen()
