"""The screens that run commands: one that only reads, or those of a plugin. They show the output."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Log

from nsadmin.tui.actions.row_actions import meaning_of_code
from nsadmin.tui.screens.command_process import CommandProcess, ProgramProcess
from nsadmin.tui.screens.screen_text import make_panel
from nsadmin.tui.views.table import escape_unprintable

_MIN_OUTPUT_WIDTH = 160
"""On a narrower screen the output scrolls sideways: a table of 80 columns would lack result and error."""


class CommandScreen(ModalScreen[Any]):
    """Runs commands in a thread. Esc interrupts the current one, skips the others, and closes the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Close")]

    def __init__(self, title_text: str, global_options: Sequence[str] = ()) -> None:
        super().__init__()
        self._title_text, self.global_options = title_text, list(global_options)
        self.exit_code: int | None = None
        self.is_closing = False
        self._command_process: CommandProcess | None = None

    def compose(self) -> ComposeResult:
        with make_panel(self._title_text, "Esc closes"):
            yield Log(id="output")

    def on_mount(self) -> None:
        self.query_one(Log).focus()
        self.run_worker(self.run_commands, thread=True)

    def run_commands(self) -> None:
        """Run the commands. This method runs in a thread."""
        raise NotImplementedError

    @property
    def output_width(self) -> int:
        return max(self.app.size.width - 8, _MIN_OUTPUT_WIDTH)

    def run_command(self, words: Sequence[str]) -> int | None:
        """Run a command of nsadmin from a thread, and return its exit code."""
        return self.run_process(CommandProcess(words, self.global_options, self.output_width))

    def run_process(self, process: CommandProcess) -> int | None:
        self._command_process = process
        for line in process.read_lines():
            self.app.call_from_thread(self.write_line, line)
        return process.exit_code

    def write_line(self, line: str) -> None:
        # A closed screen has no widgets any more.
        for log in self.query(Log):
            log.write_line(escape_unprintable(line))

    def show_exit_code(self, exit_code: int | None, words: Sequence[str]) -> None:
        self.exit_code = exit_code
        code_meaning = meaning_of_code(exit_code, words)
        self.write_line(f"-- exit code {exit_code}{f': {code_meaning}' if code_meaning else ''}")

    def action_close(self) -> None:
        self.interrupt()
        self.dismiss(self.exit_code)

    def on_unmount(self) -> None:
        self.interrupt()

    def interrupt(self) -> None:
        # First: the thread starts the next command as soon as the current one has been interrupted.
        self.is_closing = True
        if self._command_process is not None:
            self._command_process.interrupt_process()


class OutputScreen(CommandScreen):
    """Runs a command that only reads."""

    def __init__(self, words: Sequence[str], global_options: Sequence[str] = ()) -> None:
        super().__init__(f"nsadmin {' '.join(words)}", global_options)
        self.words = list(words)

    def run_commands(self) -> None:
        exit_code = self.run_command(self.words)
        self.app.call_from_thread(self.show_exit_code, exit_code, self.words)


class PluginScreen(CommandScreen):
    """Runs one command for each row."""

    def __init__(
        self, plugin_name: str, lines: Sequence[Sequence[str]], arguments_list: Sequence[Sequence[str]]
    ) -> None:
        super().__init__(f"{plugin_name}: {' '.join(lines[0])}")
        self._lines, self._arguments_list = lines, arguments_list

    def run_commands(self) -> None:
        for words, arguments in zip(self._lines, self._arguments_list, strict=True):
            if self.is_closing:
                return
            if len(self._lines) > 1:
                self.app.call_from_thread(self.write_line, f"── {' '.join(words)}")
            self.exit_code = self.run_process(ProgramProcess(arguments, output_width=self.output_width))
            self.app.call_from_thread(self.write_line, f"-- exit code {self.exit_code}")
