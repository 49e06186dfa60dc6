"""The driver of the terminal: Textual's, which survives writes to a terminal that is gone."""

import os
from contextlib import suppress
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class TerminalOutput:
    """A file to write to a terminal. If the terminal is gone, it drops the text.

    An error would end Textual's output thread. The app would then wait forever for this thread, and handle
    neither keys nor signals.
    """

    def __init__(self, terminal_file: IO[str]) -> None:
        self._terminal_file = terminal_file

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._terminal_file.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._terminal_file.flush()

    def isatty(self) -> bool:
        return self._terminal_file.isatty()

    def fileno(self) -> int:
        return self._terminal_file.fileno()


class TerminalDriver(LinuxDriver):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file: Any = TerminalOutput(self._file)

    @property
    def is_terminal_gone(self) -> bool:
        """Whether the terminal has ended since the start.

        The kernel sends SIGHUP to the first process of the terminal's session only. For all other processes,
        reads return nothing, at once: without this check, the app would keep a processor busy.
        """
        return self.input_tty and not os.isatty(self.fileno)
