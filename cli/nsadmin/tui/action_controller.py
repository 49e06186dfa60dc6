"""The controller behind keys and the prompt: runs commands and actions, changes contexts, and saves files."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nsadmin.tui.actions import prompt_parser, row_actions
from nsadmin.tui.actions.prompt_parser import parse_moment
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.context import ClusterContext
from nsadmin.tui.message_controller import MessageController
from nsadmin.tui.navigation import root_views
from nsadmin.tui.row_action_controller import RowActionController
from nsadmin.tui.screens import screen_export
from nsadmin.tui.screens.background_jobs import BackgroundJobs
from nsadmin.tui.table_controller import TableController
from nsadmin.tui.views import units

POLL_INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)


class ActionController:
    """Controls one app. It shows results and errors in the last line of the screen.

    `table` controls the rows of the current view, and `row_actions` the actions on them.
    """

    def __init__(self, app: BaseTui) -> None:
        self._app = app
        self.table = TableController(app)
        self.jobs = BackgroundJobs()
        self.row_actions = RowActionController(app, self.jobs, self._poll_after_change)
        self.messages = MessageController(app, self.row_actions)

    # Commands.

    def run_prompt_line(self, line: str) -> None:
        """Run a line that the operator typed after the colon."""
        app, parsed = (
            self._app,
            prompt_parser.parse_prompt_line(line, root_views.SCREEN_NAMES, self._app.prompt_aliases),
        )
        if parsed.error_text is not None:
            app.show_message(parsed.error_text, "bad")
        elif parsed.screen_name is not None:
            app.show_view(root_views.make_view(parsed.screen_name))
            if parsed.filter_text is not None:
                self.table.set_filter(parsed.filter_text)
                app.redraw_screen()
        elif parsed.builtin_command is not None:
            self._run_builtin(parsed.builtin_command, parsed.argument)
        elif parsed.message_words is not None:
            self.messages.open_words(parsed.message_words)
        elif parsed.command_words:
            self.run_command(parsed.command_words)

    def _run_builtin(self, builtin_command: str, argument: str | None) -> None:
        app = self._app
        if builtin_command == "theme":
            self.use_theme(argument)
        elif builtin_command in ("view", "deleteView"):
            views = app.view_settings
            (views.open_view if builtin_command == "view" else views.delete_view)(argument)
        elif builtin_command == "plugin":
            app.custom_command_controller.run_plugin_by_name(argument)
        elif builtin_command == "context":
            self.choose_context(argument)
        else:

            async def run_app_action() -> Any:
                await app.run_action(builtin_command)

            app.run_worker(run_app_action)

    def run_command(self, command_words: Sequence[str]) -> None:
        """Run a command line of nsadmin. A command that changes something needs a confirmation first."""
        from nsadmin.tui.screens.command_output import OutputScreen

        app = self._app
        refusal = row_actions.explain_refusal(command_words, app.cluster_context.read_only)
        entry = row_actions.find_entry(command_words)
        if refusal is not None or entry is None:
            app.show_message(refusal or "", "bad")
        elif row_actions.needs_confirmation(command_words):
            self.row_actions.open_change_screen(
                command_words, app.cluster_context.find_target(command_words) or entry.typed_name
            )
        else:
            # Local commands ask no server and do not have the options of connections.
            options = () if entry.kind == "local" else app.cluster_context.words
            app.push_screen(OutputScreen(command_words, options))

    def start_background(self, title: str, arguments: Sequence[str]) -> None:
        """Start a program in the background. Its last line and exit code are shown when it has ended."""
        try:
            self.jobs.start_program(title, arguments, os.environ)
        except (OSError, ValueError) as error:
            self._app.show_message(f"{title}: {getattr(error, 'strerror', None) or error}", "bad")
        else:
            self._app.show_message(f"{title} runs in the background")

    def report_ended_jobs(self) -> None:
        """Report the background commands that have ended since the last call."""
        for job in self.jobs.take_ended_jobs():
            end_text = f"{job.title} ended with exit code {job.exit_code}: {job.last_line}"
            self._app.show_message(end_text, "bad" if job.exit_code else "accent")

    def stop_drain(self) -> None:
        """Interrupt the process of this row's drain or restart. A drained broker stays drained for now."""
        subject = self.row_actions.find_current_subject()
        if subject.holder_pid is None:
            self._app.show_message("no process holds a drain or a restart in this row", "warn")
        elif subject.holder_pid <= 0:
            # A signal to process 0 would reach this program and all others of its group.
            self._app.show_message("stop: the process that holds it is not known yet: try again", "warn")
        elif self._app.cluster_context.read_only:
            self._app.show_message("stop: this context is read-only", "bad")
        else:
            with suppress(ProcessLookupError):
                os.kill(subject.holder_pid, signal.SIGINT)
            self._app.show_message(
                f"the restart of {subject.cluster} stops after this step; R resumes"
                if subject.restart_commands is not None
                else f"stopped holding {subject.broker_name}: a registration can reopen it; d resumes",
                "warn",
            )

    def _poll_after_change(self, exit_code: int | None) -> None:
        """Poll at once, so that the screen shows the change before the next interval."""
        self._app.feed.look_now()

    # The poll interval.

    def step_interval(self, step: int) -> None:
        """Use the next longer or shorter interval. In a replay, change the speed instead."""
        app = self._app
        if app.player is not None:
            app.feed.step_speed(-step)
        else:
            i = min(range(len(POLL_INTERVALS)), key=lambda i: abs(POLL_INTERVALS[i] - app.interval))
            app.interval = app.feed.interval = POLL_INTERVALS[max(0, min(i + step, len(POLL_INTERVALS) - 1))]
        app.redraw_screen()

    # Contexts and themes.

    def choose_context(self, context_name: str | None = None) -> None:
        """Open the context of this name. Without a name, let the operator choose from a list."""
        app = self._app
        if context_name is not None:
            app.run_worker(lambda: self._load_context(context_name), thread=True)
            return
        contexts = list(app.available_contexts.list_names())
        if not contexts:
            app.show_message("no contexts: create one with `nsadmin context set NAME -n HOST:PORT`", "warn")
            return
        from nsadmin.tui.screens.dialogs import ChooseScreen

        app.push_screen(
            ChooseScreen(
                "Contexts",
                [(offered_name, offered_name) for offered_name in contexts],
                app.cluster_context.label,
            ),
            self._open_chosen_context,
        )

    def _open_chosen_context(self, context_name: str | None) -> None:
        if context_name is not None:
            self.choose_context(context_name)

    def _load_context(self, context_name: str) -> None:
        """Load a context in a thread, because it may ask an address server."""
        app = self._app
        assert app.available_contexts.open_context is not None
        try:
            cluster_context: ClusterContext = app.available_contexts.open_context(context_name)
        except Exception as error:
            app.call_from_thread(app.show_message, str(error), "bad")
            return
        app.call_from_thread(app.switch_context, cluster_context)

    def use_theme(self, name: str | None = None) -> None:
        """Use the theme of this name, or the next one in the alphabet."""
        app = self._app
        themes = sorted(app.available_themes)
        if name is None:
            name = themes[(themes.index(app.theme) + 1) % len(themes)]
        if name not in themes:
            app.show_message(f'unknown theme "{name}": choose from {", ".join(themes)}', "bad")
            return
        app.theme = name
        app.redraw_screen()
        app.show_message(f"theme {name}")

    # Seeking in a replay.

    def seek_moment(self, text: str) -> None:
        """Go to a time of day, or forward or back by a number of seconds such as +60."""
        app, player = self._app, self._app.player
        if player is None:
            app.show_message("only a replay has a timeline: start nsadmin tui with --replay", "warn")
            return
        moment_ms = parse_moment(text, app.clock(), player.begin, player.end)
        if moment_ms is None:
            app.show_message(f'invalid time "{text}": use HH:MM:SS, +60 or -60', "bad")
            return
        app.feed.seek(moment_ms)
        app.show_message(f"at {units.format_moment(moment_ms)}")

    # Copies and files.

    def copy_row(self) -> None:
        screen_export.copy_row(self._app)

    def save_screen(self, file_name: str) -> None:
        screen_export.save_screen(self._app, file_name)


KEY_ACTIONS: Mapping[str, Callable[[ActionController], None]] = {
    "nextProblem": lambda controller: controller.table.move_to_problem(1),
    "previousProblem": lambda controller: controller.table.move_to_problem(-1),
    "problemsOnly": lambda controller: controller.table.toggle_problems_only(),
    "showAll": lambda controller: controller.table.toggle_hidden_rows(),
    "details": lambda controller: controller.table.toggle_details(),
    "sort": lambda controller: controller.table.step_sort_column(1),
    "sortBack": lambda controller: controller.table.step_sort_column(-1),
    "reverse": lambda controller: controller.table.reverse_order(),
    "group": lambda controller: controller.table.toggle_grouping(),
    "fold": lambda controller: controller.table.fold_group(),
    "foldAll": lambda controller: controller.table.fold_all_groups(),
    "messages": lambda controller: controller.messages.open_messages(),
    "moreMessages": lambda controller: controller.messages.read_more(),
    "copy": ActionController.copy_row,
    "context": lambda controller: controller.choose_context(),
    "theme": lambda controller: controller.use_theme(),
    "mark": lambda controller: controller.table.toggle_mark(),
    "markAll": lambda controller: controller.table.toggle_all_marks(),
    "actions": lambda controller: controller.row_actions.show_action_menu(),
    "stopDrain": ActionController.stop_drain,
    "slower": lambda controller: controller.step_interval(1),
    "faster": lambda controller: controller.step_interval(-1),
    "seekBack": lambda controller: controller.seek_moment("-60"),
    "seekOn": lambda controller: controller.seek_moment("+60"),
    "seekFarBack": lambda controller: controller.seek_moment("-600"),
    "seekFarOn": lambda controller: controller.seek_moment("+600"),
}
"""The actions of key bindings, by the id of the binding."""
