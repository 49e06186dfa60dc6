"""The controller of the prompt in the last line: opens it for a mode, and runs what the operator typed."""

from nsadmin.tui.action_controller import ActionController
from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.navigation import root_views
from nsadmin.tui.views import row_export, units
from nsadmin.tui.views.table import InvalidFilterError, RowFilter
from nsadmin.tui.widgets.prompt import PromptMode


class PromptController:
    """Controls the prompt of one app."""

    def __init__(self, app: BaseTui, action_controller: ActionController) -> None:
        self._app = app
        self._action_controller = action_controller

    def open_prompt(self, prompt_mode: PromptMode, initial_text: str | None = None) -> None:
        """Open the prompt, with this text or with the usual one of the mode."""
        app = self._app
        if prompt_mode == "seek" and app.player is None:
            app.show_message("only a replay has a timeline: start nsadmin tui with --replay", "warn")
            return
        if initial_text is None:
            initial_text = self._usual_text(prompt_mode)
        suggested_lines = (
            prompt_parser.list_suggestions(
                root_views.SCREEN_NAMES,
                sorted(app.available_themes),
                list(app.available_contexts.list_names()),
            )
            if prompt_mode == "command"
            else ()
        )
        app.screen_stack[0].add_class("asking")
        app.prompt_input.open_prompt(prompt_mode, initial_text, suggested_lines)

    def _usual_text(self, prompt_mode: PromptMode) -> str:
        app = self._app
        if prompt_mode == "seek":
            return units.format_clock(app.clock())
        if prompt_mode == "filter":
            return app.navigation.current_state.row_filter.text
        if prompt_mode == "save":
            return row_export.suggest_file_name(app.current_view, app.clock())
        return ""

    def filter_while_typing(self, prompt_mode: PromptMode, typed_text: str) -> None:
        """Filter the rows by a text that the operator still types."""
        app = self._app
        if prompt_mode == "filter" and app.screen_stack[0].has_class("asking"):
            try:
                app.navigation.current_state.row_filter = RowFilter(typed_text)
            except InvalidFilterError:
                # The operator has typed only a part of the regular expression so far.
                return
            app.redraw_screen()

    def close_prompt(self, prompt_mode: PromptMode, typed_text: str | None) -> None:
        """Close the prompt and run its text. After Esc the text is None."""
        app, actions = self._app, self._action_controller
        app.screen_stack[0].remove_class("asking")
        app.prompt_input.display = False
        app.focus_rows()
        if prompt_mode == "filter":
            actions.table.set_filter(typed_text or "")
        if prompt_mode == "command" and typed_text:
            actions.run_prompt_line(typed_text)
        if prompt_mode == "seek" and typed_text:
            actions.seek_moment(typed_text)
        if prompt_mode == "save" and typed_text:
            # Save after the next refresh: the file must not show the prompt.
            file_name = typed_text
            app.call_after_refresh(lambda: actions.save_screen(file_name))
        app.redraw_screen()
