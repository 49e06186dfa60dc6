"""The screens that change something: previews with --dry-run, a typed confirmation, then the changes."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, Label, Log

from nsadmin.tui.actions.planned_commands import (
    CommandProgress,
    CommandStage,
    PlannedCommand,
    summarize_progress,
)
from nsadmin.tui.screens.background_jobs import BACKGROUND_OPTIONS, BackgroundJobs
from nsadmin.tui.screens.command_output import CommandScreen
from nsadmin.tui.screens.screen_text import make_panel
from nsadmin.tui.widgets.lines import Lines

_MAX_RESULT_LINES = 10


class ConfirmScreen(CommandScreen):
    """Runs previews, and after a typed confirmation the changes."""

    running_hint = "Esc closes"

    def __init__(
        self, title_text: str, global_options: Sequence[str], confirm_text: str, jobs: BackgroundJobs | None
    ) -> None:
        super().__init__(title_text, global_options)
        self.confirm_text, self._jobs = confirm_text, jobs
        self.is_confirmed = False

    def compose(self) -> ComposeResult:
        with make_panel(self._title_text, "Esc cancels"):
            yield from self.compose_results()
            yield Log(id="output")
            yield Label("", id="question", markup=False)
            yield Input(id="confirm")

    def compose_results(self) -> ComposeResult:
        """The widgets above the output."""
        yield from ()

    def on_mount(self) -> None:
        self.query_one("#question").display = self.query_one("#confirm").display = False

    def ask_confirmation(self, purpose: str) -> None:
        if self.is_closing:
            return
        self.show_question(f'The output above is a preview. Type "{self.confirm_text}" to {purpose}:')
        self.query_one("#confirm").display = True
        self.query_one("#confirm").focus()

    def show_question(self, question_text: str) -> None:
        self.query_one("#question", Label).update(question_text)
        self.query_one("#question").display = True

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self.is_confirmed or message.value.strip() != self.confirm_text:
            message.input.value = ""
            return
        self.is_confirmed = True
        message.input.display = self.query_one("#question").display = False
        self.query_one(".panel").border_subtitle = self.running_hint
        self.query_one(Log).clear().focus()
        self.start_changes()

    def start_changes(self) -> None:
        self.run_worker(self.run_changes, thread=True)

    def run_changes(self) -> None:
        """Run the changes. This method runs in a thread."""
        raise NotImplementedError

    def start_in_background(self, words: Sequence[str]) -> bool:
        """Start a command that goes on after the screen is closed. False: it is none of these."""
        if self._jobs is None or words[0] not in BACKGROUND_OPTIONS:
            return False
        self._jobs.start_job(add_options(words, *BACKGROUND_OPTIONS[words[0]]), self.global_options)
        return True


class ChangeScreen(ConfirmScreen):
    """Runs a changing command: first a preview with --dry-run, then a typed confirmation, then the change."""

    def __init__(
        self,
        words: Sequence[str],
        global_options: Sequence[str],
        confirm_target: str,
        jobs: BackgroundJobs | None = None,
    ) -> None:
        super().__init__(f"nsadmin {' '.join(words)}", global_options, confirm_target, jobs)
        self.words, self._change_words = add_options(words, "--dry-run"), add_options(words, "--yes")

    def run_commands(self) -> None:
        self.app.call_from_thread(self._end_preview, self.run_command(self.words))

    def _end_preview(self, exit_code: int | None) -> None:
        # One step: what is typed after the exit code goes to the input.
        self.show_exit_code(exit_code, self.words)
        if exit_code == 0:
            self.ask_confirmation("make the change")

    def start_changes(self) -> None:
        if self.start_in_background(self._change_words):
            self.action_close()
        else:
            super().start_changes()

    def run_changes(self) -> None:
        exit_code = self.run_command(self._change_words)
        self.app.call_from_thread(self.show_exit_code, exit_code, self.words)


def add_options(words: Sequence[str], *options: str) -> list[str]:
    """The words with options behind them, but before "--", after which no word is an option."""
    options_end = words.index("--") if "--" in words else len(words)
    return [*words[:options_end], *options, *words[options_end:]]


class BatchChangeScreen(ConfirmScreen, inherit_bindings=False):
    """Runs several commands one after the other, with one confirmation and a result for each of them.

    The result is None if nothing was sent, else whether all commands succeeded.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]
    running_hint = "Esc stops before the next command"

    def __init__(
        self,
        title: str,
        commands: Sequence[PlannedCommand],
        global_options: Sequence[str],
        confirm_text: str,
        intro_lines: Sequence[str] = (),
        jobs: BackgroundJobs | None = None,
    ) -> None:
        super().__init__(title, global_options, confirm_text, jobs)
        self.progress_list = [CommandProgress(command) for command in commands]
        self._intro_lines = list(intro_lines)

    def compose_results(self) -> ComposeResult:
        with VerticalScroll(id="resultScroll"):
            yield Lines("surface", id="results")

    def on_mount(self) -> None:
        self.query_one("#resultScroll").styles.height = min(len(self.progress_list), _MAX_RESULT_LINES)
        self.query_one("#results").styles.height = len(self.progress_list)
        self._show_progress()
        for line in self._intro_lines:
            self.write_line(line)

    # The commands. These methods run in a thread.

    def run_commands(self) -> None:
        for index, progress in enumerate(self.progress_list):
            words = list(progress.command.words)
            if not progress.command.is_check:
                words = add_options(words, "--dry-run")
            self._run_step(index, words, "previewing", "previewed")
        self.app.call_from_thread(self._ask_if_succeeded)

    def run_changes(self) -> None:
        for index, progress in enumerate(self.progress_list):
            if progress.command.is_check:
                continue
            words = add_options(progress.command.words, "--yes")
            if self.is_closing:
                self._set_stage(index, "skipped")
            elif self.start_in_background(words):
                self._set_stage(index, "started")
            else:
                self._run_step(index, words, "running", "ended")
        self.app.call_from_thread(self._show_summary)

    def _run_step(
        self, index: int, words: Sequence[str], running_stage: CommandStage, ended_stage: CommandStage
    ) -> None:
        if self.is_closing:
            return
        self._set_stage(index, running_stage)
        self.app.call_from_thread(self.write_line, f"── nsadmin {' '.join(words)}")
        exit_code = self.run_command(words)
        self._set_stage(index, ended_stage, 1 if exit_code is None else exit_code)

    def _set_stage(self, index: int, stage: CommandStage, exit_code: int | None = None) -> None:
        self.progress_list[index] = self.progress_list[index]._replace(stage=stage, exit_code=exit_code)
        self.app.call_from_thread(self._show_progress)

    # The widgets.

    def _show_progress(self) -> None:
        title_width = max(len(progress.command.title) for progress in self.progress_list)
        for widget in self.query("#results").results(Lines):
            widget.show_lines([progress.render_line(title_width) for progress in self.progress_list])

    def _ask_if_succeeded(self) -> None:
        """Ask for the confirmation, unless a preview failed: then no change is made."""
        failed_count = sum(progress.has_failed for progress in self.progress_list)
        if not failed_count:
            self.ask_confirmation("make all changes")
        elif not self.is_closing:
            count_text = f"{failed_count} of {len(self.progress_list)}"
            self.show_question(f"{count_text} previews failed: nothing was changed.")

    def _show_summary(self) -> None:
        self.is_closing = True
        self.write_line(f"── {summarize_progress(self.progress_list)}")
        for panel in self.query(".panel"):
            panel.border_subtitle = "Esc closes"

    def action_close(self) -> None:
        """Close the screen. While changes run, interrupt the current one and skip the others first."""
        is_running = self.is_confirmed and not self.is_closing
        self.interrupt()
        if is_running:
            return
        has_failed = any(p.has_failed or p.stage == "skipped" for p in self.progress_list)
        self.dismiss(not has_failed if self.is_confirmed else None)
