"""The controller of what the screen remembers: settings of views by context, themes, and saved views."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_navigation import ViewState
from nsadmin.tui.view_settings.settings_file import BrokenSettingsError, SettingsFile, take_map
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


_FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
    "sort": str, "descending": bool, "columns": (list, tuple), "problemsOnly": bool, "showAll": bool,
    "grouped": bool, "screen": str, "filter": str,
}  # fmt: skip


def parse_record(json_value: Any) -> ViewRecord | None:
    """The record of a JSON value. Values of a wrong kind get their default; None for no map."""
    if not isinstance(json_value, Mapping):
        return None

    known = ((n, value) for n, value in json_value.items() if isinstance(value, _FIELD_TYPES.get(n, ())))
    fields: dict[str, Any] = dict(known)
    columns = fields.pop("columns", ())
    is_valid = all(isinstance(column, str) for column in columns)
    return ViewRecord(**fields, columns=tuple(columns) if columns and is_valid else None)


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


class ViewSettingsController:
    """Remembers the settings of one app. Without a file, only saved views of this session exist."""

    def __init__(self, app: BaseTui, settings_file: SettingsFile | None) -> None:
        self._app = app
        self._settings_file = settings_file
        self._known_records: dict[str, ViewRecord] = {}
        self._open_states: dict[str, ViewState] = {}
        self._known_theme: str | None = None
        self.error_text: str | None = None
        self._settings: dict[str, Any] = {}
        self.load_settings()

    # The settings of the context.

    def load_settings(self) -> None:
        """Read the file again. A broken file counts as empty."""
        if self._settings_file is None:
            return
        try:
            self._settings = self._settings_file.read_settings()
        except BrokenSettingsError as error:
            self._settings, self.error_text = {}, str(error)

    @property
    def _context_settings(self) -> dict[str, Any]:
        return take_map(take_map(self._settings, "contexts"), self._app.cluster_context.label)

    @property
    def remembered_theme(self) -> str | None:
        theme = self._context_settings.get("theme")
        return theme if isinstance(theme, str) and theme in self._app.available_themes else None

    def prepare_state(self, state: ViewState) -> None:
        """Restore the remembered settings of a view that opens."""
        name = state.view.name
        record = parse_record(take_map(self._context_settings, "screens").get(name))
        if record is not None:
            apply_record(record, state)
        self._known_records[name] = record_view(state)
        self._open_states[name] = state

    def remember_theme(self) -> None:
        """Save later changes of the theme. The current theme is the one at the start of the screen."""
        self._known_theme = self._app.theme

    def remember_changes(self) -> None:
        """Save what the operator has changed since the last call."""
        app = self._app
        new_theme = app.theme if self._known_theme not in (None, app.theme) else None
        records = {name: record_view(state) for name, state in self._open_states.items()}
        new_records = {name: r for name, r in records.items() if r != self._known_records.get(name)}
        if new_theme is None and not new_records:
            return
        self._known_records.update(new_records)
        self._known_theme = app.theme
        context_label = app.cluster_context.label

        def change(settings: dict[str, Any]) -> None:
            context_settings = take_map(take_map(settings, "contexts"), context_label)
            if new_theme is not None:
                context_settings["theme"] = new_theme
            for view_name, record in new_records.items():
                take_map(context_settings, "screens")[view_name] = record._asdict()

        self._change_settings(change)

    def _change_settings(self, change: Any) -> None:
        change(self._settings)
        if self._settings_file is None:
            return
        try:
            self._settings_file.change_settings(change)
        except OSError as error:
            self._app.show_message(f"the settings were not saved: {error.strerror}", "bad")

    # Saved views.

    def list_view_names(self) -> list[str]:
        """The names of the saved views, of all contexts."""
        return sorted(take_map(self._settings, "views"))

    def save_view(self, name: str) -> None:
        """Save the current screen with its filter, sort order and columns."""
        app, state = self._app, self._app.view_state
        name = name.strip()
        if state.view.name not in root_views.ROOT_VIEWS:
            app.show_message("only the screens of number keys can be saved as a view", "warn")
        elif not name or " " in name:
            app.show_message(f'invalid name "{name}": use a word without blanks', "bad")
        else:
            saved_record = record_view(state)._replace(screen=state.view.name, filter=state.row_filter.text)

            def change(settings: dict[str, Any]) -> None:
                take_map(settings, "views")[name] = saved_record._asdict()

            self._change_settings(change)
            app.show_message(f"saved the view {name}: open it with :view {name}")

    def open_view(self, name: str | None = None) -> None:
        """Open a saved view. Without a name, let the operator choose one."""
        app = self._app
        self.load_settings()
        if name is None:
            self._choose_view()
            return
        record = parse_record(take_map(self._settings, "views").get(name))
        if record is None or record.screen is None or record.screen not in root_views.ROOT_VIEWS:
            names_text = ", ".join(self.list_view_names()) or "none is saved; V saves this one"
            app.show_message(f'unknown view "{name}": {names_text}', "bad")
            return
        app.show_view(root_views.make_view(record.screen))
        state = app.view_state
        apply_record(record, state)
        # The settings of a saved view are not saved as those of the context.
        self._known_records[state.view.name] = record_view(state)
        app.redraw_screen()

    def _choose_view(self) -> None:
        app, view_names = self._app, self.list_view_names()
        if not view_names:
            app.show_message("no view is saved: V saves this one", "warn")
            return
        app.choose("Views", [(name, name) for name in view_names], self.open_view)

    def delete_view(self, name: str | None) -> None:
        if name not in take_map(self._settings, "views"):
            self._app.show_message(f'unknown view "{name or ""}": {", ".join(self.list_view_names())}', "bad")
            return
        self._change_settings(lambda settings: take_map(settings, "views").pop(name, None))
        self._app.show_message(f"deleted the view {name}")

    # Columns.

    def choose_columns(self) -> None:
        app, state = self._app, self._app.view_state
        columns = [column for column in state.view.columns if column.heading]
        if not columns:
            app.show_message("this view has no columns", "warn")
            return
        from nsadmin.tui.screens.dialogs import ColumnChooser

        def show_columns(chosen_keys: list[str] | None) -> None:
            if not chosen_keys:
                return
            is_all = len(chosen_keys) == len(columns)
            # Columns without a title, such as graphs, belong to the column before them.
            state.chosen_columns = None if is_all else tuple(chosen_keys)
            app.redraw_screen()

        app.push_screen(ColumnChooser(columns, state.chosen_columns), show_columns)
