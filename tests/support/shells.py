"""Real shells at a terminal, and an `nsadmin` for them that shows with which words it was called."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPLETIONS = ROOT / "completions"
PATIENCE = 30.0
CONTINUED = "goes-on> "

_NSADMIN = """\
#!/bin/sh
[ -z "$_NSADMIN_COMPLETE" ] || exec {python} -m nsadmin "$@"
printf '<%s>' "$@"
echo END
"""


class ShellHome:
    """A home with an `nsadmin` in its PATH, whose cache and contexts are its own."""

    def __init__(self, home: Path, namesrv_addr: str) -> None:
        program = home / "bin" / "nsadmin"
        program.parent.mkdir()
        program.write_text(_NSADMIN.format(python=sys.executable))
        program.chmod(0o755)
        self.program = program
        self.environ = {
            "HOME": str(home),
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}",
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "NAMESRV_ADDR": namesrv_addr,
            "TERM": "dumb",
            "COLUMNS": "200",
            "LC_ALL": "C.UTF-8",
        }

    def warm_cache(self, *words_before: str) -> None:
        """Wait until the values after these words are cached: on a slow machine a first TAB gives up."""
        words = [str(self.program), *words_before, ""]
        environment = {**self.environ, "_NSADMIN_COMPLETE": "1"}
        deadline = time.monotonic() + PATIENCE
        while not subprocess.run(words, env=environment, capture_output=True, check=True).stdout:
            assert time.monotonic() < deadline, words
            time.sleep(0.1)


class ShellTerminal:
    """Types into a shell and reads what comes back."""

    def __init__(self, shell: Sequence[str], environ: Mapping[str, str], setup: str) -> None:
        self._unread = ""
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.execvpe(shell[0], list(shell), dict(environ))
        # The quotes keep the echo of the line from being taken for its output.
        self.type_text(f"{setup}; echo REA''DY\n")
        self.read_until("READY")

    def type_text(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def read_until(self, wanted: str) -> str:
        """What comes before `wanted`."""
        self._read_until(wanted)
        before, _, self._unread = self._unread.partition(wanted)
        return before

    def _read_until(self, *wanted: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not any(text in self._unread for text in wanted):
            assert time.monotonic() < deadline, self._unread
            if select.select([self._terminal], [], [], 0.2)[0]:
                self._unread += os.read(self._terminal, 65536).decode("utf-8", "replace")

    def complete_line(self, line: str, open_quote: str = "") -> list[str]:
        """The words that `nsadmin` gets if this is typed behind its name, then a TAB, then Enter.

        A quote that is still open then is closed on the next line; CONTINUED is what PS2 has to be.
        """
        # What has been completed with a blank or a quote behind it may get more quotes: they do no harm.
        self.type_text(f"nsadmin {line}\t\n")
        self._read_until("END", *([CONTINUED] if open_quote else []))
        if "END" not in self._unread:
            self.read_until(CONTINUED)
            self.type_text(f"{open_quote}\n")
        output = self.read_until("END")
        return output[output.rindex("\n<") + 2 :].rstrip(">").split("><")

    def close(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.close(self._terminal)
        os.waitpid(self._process, 0)
