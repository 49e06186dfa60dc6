"""The controller of the rows of the current view: filter, order, grouping, and rows with problems."""

from typing import Any

from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.views.row_groups import Heading
from nsadmin.tui.views.table import InvalidFilterError, RowFilter, SortOrder, is_numeric_column


class TableController:
    """Controls the table of one app."""

    def __init__(self, app: BaseTui) -> None:
        self._app = app

    def set_filter(self, filter_text: str) -> None:
        """Show only rows that pass the filter. An invalid regular expression shows all rows and its error."""
        view_state = self._app.navigation.current_state
        try:
            view_state.row_filter = RowFilter(filter_text)
        except InvalidFilterError as error:
            view_state.row_filter = RowFilter()
            self._app.show_message(f"invalid regular expression {error}", "bad")

    # Rows with problems.

    def move_to_problem(self, step: int) -> None:
        """Put the cursor on the next or the previous row with a problem, from the cursor round the table."""
        app, grid = self._app, self._app.row_grid
        rows = grid.rows
        for distance in range(1, len(rows) + 1):
            row_index = (grid.cursor_index + step * distance) % len(rows)
            if not isinstance(rows[row_index], Heading) and app.current_view.is_problem(rows[row_index]):
                grid.move_cursor_to(row_index)
                return
        app.show_message("no row here has a problem")

    def toggle_problems_only(self) -> None:
        view_state = self._app.navigation.current_state
        view_state.shows_problems_only = not view_state.shows_problems_only
        self._app.redraw_screen()

    def toggle_details(self) -> None:
        """Show or hide the details of the row at the cursor, for which a narrow screen has no room."""
        app = self._app
        app.shows_details = not app.shows_details
        app.redraw_screen()

    def toggle_hidden_rows(self) -> None:
        view_state = self._app.navigation.current_state
        view_state.shows_hidden = not view_state.shows_hidden
        self._app.redraw_screen()

    # Marks.

    def toggle_mark(self) -> None:
        """Mark the row at the cursor, or remove its mark, and go to the next row."""
        app, grid = self._app, self._app.row_grid
        if grid.cursor_item is None:
            app.show_message("a heading cannot be marked", "warn")
            return
        app.navigation.current_state.marked_keys ^= {app.current_view.row_key(grid.cursor_item)}
        grid.move_cursor_to(grid.cursor_index + 1)
        app.redraw_screen()

    def toggle_all_marks(self) -> None:
        """Mark all rows that pass the filter. If a row is marked, remove all marks instead."""
        app, view_state = self._app, self._app.navigation.current_state
        if view_state.marked_keys:
            view_state.marked_keys.clear()
        else:
            view_state.marked_keys = {app.current_view.row_key(row) for row in app.filtered_rows}
        app.redraw_screen()

    # The order of rows.

    def step_sort_column(self, step: int) -> None:
        """Sort by the next column that has a title. After the last column, use the view's own order."""
        view_state, columns = self._app.navigation.current_state, self._app.current_view.columns
        column_keys: list[str | None] = [
            None,
            *dict.fromkeys(column.key for column in columns if column.heading),
        ]
        key_index = column_keys.index(view_state.sort_order.key if view_state.sort_order else None)
        column_key = column_keys[(key_index + step) % len(column_keys)]
        view_state.sort_order = (
            None if column_key is None else SortOrder(column_key, is_numeric_column(columns, column_key))
        )
        self._app.redraw_screen()

    def sort_by_column(self, column_key: str) -> None:
        """Sort by this column. If the rows are sorted by it already, reverse the order."""
        view_state = self._app.navigation.current_state
        if view_state.sort_order is not None and view_state.sort_order.key == column_key:
            self.reverse_order()
            return
        view_state.sort_order = SortOrder(column_key, is_numeric_column(view_state.view.columns, column_key))
        self._app.redraw_screen()

    def reverse_order(self) -> None:
        """Reverse the sort order."""
        view_state = self._app.navigation.current_state
        if view_state.sort_order is not None:
            view_state.sort_order = view_state.sort_order._replace(
                descending=not view_state.sort_order.descending
            )
            self._app.redraw_screen()

    def toggle_grouping(self) -> None:
        """Group the rows under headings, or stop grouping them."""
        view_state, app = self._app.navigation.current_state, self._app
        if view_state.view.grouping_key is None:
            app.show_message("this view has no groups", "warn")
            return
        view_state.is_grouped = not view_state.is_grouped
        app.redraw_screen()

    def fold_group(self, group_name: str | None = None) -> None:
        """Hide or show the rows of a group. Without a name, take the group of the row at the cursor."""
        view_state, grid = self._app.navigation.current_state, self._app.row_grid
        if not view_state.is_grouped or grid.cursor_row is None:
            self.toggle_grouping()
            return
        group_name = group_name or self._group_name_of(grid.cursor_row)
        view_state.folded_groups ^= {group_name}
        if group_name in view_state.folded_groups:
            grid.select_heading(group_name)
        self._app.redraw_screen()

    def _group_name_of(self, row: Any) -> str:
        if isinstance(row, Heading):
            return row.group_name
        view = self._app.current_view
        return (
            next(column for column in view.columns if column.key == view.grouping_key).render_cell(row).text
        )

    def fold_all_groups(self) -> None:
        """Hide the rows of all groups, or show all of them again."""
        view_state, app = self._app.navigation.current_state, self._app
        if not view_state.is_grouped:
            self.toggle_grouping()
        if view_state.is_grouped:
            group_names = {self._group_name_of(row) for row in app.filtered_rows}
            view_state.folded_groups = set() if group_names <= view_state.folded_groups else group_names
            app.redraw_screen()
