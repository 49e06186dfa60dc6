"""A command of nsadmin or another program in a separate process, with its output line by line."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Lock

from nsadmin.client.connection.tunnels.tunnel_server import share_tunnels
from nsadmin.console import python_process


class CommandProcess:
    """A command line that a thread runs. `interrupt_process` ends it, as Ctrl-C does.

    `merges_errors` adds the lines of standard error to the output; else they are dropped.
    """

    def __init__(
        self,
        command_words: Sequence[str],
        options: Sequence[str] = (),
        output_width: int = 120,
        *,
        merges_errors: bool = True,
    ) -> None:
        self._command_line = [*options, *command_words]
        self._output_width = output_width
        self._error_target = subprocess.STDOUT if merges_errors else subprocess.DEVNULL
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False
        self._lock = Lock()

    def read_lines(self) -> Iterator[str]:
        """Start the command without standard input, and yield its output until it ends."""
        with self._lock:
            if self._is_stopped:
                return
            process = self._process = self._start_process()
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                yield line.rstrip("\r\n")

    def _start_process(self) -> "subprocess.Popen[str]":
        # A new interpreter, so that the command runs as it would from a shell.
        terminal_variables = {"COLUMNS": str(self._output_width), "NO_COLOR": "1"}
        return subprocess.Popen(
            python_process.build_command("nsadmin", *self._command_line),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._error_target,
            env=python_process.build_environment({**terminal_variables, **share_tunnels()}),
            start_new_session=True, encoding="utf-8", errors="replace",
        )  # fmt: skip

    def interrupt_process(self) -> None:
        """Send SIGINT if the process still runs. A changing command then reports what it has done."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None and self._process.poll() is None:
                with suppress(ProcessLookupError):
                    self._send_interrupt(self._process)

    def _send_interrupt(self, process: "subprocess.Popen[str]") -> None:
        process.send_signal(signal.SIGINT)

    @property
    def exit_code(self) -> int | None:
        """The exit code, or None while the process runs."""
        return None if self._process is None else self._process.returncode


class ProgramProcess(CommandProcess):
    """A program with its arguments. No shell interprets them."""

    def read_lines(self) -> Iterator[str]:
        try:
            yield from super().read_lines()
        except (OSError, ValueError) as error:
            yield f"{self._command_line[0]} did not start: {getattr(error, 'strerror', None) or error}"

    def _start_process(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self._command_line,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=os.environ | {"COLUMNS": str(self._output_width), "NO_COLOR": "1"},
            start_new_session=True, encoding="utf-8", errors="replace",
        )  # fmt: skip

    def _send_interrupt(self, process: "subprocess.Popen[str]") -> None:
        # A script may have started other programs, which are in its session.
        os.killpg(process.pid, signal.SIGINT)
