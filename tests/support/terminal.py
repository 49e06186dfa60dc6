"""A command on a pseudo terminal: what it says, and keys for it."""

import os
import pty
import select
import socket
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from fcntl import ioctl
from pathlib import Path
from types import TracebackType

from tests.support import forked_command, forked_commands
from tests.support.name_servers import DEADLINE, ServerProgram

_MAIN = "import sys; from nsadmin.app import main; sys.exit(main())"


class PtyTerminal:
    """`said` is all that came so far, with what moves the cursor. What still runs is killed at the end."""

    def __init__(
        self,
        *args: str,
        home: Path,
        size: tuple[int, int] = (120, 30),
        terminal_type: str | None = "xterm-256color",
    ) -> None:
        self.said = ""
        self._at = 0
        own = {"NSADMIN_CONFIG": str(home / "config.yaml"), "NSADMIN_AUDIT": str(home / "audit.jsonl"),
               "XDG_CACHE_HOME": str(home), "XDG_STATE_HOME": str(home)}  # fmt: skip
        environment = ServerProgram.make_environment() | own
        if terminal_type is not None:
            environment["TERM"] = terminal_type
        # pytest-xdist sets COLUMNS and LINES, which would overrule the size of the terminal.
        for variable in ("NSADMIN_CONTEXT", "COLUMNS", "LINES"):
            environment.pop(variable, None)
        self._pid, self._end = self._start(args, environment, home)
        ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def _start(self, args: Sequence[str], environment: Mapping[str, str], home: Path) -> tuple[int, int]:
        """Start the program: its process ID, and the other end of its terminal."""
        pid, end = pty.fork()
        if pid == 0:
            os.chdir(home)
            os.execve(sys.executable, [sys.executable, "-c", _MAIN, *args], dict(environment))
        return pid, end

    def _wait(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        return os.waitstatus_to_exitcode(status)

    def __enter__(self) -> "PtyTerminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pid:
            os.kill(self._pid, 9)
            self._wait()
        os.close(self._end)

    @property
    def pid(self) -> int:
        return self._pid

    def read_for(self, seconds: float) -> None:
        """Read what comes for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(deadline)
        # What was said long ago is not asked for any more.
        self.said = self.said[-100_000:]
        self._at = len(self.said)

    def type_keys(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def wait_for_text(self, text: str) -> None:
        """Wait until it says this, after what was waited for before."""
        deadline = time.monotonic() + DEADLINE
        while (at := self.said.find(text, self._at)) < 0:
            assert self._read(deadline), f"{text!r} did not come, but: {self.said[self._at :]}"
        self._at = at + len(text)

    def wait_for_exit(self) -> int:
        """Wait for its end: the exit code."""
        deadline = time.monotonic() + DEADLINE
        while self._read(deadline):
            pass
        exit_code = self._wait()
        self._pid = 0
        return exit_code

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._end], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return False
        try:
            data = os.read(self._end, 65536)
        except OSError:
            # Nobody has the other end any more.
            return False
        self.said += data.decode("utf-8", "replace")
        return bool(data)


class CopiedTerminal(PtyTerminal):
    """The command is a copy of a process that has loaded the screens: see `forked_commands`."""

    def _start(self, args: Sequence[str], environment: Mapping[str, str], home: Path) -> tuple[int, int]:
        end, own_end = pty.openpty()
        self._copy = forked_command.ask_for_copy(
            forked_commands.start_server("tests.support.forked_screens"),
            args,
            environment,
            [own_end] * 3,
            str(home),
            has_terminal=True,
        )
        os.close(own_end)
        return self._read_number(), end

    def _wait(self) -> int:
        with closing(self._copy):
            return self._read_number()

    def _read_number(self) -> int:
        return forked_command.read_number(self._copy.recv(forked_command.NUMBER_SIZE, socket.MSG_WAITALL))
