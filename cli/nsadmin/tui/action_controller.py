"""The controller behind keys and the prompt: runs commands and actions, changes contexts, and saves files."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from nsadmin.tui.actions import prompt_parser, row_actions
from nsadmin.tui.actions.prompt_parser import parse_moment
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.context import ClusterContext
from nsadmin.tui.navigation import root_views
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.views import row_export, units

POLL_INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)


class ActionController:
    """Controls one app. It shows results and errors in the last line of the screen."""

    def __init__(self, app: BaseTui) -> None:
        self._app = app

    # Commands.

    def run_prompt_line(self, line: str) -> None:
        """Run a line that the operator typed after the colon."""
        app = self._app
        parsed = prompt_parser.parse_prompt_line(line, root_views.SCREEN_NAMES, app.prompt_aliases)
        if parsed.error_text is not None:
            app.show_message(parsed.error_text, "bad")
        elif parsed.screen_name is not None:
            app.show_view(root_views.make_view(parsed.screen_name))
            if parsed.filter_text is not None:
                app.table.set_filter(parsed.filter_text)
                app.redraw_screen()
        elif parsed.builtin_command is not None:
            self._run_builtin(parsed.builtin_command, parsed.argument)
        elif parsed.message_words is not None:
            app.messages.open_words(parsed.message_words)
        elif parsed.command_words:
            self.run_command(parsed.command_words)

    def _run_builtin(self, command: str, argument: str | None) -> None:
        app = self._app
        commands_with_argument = {
            "theme": self.use_theme, "context": self.choose_context, "view": app.view_settings.open_view,
            "deleteView": app.view_settings.delete_view,
            "plugin": app.custom_command_controller.run_plugin_by_name,
        }  # fmt: skip
        if command in commands_with_argument:
            commands_with_argument[command](argument)
        elif command == "columns":
            app.view_settings.choose_columns()
        else:
            app.call_later(app.run_action, command)

    def run_command(self, words: Sequence[str]) -> None:
        """Run a command line of nsadmin. A command that changes something needs a confirmation first."""
        from nsadmin.tui.screens.command_output import OutputScreen

        app, entry = self._app, row_actions.find_entry(words)
        refusal = row_actions.explain_refusal(words, app.cluster_context.read_only)
        if refusal is not None or entry is None:
            app.show_message(refusal or "", "bad")
        elif row_actions.needs_confirmation(words):
            target = app.cluster_context.find_target(words) or entry.typed_name
            app.row_actions.open_change_screen(words, target)
        else:
            # Local commands ask no server and do not have the options of connections.
            options = () if entry.kind == "local" else app.cluster_context.words
            app.push_screen(OutputScreen(words, options))

    def start_background(self, title: str, arguments: Sequence[str]) -> None:
        """Start a program in the background. Its last line and exit code are shown when it has ended."""
        try:
            self._app.jobs.start_program(title, arguments, os.environ)
        except (OSError, ValueError) as error:
            self._app.show_message(f"{title}: {getattr(error, 'strerror', None) or error}", "bad")
        else:
            self._app.show_message(f"{title} runs in the background")

    def report_ended_jobs(self) -> None:
        for job in self._app.jobs.take_ended_jobs():
            end_text = f"{job.title} ended with exit code {job.exit_code}: {job.last_line}"
            self._app.show_message(end_text, "bad" if job.exit_code else "accent")

    def stop_drain(self) -> None:
        """Interrupt the process of this row's drain or restart. A drained broker stays drained for now."""
        app, subject = self._app, self._app.row_actions.find_current_subject()
        if subject.holder_pid is None:
            app.show_message("no drain and no restart runs in this row", "warn")
        elif subject.holder_pid <= 0:
            # A signal to process 0 would reach this program and all others of its group.
            app.show_message("stop: the process of this row is not known yet: try again", "warn")
        elif app.cluster_context.read_only:
            app.show_message("stop: this context is read-only", "bad")
        else:
            with suppress(ProcessLookupError):
                os.kill(subject.holder_pid, signal.SIGINT)
            text = (
                f"stopped the drain of {subject.broker_name}: "
                "a registration can restore the write permission; d resumes the drain"
            )
            if subject.restart_commands is not None:
                text = f"the restart of {subject.cluster} stops after this step; R resumes"
            app.show_message(text, "warn")

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

    def choose_context(self, name: str | None = None) -> None:
        """Open the context of this name. Without a name, let the operator choose from a list."""
        app = self._app
        if name is not None:
            app.run_worker(lambda: self._load_context(name), thread=True)
            return
        names = list(app.available_contexts.list_names())
        if not names:
            app.show_message("no contexts: create one with `nsadmin context set NAME -n HOST:PORT`", "warn")
            return
        choices = [(offered, offered) for offered in names]
        app.choose("Contexts", choices, self.choose_context, app.cluster_context.label)

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

    def copy_row(self) -> None:
        """Copy the row at the cursor to the clipboard, or the whole screen if the view is a drawing."""
        app = self._app
        if app.current_view.is_drawing:
            copied_text = screen_to_text(app)
        elif app.row_grid.cursor_item is None:
            return
        else:
            copied_text = row_export.format_row(app.current_view, app.row_grid.cursor_item)
        app.copy_to_clipboard(copied_text)
        app.show_message("copied, if the terminal allows it")
