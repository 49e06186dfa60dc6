"""The controller of the prompt in the last line: opens it for a mode, and runs what the operator typed."""

from collections.abc import Sequence
from functools import partial

from nsadmin.command_line import registry
from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.actions.prompt_completion import (
    Candidate,
    CandidateChoice,
    UnfinishedLine,
    split_line,
)
from nsadmin.tui.actions.row_actions import TERMINAL_KINDS
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.navigation import root_views
from nsadmin.tui.screens import screen_export
from nsadmin.tui.views import row_export, units
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import InvalidFilterError, RowFilter
from nsadmin.tui.widgets.prompt import PromptMode


class PromptController:
    def __init__(self, app: BaseTui) -> None:
        self._app = app
        self._candidate_choice: CandidateChoice | None = None

    def open_prompt(self, mode: PromptMode, initial_text: str | None = None) -> None:
        """Open the prompt, with this text or with the usual one of the mode."""
        app = self._app
        if mode == "seek" and app.player is None:
            app.show_message("only a replay has a timeline: start nsadmin tui with --replay", "warn")
            return
        if initial_text is None:
            initial_text = self._usual_text(mode)
        suggested_lines = []
        if mode == "command":
            command_names = (e.typed_name for e in registry.COMMANDS if e.kind not in TERMINAL_KINDS)
            suggested_lines = [*(" ".join(words) for words, _ in self._list_own_lines()), *command_names]
        app.screen_stack[0].add_class("asking")
        app.prompt_input.open_prompt(mode, initial_text, suggested_lines)

    def _usual_text(self, mode: PromptMode) -> str:
        app = self._app
        if mode == "seek":
            return units.format_clock(app.clock())
        if mode == "filter":
            return app.view_state.row_filter.text
        if mode == "save":
            return row_export.suggest_file_name(app.current_view, app.clock())
        return ""

    # Completion.

    def complete_line(self, line: str, step: int) -> None:
        """Complete the last word of the line. A further call chooses the next or the previous candidate."""
        choice = self._candidate_choice
        if choice is not None and choice.line_text == line and len(choice.candidates) > 1:
            choice.step_choice(step)
            self._show_choice(choice)
            return
        unfinished = split_line(line)
        if unfinished is not None:
            *words_before, typed_word = (*unfinished.words_before, unfinished.typed_word.lower())
            own_candidates = [
                (words[-1], description)
                for words, description in self._list_own_lines()
                if words[:-1] == words_before and words[-1].lower().startswith(typed_word)
            ]
            find = partial(self._find_candidates, line, unfinished, own_candidates)
            self._app.run_worker(find, thread=True, exclusive=True, group="completion")

    def _list_own_lines(self) -> list[tuple[list[str], str]]:
        """The lines of the prompt that are no command of nsadmin: their words, and what they are."""
        app = self._app
        contexts, views = app.available_contexts.list_names(), app.view_settings.list_view_names()
        names_by_command = {
            "theme": sorted(app.available_themes), "context": contexts, "ctx": contexts, "view": views,
            "deleteView": views, "plugin": [plugin.name for plugin in app.custom_commands.plugins],
        }  # fmt: skip
        return [
            *(([name], "screen") for name in root_views.SCREEN_NAMES),
            *(([command], "") for command in prompt_parser.BUILTIN_COMMANDS),
            *(([alias], f"alias of {line}") for alias, line in app.prompt_aliases.items()),
            *(([command, name], "") for command, names in names_by_command.items() for name in names),
        ]

    def _find_candidates(self, line: str, unfinished: UnfinishedLine, own: list[Candidate]) -> None:
        """Find the candidates in a thread, because this may wait for servers."""
        app = self._app
        words_before, typed_word, word_start = unfinished
        try:
            words = prompt_parser.name_command(words_before)
            candidates = [*own, *app.cluster_context.complete_line(words, typed_word)]
        except Exception as error:
            app.call_from_thread(app.add_log_line, f"completion: {type(error).__name__}: {error}")
            return
        choice = CandidateChoice(line, word_start, candidates)
        app.call_from_thread(self._offer_choice, line, choice)

    def _offer_choice(self, line: str, choice: CandidateChoice) -> None:
        """Show the candidates, unless the operator has typed on."""
        prompt = self._app.prompt_input
        if prompt.display and prompt.value == line and choice.candidates:
            self._show_choice(choice)

    def _show_choice(self, choice: CandidateChoice) -> None:
        app = self._app
        self._candidate_choice = choice
        app.prompt_input.replace_line(choice.line_text)
        self._show_candidates(choice.render_lines(app.size.width))

    def _show_candidates(self, lines: Sequence[CellLine]) -> None:
        widget = self._app.find_lines("candidates")
        widget.show_lines(lines)
        widget.styles.height = len(lines)
        widget.display = bool(lines)

    # The text of the prompt.

    def follow_typing(self, mode: PromptMode, text: str) -> None:
        """Filter the rows by a text that the operator still types, and hide candidates of an earlier text."""
        app = self._app
        if self._candidate_choice is not None and self._candidate_choice.line_text != text:
            self._candidate_choice = None
            self._show_candidates(())
        if mode == "filter" and app.screen_stack[0].has_class("asking"):
            try:
                app.view_state.row_filter = RowFilter(text)
            except InvalidFilterError:
                # The operator has typed only a part of the regular expression so far.
                return
            app.redraw_screen()

    def close_prompt(self, mode: PromptMode, text: str | None) -> None:
        """Close the prompt and run its text. After Esc the text is None."""
        app, actions = self._app, self._app.action_controller
        self._candidate_choice = None
        self._show_candidates(())
        app.screen_stack[0].remove_class("asking")
        app.prompt_input.display = False
        app.focus_rows()
        if mode == "filter":
            app.table.set_filter(text or "")
        if mode == "command" and text:
            actions.run_prompt_line(text)
        if mode == "seek" and text:
            actions.seek_moment(text)
        if mode == "view" and text:
            app.view_settings.save_view(text)
        if mode == "save" and text:
            # Save after the next refresh: the file must not show the prompt.
            file_name = text
            app.call_after_refresh(lambda: screen_export.save_screen(app, file_name))
        app.redraw_screen()
