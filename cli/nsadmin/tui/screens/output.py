"""The screens that run a command and show its output. A changing command first runs with --dry-run."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Log

from nsadmin.diagnostics import EXIT_CODES
from nsadmin.tui.running import Running
from nsadmin.tui.views.table import plain


class OutputScreen(ModalScreen[int | None]):
    """Runs a command that only reads. Esc closes the screen and interrupts the command if it still runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("q", "close", "Close", show=False),
    ]

    def __init__(self, words: Sequence[str], options: Sequence[str] = ()) -> None:
        super().__init__()
        self.words = list(words)
        self.options = list(options)
        self.code: int | None = None
        self._command: Running | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = plain(f"nsadmin {' '.join(self.words)}")
            panel.border_subtitle = "Esc closes"
            yield Log(id="output")

    def on_mount(self) -> None:
        self.query_one(Log).focus()
        self.prepare()
        self.begin(self.words)

    def prepare(self) -> None:
        """Prepare the widgets before the command starts. Subclasses override this."""

    def begin(self, words: Sequence[str]) -> None:
        command = self._command = Running(words, self.options, max(self.app.size.width - 8, 40))
        self.run_worker(lambda: self._run(command), thread=True)

    def _run(self, command: Running) -> None:
        """Run the command in a thread and pass each line to the screen."""
        for line in command.lines():
            self.app.call_from_thread(self._say, line)
        self.app.call_from_thread(self._end, command.code)

    def _say(self, line: str) -> None:
        for log in self.query(Log):
            log.write_line(plain(line))

    def _end(self, code: int | None) -> None:
        self.code = code
        # A closed screen has no widgets any more.
        if self.query(Log):
            meaning = next((text for known, text in EXIT_CODES if known == code), "")
            self._say(f"-- exit code {code}{f': {meaning}' if meaning else ''}")
            self.ended()

    def ended(self) -> None:
        """React to the end of the command. Subclasses override this."""

    def action_close(self) -> None:
        if self._command is not None:
            self._command.stop()
        self.dismiss(self.code)

    def on_unmount(self) -> None:
        if self._command is not None:
            self._command.stop()


class ChangeScreen(OutputScreen):
    """Runs a changing command: first a preview with --dry-run, then a typed confirmation, then the change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def __init__(self, words: Sequence[str], options: Sequence[str], target: str) -> None:
        super().__init__([*words, "--dry-run"], options)
        self._change = list(words)
        self._target = target
        self.is_done = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel tall wide") as panel:
            panel.border_title = plain(f"nsadmin {' '.join(self._change)}")
            panel.border_subtitle = "Esc leaves everything as it is"
            yield Log(id="output")
            yield Label(
                f"This is what would be done. To do it, type {self._target!r}:", id="question", markup=False
            )
            yield Input(id="confirm")

    def prepare(self) -> None:
        self.query_one("#question").display = self.query_one("#confirm").display = False

    def ended(self) -> None:
        """Ask for the confirmation, unless the preview failed or the change has already run."""
        if self.is_done or self.code != 0:
            return
        self.query_one("#question").display = self.query_one("#confirm").display = True
        self.query_one("#confirm", Input).focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self.is_done or message.value.strip() != self._target:
            message.input.value = ""
            return
        self.is_done = True
        self.query_one("#question").display = self.query_one("#confirm").display = False
        panel = self.query_one(".panel")
        panel.border_subtitle = "Esc closes"
        log = self.query_one(Log)
        log.clear()
        log.focus()
        self.begin([*self._change, "--yes"])
