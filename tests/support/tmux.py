"""A terminal that tmux draws: what an operator sees, and the keys that the operator presses."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
_PATIENCE_SECONDS = 60.0


class Tmux:
    """`shown` is what an operator sees now. The session ends with the context."""

    def __init__(self, home: Path, command: Sequence[str], *, size: tuple[int, int] = (120, 30)) -> None:
        self._socket = str(home / "tmux")
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NSADMIN_", "NAMESRV", "TMUX", "COLUMNS", "LINES"))
        }
        environment |= {
            "NSADMIN_CONFIG": str(home / "config.yaml"),
            "NSADMIN_AUDIT": str(home / "audit.jsonl"),
            "NSADMIN_STATE": str(home / "state"),
            "LC_ALL": "C.UTF-8",
            "PS1": "ready> ",
        }
        width, height = (str(length) for length in size)
        subprocess.run(
            [
                "tmux", "-S", self._socket, "-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height,
                *command,
            ],
            env=environment, check=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def run_tmux(self, *args: str) -> str:
        """The output of a command of tmux."""
        result = subprocess.run(
            ["tmux", "-S", self._socket, *args], capture_output=True, text=True, check=False
        )
        return result.stdout

    def keys(self, *keys: str) -> None:
        self.run_tmux("send-keys", *keys)

    def text(self, text: str) -> None:
        self.run_tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        return self.run_tmux("capture-pane", "-p")

    @property
    def terminal_modes(self) -> str:
        """Whether the alternate screen, the cursor and reports of the mouse are on: "1 0 1" for a TUI."""
        return self.run_tmux(
            "display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"
        ).strip()

    def until(self, *texts: str, without: str | None = None) -> str:
        """The screen when it showed all of these texts at once, and not the other one."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            screen = self.screen
            if all(text in screen for text in texts) and (without is None or without not in screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{texts} did not appear, but:\n{self.screen}")

    def resize(self, width: int, height: int) -> None:
        self.run_tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def is_there(self) -> bool:
        return bool(self.run_tmux("list-sessions"))

    def end(self) -> None:
        self.run_tmux("kill-server")
