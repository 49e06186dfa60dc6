"""The screens that change something: previews with --dry-run, a typed confirmation, then the changes."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Log

from nsadmin.tui.actions.planned_commands import (
    CommandProgress,
    CommandStage,
    PlannedCommand,
    summarize_progress,
)
from nsadmin.tui.screens.background_jobs import BACKGROUND_OPTIONS, BackgroundJobs
from nsadmin.tui.screens.command_output import MIN_OUTPUT_WIDTH, OutputScreen
from nsadmin.tui.screens.command_process import CommandProcess
from nsadmin.tui.screens.screen_text import literal_title
from nsadmin.tui.views.table import escape_unprintable
from nsadmin.tui.widgets.lines import Lines

_MAX_RESULT_LINES = 10


class ChangeScreen(OutputScreen):
    """Runs a changing command: first a preview with --dry-run, then a typed confirmation, then the change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def __init__(
        self,
        words: Sequence[str],
        global_options: Sequence[str],
        confirm_target: str,
        jobs: BackgroundJobs | None = None,
    ) -> None:
        super().__init__(add_options(words, "--dry-run"), global_options)
        self._change_words, self._confirm_target, self._jobs = list(words), confirm_target, jobs
        self.is_confirmed = False

    def compose(self) -> ComposeResult:
        question = f'The output above is a preview. Type "{self._confirm_target}" to make the change:'
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(f"nsadmin {' '.join(self._change_words)}")
            panel.border_subtitle = "Esc cancels"
            yield Log(id="output")
            yield Label(question, id="question", markup=False)
            yield Input(id="confirm")

    def prepare_widgets(self) -> None:
        self.query_one("#question").display = self.query_one("#confirm").display = False

    def handle_end(self) -> None:
        """Ask for the confirmation, unless the preview failed or the change has already run."""
        if self.is_confirmed or self.exit_code != 0:
            return
        self.query_one("#question").display = self.query_one("#confirm").display = True
        self.query_one("#confirm", Input).focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self.is_confirmed or message.value.strip() != self._confirm_target:
            message.input.value = ""
            return
        self.is_confirmed = True
        self.query_one("#question").display = self.query_one("#confirm").display = False
        self.query_one(".panel").border_subtitle = "Esc closes"
        self.query_one(Log).clear().focus()
        words = add_options(self._change_words, "--yes")
        if self._jobs is None or words[0] not in BACKGROUND_OPTIONS:
            self.start_command(words)
            return
        self._jobs.start_job(add_options(words, *BACKGROUND_OPTIONS[words[0]]), self.global_options)
        self.dismiss(0)


def add_options(words: Sequence[str], *options: str) -> list[str]:
    """The words with options behind them, but before "--", after which no word is an option."""
    options_end = words.index("--") if "--" in words else len(words)
    return [*words[:options_end], *options, *words[options_end:]]


class BatchChangeScreen(ModalScreen[bool | None]):
    """Runs several commands one after the other, with one confirmation and a result for each of them.

    The result is None if nothing was sent, else whether all commands succeeded.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def __init__(
        self,
        title: str,
        commands: Sequence[PlannedCommand],
        global_options: Sequence[str],
        confirm_text: str,
        intro_lines: Sequence[str] = (),
        jobs: BackgroundJobs | None = None,
    ) -> None:
        super().__init__()
        self.progress_list = [CommandProgress(command) for command in commands]
        self._panel_title, self._confirm_text = title, confirm_text
        self._global_options, self._intro_lines, self._jobs = list(global_options), list(intro_lines), jobs
        self.is_confirmed = False
        self._is_closing = False
        self._command_process: CommandProcess | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(self._panel_title)
            panel.border_subtitle = "Esc cancels"
            with VerticalScroll(id="resultScroll"):
                yield Lines("surface", id="results")
            yield Log(id="output")
            yield Label("", id="question", markup=False)
            yield Input(id="confirm")

    def on_mount(self) -> None:
        self.query_one("#question").display = self.query_one("#confirm").display = False
        self.query_one("#resultScroll").styles.height = min(len(self.progress_list), _MAX_RESULT_LINES)
        self.query_one("#results").styles.height = len(self.progress_list)
        self._show_progress()
        for line in self._intro_lines:
            self._write_line(line)
        self.query_one(Log).focus()
        self.run_worker(self._run_previews, thread=True)

    # The commands. These methods run in a thread.

    def _run_previews(self) -> None:
        for index, progress in enumerate(self.progress_list):
            words = list(progress.command.words)
            if not progress.command.is_check:
                words = add_options(words, "--dry-run")
            self._run_command(index, words, "previewing", "previewed")
        if not self._is_closing:
            self.app.call_from_thread(self._ask_confirmation)

    def _run_changes(self) -> None:
        for index, progress in enumerate(self.progress_list):
            if progress.command.is_check:
                continue
            words = add_options(progress.command.words, "--yes")
            if self._is_closing:
                self._set_stage(index, "skipped")
            elif self._jobs is not None and words[0] in BACKGROUND_OPTIONS:
                words = add_options(words, *BACKGROUND_OPTIONS[words[0]])
                self._jobs.start_job(words, self._global_options)
                self._set_stage(index, "started")
            else:
                self._run_command(index, words, "running", "ended")
        self.app.call_from_thread(self._show_summary)

    def _run_command(
        self, index: int, words: Sequence[str], running_stage: CommandStage, ended_stage: CommandStage
    ) -> None:
        if self._is_closing:
            return
        self._set_stage(index, running_stage)
        self.app.call_from_thread(self._write_line, f"── nsadmin {' '.join(words)}")
        width = max(self.app.size.width - 8, MIN_OUTPUT_WIDTH)
        process = self._command_process = CommandProcess(words, self._global_options, width)
        for line in process.read_lines():
            self.app.call_from_thread(self._write_line, line)
        self._set_stage(index, ended_stage, 1 if process.exit_code is None else process.exit_code)

    def _set_stage(self, index: int, stage: CommandStage, exit_code: int | None = None) -> None:
        self.progress_list[index] = self.progress_list[index]._replace(stage=stage, exit_code=exit_code)
        self.app.call_from_thread(self._show_progress)

    # The widgets.

    def _write_line(self, line: str) -> None:
        for log in self.query(Log):
            log.write_line(escape_unprintable(line))

    def _show_progress(self) -> None:
        title_width = max(len(progress.command.title) for progress in self.progress_list)
        for widget in self.query("#results").results(Lines):
            widget.show_lines([progress.render_line(title_width) for progress in self.progress_list])

    def _ask_confirmation(self) -> None:
        """Ask for the confirmation, unless a preview failed: then no change is made."""
        question = self.query_one("#question", Label)
        question.display = True
        failed_count = sum(progress.has_failed for progress in self.progress_list)
        if failed_count:
            count_text = f"{failed_count} of {len(self.progress_list)}"
            question.update(f"{count_text} previews failed: nothing was changed.")
            return
        question.update(f'The output above is a preview. Type "{self._confirm_text}" to make all changes:')
        confirm_input = self.query_one("#confirm", Input)
        confirm_input.display = True
        confirm_input.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self.is_confirmed or message.value.strip() != self._confirm_text:
            message.input.value = ""
            return
        self.is_confirmed = True
        message.input.display = self.query_one("#question").display = False
        self.query_one(".panel").border_subtitle = "Esc stops before the next command"
        self.query_one(Log).clear().focus()
        self.run_worker(self._run_changes, thread=True)

    def _show_summary(self) -> None:
        self._is_closing = True
        self._write_line(f"── {summarize_progress(self.progress_list)}")
        for panel in self.query(".panel"):
            panel.border_subtitle = "Esc closes"

    def action_close(self) -> None:
        """Close the screen. While changes run, interrupt the current one and skip the others first."""
        is_running = self.is_confirmed and not self._is_closing
        self._stop()
        if is_running:
            return
        has_failed = any(p.has_failed or p.stage == "skipped" for p in self.progress_list)
        self.dismiss(not has_failed if self.is_confirmed else None)

    def on_unmount(self) -> None:
        self._stop()

    def _stop(self) -> None:
        self._is_closing = True
        if self._command_process is not None:
            self._command_process.interrupt_process()
