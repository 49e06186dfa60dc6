"""Runs `python -m nsreport` in a child process and yields its messages. Spark is not loaded here."""

import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from namesrv_core.errors import RocketMQError

INSTALL = "reports need Spark: pip install 'nsadmin[spark]'"


class Failed(RocketMQError):
    """The report run failed; `exit_code` is the exit code of its process."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def told(words: Sequence[str], cache: Path, log: Path) -> Generator[dict[str, Any], None, None]:
    """Run `python -m nsreport` with these arguments and yield its messages as they arrive.

    Spark's own output replaces the content of `log_path`.

    Raises:
        ReportRunFailed: Spark is not installed, or the process ended with an error.
        OSError: the log file cannot be written or the process cannot be started.
    """
    if find_spec("pyspark") is None:
        raise Failed(INSTALL, 1)
    log.parent.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, "-m", "nsreport", "--cache", str(cache), *words]
    error = None
    with log.open("wb") as noise:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=noise, stdin=subprocess.DEVNULL)
        with process:
            assert process.stdout is not None
            try:
                for text in process.stdout:
                    said = _said(text)
                    error = said.get("error", error)
                    yield said
            except BaseException:
                # Ctrl-C also reaches the child. If the consumer stops iterating, only we can end the child.
                process.terminate()
                raise
    if process.returncode:
        raise Failed(error or f"Spark ended with {process.returncode}; {log} says why", process.returncode)


def _said(text: bytes) -> dict[str, Any]:
    """The message on a line; {} for other lines, which Spark or its launcher may write to stdout."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {}
