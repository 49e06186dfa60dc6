"""The screen that runs the commands of a plugin, one after the other, and shows their output."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Log

from nsadmin.tui.screens.command_output import MIN_OUTPUT_WIDTH, OutputScreen
from nsadmin.tui.screens.command_process import ProgramProcess
from nsadmin.tui.screens.screen_text import literal_title


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
