"""Reporting: the pipeline in a process of its own, and what it tells. Spark is not loaded here."""

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
    """A run that came to nothing; `code` is what its process ended with."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def told(words: Sequence[str], cache: Path, log: Path) -> Generator[dict[str, Any], None, None]:
    """Run `python -m nsreport` with these words; what it tells, as it does. Failed, OSError.

    What Spark says beside that goes to `log`, in the place of what the run before said there.
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
                # Ctrl-C has reached it as well; whoever stopped listening has to end it.
                process.terminate()
                raise
    if process.returncode:
        raise Failed(error or f"Spark ended with {process.returncode}; {log} says why", process.returncode)


def _said(text: bytes) -> dict[str, Any]:
    """Spark, or who loads it, may write other lines there."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {}
