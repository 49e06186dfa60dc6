"""The screens that run a command and show its output. A changing command first runs with --dry-run."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Log

from nsadmin.tui.actions.row_actions import meaning_of_code
from nsadmin.tui.screens.background_jobs import BACKGROUND_OPTIONS, BackgroundJobs
from nsadmin.tui.screens.command_process import CommandProcess, ProgramProcess
from nsadmin.tui.screens.screen_text import literal_title
from nsadmin.tui.views.table import escape_unprintable

MIN_OUTPUT_WIDTH = 160
"""On a narrower screen the output scrolls sideways: a table of 80 columns would lack result and error."""


class OutputScreen(ModalScreen[int | None]):
    """Runs a command that only reads. Esc closes the screen and interrupts the command if it still runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("q", "close", "Close", show=False),
    ]

    def __init__(self, command_words: Sequence[str], options: Sequence[str] = ()) -> None:
        super().__init__()
        self.words = list(command_words)
        self.global_options = list(options)
        self.exit_code: int | None = None
        self._command_process: CommandProcess | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(f"nsadmin {' '.join(self.words)}")
            panel.border_subtitle = "Esc closes"
            yield Log(id="output")

    def on_mount(self) -> None:
        self.query_one(Log).focus()
        self.prepare_widgets()
        self.start_command(self.words)

    def prepare_widgets(self) -> None:
        """Prepare the widgets before the command starts. Subclasses override this."""

    def start_command(self, command_words: Sequence[str]) -> None:
        process = self._command_process = CommandProcess(
            command_words, self.global_options, max(self.app.size.width - 8, MIN_OUTPUT_WIDTH)
        )
        self.run_worker(lambda: self._stream_output(process), thread=True)

    def _stream_output(self, process: CommandProcess) -> None:
        """Run the command in a thread and pass each line to the screen."""
        for line in process.read_lines():
            self.app.call_from_thread(self._write_line, line)
        self.app.call_from_thread(self._show_exit_code, process.exit_code)

    def _write_line(self, line: str) -> None:
        for log in self.query(Log):
            log.write_line(escape_unprintable(line))

    def _show_exit_code(self, exit_code: int | None) -> None:
        self.exit_code = exit_code
        # A closed screen has no widgets any more.
        if self.query(Log):
            code_meaning = meaning_of_code(exit_code, self.words)
            self._write_line(f"-- exit code {exit_code}{f': {code_meaning}' if code_meaning else ''}")
            self.handle_end()

    def handle_end(self) -> None:
        """React to the end of the command. Subclasses override this."""

    def action_close(self) -> None:
        if self._command_process is not None:
            self._command_process.interrupt_process()
        self.dismiss(self.exit_code)

    def on_unmount(self) -> None:
        if self._command_process is not None:
            self._command_process.interrupt_process()


class ChangeScreen(OutputScreen):
    """Runs a changing command: first a preview with --dry-run, then a typed confirmation, then the change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def __init__(
        self,
        command_words: Sequence[str],
        options: Sequence[str],
        confirm_target: str,
        jobs: BackgroundJobs | None = None,
    ) -> None:
        super().__init__(add_option(command_words, "--dry-run"), options)
        self._change_words = list(command_words)
        self._confirm_target = confirm_target
        self._jobs = jobs
        self.is_confirmed = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(f"nsadmin {' '.join(self._change_words)}")
            panel.border_subtitle = "Esc cancels"
            yield Log(id="output")
            yield Label(
                f'The output above is a preview. Type "{self._confirm_target}" to make the change:',
                id="question",
                markup=False,
            )
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
        panel = self.query_one(".panel")
        panel.border_subtitle = "Esc closes"
        log = self.query_one(Log)
        log.clear()
        log.focus()
        words = add_option(self._change_words, "--yes")
        if self._jobs is None or words[0] not in BACKGROUND_OPTIONS:
            self.start_command(words)
            return
        for option in BACKGROUND_OPTIONS[words[0]]:
            words = add_option(words, option)
        self._jobs.start_job(words, self.global_options)
        self.dismiss(0)


def add_option(command_words: Sequence[str], option: str) -> list[str]:
    """The words with an option behind them, but before "--", after which no word is an option."""
    options_end = command_words.index("--") if "--" in command_words else len(command_words)
    return [*command_words[:options_end], option, *command_words[options_end:]]


class PluginScreen(OutputScreen):
    """Runs one command for each row. Esc interrupts the current one and skips the others."""

    def __init__(
        self, plugin_name: str, lines: Sequence[Sequence[str]], arguments_list: Sequence[Sequence[str]]
    ) -> None:
        super().__init__(lines[0])
        self.command_lines = [list(line) for line in lines]
        self._arguments_list = list(arguments_list)
        self._plugin_name = plugin_name
        self._is_closed = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(f"{self._plugin_name}: {' '.join(self.command_lines[0])}")
            panel.border_subtitle = "Esc closes"
            yield Log(id="output")

    def start_command(self, command_words: Sequence[str]) -> None:
        self.run_worker(self._run_all, thread=True)

    def _run_all(self) -> None:
        """Run the commands in a thread."""
        for words, arguments in zip(self.command_lines, self._arguments_list, strict=True):
            if self._is_closed:
                return
            if len(self.command_lines) > 1:
                self.app.call_from_thread(self._write_line, f"── {' '.join(words)}")
            program_process = self._command_process = ProgramProcess(
                arguments, output_width=max(self.app.size.width - 8, MIN_OUTPUT_WIDTH)
            )
            for line in program_process.read_lines():
                self.app.call_from_thread(self._write_line, line)
            self.exit_code = program_process.exit_code
            self.app.call_from_thread(self._write_line, f"-- exit code {self.exit_code}")

    def action_close(self) -> None:
        # First: the thread starts the next command as soon as the current one has been interrupted.
        self._is_closed = True
        super().action_close()

    def on_unmount(self) -> None:
        self._is_closed = True
        super().on_unmount()
