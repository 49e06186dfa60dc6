"""The renderer of the main screen: fills its widgets from the model and the current view."""

from collections.abc import Sequence
from typing import Any

from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.root_views import ProblemCounter
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.views import screen_frame
from nsadmin.tui.views.base_view import NO_PROBLEM, CellLine
from nsadmin.tui.views.table import Cell, Column, arrange_rows, group_rows

_MESSAGE_DURATION_MS = 6_000
MIN_DETAILS_SCREEN_WIDTH = 160
"""On a wider screen, the details of the row at the cursor are shown beside the table."""
_DETAILS_WIDTH = 56


class ScreenRenderer:
    """Renders one app. It shows the last message in the last line for a few seconds."""

    def __init__(self, app: BaseTui) -> None:
        self._app = app
        self._problem_counter = ProblemCounter()

    def render_screen(self) -> None:
        app = self._app
        model, state, width = app.model, app.view_state, app.size.width
        all_rows = state.view.build_rows(model)
        filtered_rows = self._arrange_rows(all_rows)
        app.all_rows, app.filtered_rows = all_rows, filtered_rows
        if state.marked_keys:
            state.marked_keys &= {state.view.row_key(row) for row in all_rows}
        silence = state.view.find_silence(model)
        empty_message = "no row matches the filter" if all_rows else state.view.empty_message(model)
        app.row_grid.marked_keys = state.marked_keys
        app.row_grid.chosen_columns = state.chosen_columns
        rows = self._group_if_wanted(filtered_rows)
        app.row_grid.show_rows(rows, state.sort_order, empty_message, silence is not None)
        state.row_key = app.row_grid.cursor_key
        self.show_details()
        header = screen_frame.render_header(model, self._app_status(), app.agreement_verdict, width)
        app.find_lines("header").show_lines(header)
        app.find_lines("screens").show_lines([self._screen_bar(width)])
        silence_cells = screen_frame.render_silence(silence, model.now_ms)
        headline = state.view.render_headline(model)
        shown_headline = screen_frame.dim_line(headline) if silence_cells else headline
        app.find_lines("headline").show_lines([[Cell(" "), *shown_headline, *silence_cells]])
        sort_key = state.sort_order.key if state.sort_order else ""
        footer_line = screen_frame.render_footer(
            len(filtered_rows),
            len(all_rows),
            self._describe_selection(all_rows),
            sort_key,
            app.row_grid.hidden_columns,
            width,
            len(state.marked_keys),
        )
        last_line = self._message_line() or ([] if state.view.is_drawing else footer_line)
        app.find_lines("footer").show_lines([last_line])
        app.find_lines("hints").show_lines([screen_frame.render_key_hints(width, state.view.has_messages)])
        if state.view.is_drawing:
            self._show_drawing(is_dimmed=silence is not None)

    def _show_drawing(self, *, is_dimmed: bool) -> None:
        widget = self._app.find_lines("drawing")
        lines = self._app.current_view.draw_lines(self._app.model, widget.size.width, widget.size.height)
        widget.show_lines([screen_frame.dim_line(line) for line in lines] if is_dimmed else lines)

    def show_details(self) -> None:
        """Show the details of the row at the cursor beside the table, if the screen is wide enough."""
        app = self._app
        row, view = app.row_grid.cursor_item, app.current_view
        is_detailed = app.size.width >= MIN_DETAILS_SCREEN_WIDTH and not view.is_drawing and row is not None
        app.screen_stack[0].set_class(is_detailed and app.shows_details, "detailed")
        if is_detailed and app.shows_details:
            widget = app.find_lines("details")
            height = max(app.row_grid.size.height - 1, 1)
            lines = view.draw_details(app.model, row, _DETAILS_WIDTH - 1, height)
            widget.show_lines([[Cell(f"  {view.row_key(row)}", "accent")], *lines])

    def list_queries(self) -> list[DetailQuery]:
        """The detail queries for the visible rows and for the order of the rows."""
        app, state = self._app, self._app.view_state
        cursor_rows = [app.row_grid.cursor_item] if app.row_grid.cursor_item is not None else []
        queries = state.view.list_queries(app.model, [*cursor_rows, *app.row_grid.visible_items])
        sort_key = state.sort_order.key if state.sort_order else None
        return [*queries, *state.view.list_sort_queries(sort_key)]

    def _arrange_rows(self, all_rows: Sequence[Any]) -> Sequence[Any]:
        """The rows that the screen shows, in its order. With the default order, problems may come first."""
        state = self._app.view_state
        view = state.view
        descending = bool(state.sort_order and state.sort_order.descending)
        selected_rows, column = self._select_rows(all_rows), self.sort_column
        shown_rows = arrange_rows(selected_rows, view.filter_text, state.row_filter, column, descending)
        if not view.puts_problems_first or state.sort_order != view.default_sort:
            return shown_rows
        ranks = view.rank_problems(self._app.model, shown_rows)
        if all(rank >= NO_PROBLEM for rank in ranks):
            return shown_rows
        row_order = sorted(range(len(ranks)), key=ranks.__getitem__)
        return [shown_rows[index] for index in row_order]

    def _select_rows(self, all_rows: Sequence[Any]) -> Sequence[Any]:
        """The rows without hidden ones, and without rows that have no problem if the operator chose so."""
        state = self._app.view_state
        view = state.view
        if not state.shows_hidden:
            all_rows = [row for row in all_rows if not view.is_hidden(row)]
        return [row for row in all_rows if view.is_problem(row)] if state.shows_problems_only else all_rows

    def _describe_selection(self, all_rows: Sequence[Any]) -> str:
        """The filter, and what else keeps rows from the screen, for the footer."""
        state = self._app.view_state
        hidden_count = 0 if state.shows_hidden else sum(map(state.view.is_hidden, all_rows))
        problems_text = "problems only" if state.shows_problems_only else ""
        hidden_text = f"{hidden_count} hidden (A shows them)" if hidden_count else ""
        return ", ".join(filter(None, (state.row_filter.text, problems_text, hidden_text)))

    def _group_if_wanted(self, filtered_rows: Sequence[Any]) -> Sequence[Any]:
        state = self._app.view_state
        columns, key = state.view.columns, state.view.grouping_key
        group_column = next((column for column in columns if column.key == key), None)
        if not state.is_grouped or group_column is None:
            return filtered_rows
        summarize, folded = state.view.summarize_rows, state.folded_groups
        return group_rows(filtered_rows, lambda row: group_column.render_cell(row).text, summarize, folded)

    @property
    def sort_column(self) -> Column[Any] | None:
        state = self._app.view_state
        if state.sort_order is None:
            return None
        return next((column for column in state.view.columns if column.key == state.sort_order.key), None)

    def _message_line(self) -> CellLine | None:
        """The last message, as long as it is recent."""
        if self._app.last_message is None:
            return None
        message_text, tone, shown_at_ms = self._app.last_message
        if self._app.clock() - shown_at_ms > _MESSAGE_DURATION_MS:
            return None
        return [Cell(f" {message_text}", tone)]

    def _screen_bar(self, width: int) -> CellLine:
        app = self._app
        tabs = app.current_view.list_tabs()
        if tabs:
            chosen_index = next((index for index, tab in enumerate(tabs) if tab == app.current_view), 0)
            names = [tab.name for tab in tabs]
            return screen_frame.render_tab_bar(names, chosen_index, app.navigation.title_path)
        if app.navigation.stack_depth > 1:
            return screen_frame.render_tab_bar([], 0, app.navigation.title_path)
        return screen_frame.render_screen_bar(
            root_views.SCREEN_TITLES,
            root_views.ROOT_VIEWS.get(app.current_view.name),
            width,
            self._problem_counter.count_problems(app.model, app.current_view),
        )

    def _app_status(self) -> screen_frame.AppStatus:
        app = self._app
        return screen_frame.AppStatus(
            app.cluster_context.label,
            app.cluster_context.color,
            app.interval,
            app.model.now_ms,
            "paused" if app.feed.is_paused else app.feed.mode,
            app.cluster_context.read_only,
            app.recorder is not None,
            app.unread_log_count,
        )
