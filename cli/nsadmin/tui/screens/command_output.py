"""The screens that run a command that only reads, or the commands of a plugin, and show their output."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Log

from nsadmin.tui.actions.row_actions import meaning_of_code
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

    def __init__(self, words: Sequence[str], global_options: Sequence[str] = ()) -> None:
        super().__init__()
        self.words, self.global_options = list(words), list(global_options)
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

    @property
    def output_width(self) -> int:
        return max(self.app.size.width - 8, MIN_OUTPUT_WIDTH)

    def start_command(self, words: Sequence[str]) -> None:
        process = self._command_process = CommandProcess(words, self.global_options, self.output_width)
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


class PluginScreen(OutputScreen):
    """Runs one command for each row. Esc interrupts the current one and skips the others."""

    def __init__(
        self, plugin_name: str, lines: Sequence[Sequence[str]], arguments_list: Sequence[Sequence[str]]
    ) -> None:
        super().__init__(lines[0])
        self.command_lines = [list(line) for line in lines]
        self._plugin_name, self._arguments_list = plugin_name, list(arguments_list)
        self._is_closed = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = literal_title(f"{self._plugin_name}: {' '.join(self.command_lines[0])}")
            panel.border_subtitle = "Esc closes"
            yield Log(id="output")

    def start_command(self, words: Sequence[str]) -> None:
        self.run_worker(self._run_all, thread=True)

    def _run_all(self) -> None:
        """Run the commands in a thread."""
        for words, arguments in zip(self.command_lines, self._arguments_list, strict=True):
            if self._is_closed:
                return
            if len(self.command_lines) > 1:
                self.app.call_from_thread(self._write_line, f"── {' '.join(words)}")
            process = self._command_process = ProgramProcess(arguments, output_width=self.output_width)
            for line in process.read_lines():
                self.app.call_from_thread(self._write_line, line)
            self.exit_code = process.exit_code
            self.app.call_from_thread(self._write_line, f"-- exit code {self.exit_code}")

    def action_close(self) -> None:
        # First: the thread starts the next command as soon as the current one has been interrupted.
        self._is_closed = True
        super().action_close()

    def on_unmount(self) -> None:
        self._is_closed = True
        super().on_unmount()
