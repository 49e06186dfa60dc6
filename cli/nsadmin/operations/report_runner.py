"""Runs `python -m nsreport` in a child process and yields its messages. Spark is not loaded here."""

import subprocess
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from namesrv_core import operator_files, private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.extras import describe_missing
from nsadmin.console import python_process


class ReportRunFailed(RocketMQError):
    """The report run failed; `exit_code` is the exit code of its process."""

    def __init__(self, error_text: str, exit_code: int) -> None:
        super().__init__(error_text)
        self.exit_code = exit_code


def run_report(
    arguments: Sequence[str], cache_folder: Path, log_path: Path
) -> Generator[dict[str, Any], None, None]:
    """Run `python -m nsreport` with these arguments and yield its messages as they arrive.

    Spark's own output replaces the content of `log_path`.

    Raises:
        ReportRunFailed: Spark is not installed, or the process ended with an error.
        OSError: the log file cannot be written or the process cannot be started.
    """
    if find_spec("pyspark") is None:
        raise ReportRunFailed(describe_missing("pyspark", "spark"), 1)
    private_files.make_folder(log_path.parent)
    command_line = python_process.build_command("nsreport", "--cache", str(cache_folder), *arguments)
    last_error = None
    with open(log_path, "wb", opener=private_files.open_private_file) as log_file:
        process = subprocess.Popen(
            command_line,
            stdout=subprocess.PIPE,
            stderr=log_file,
            stdin=subprocess.DEVNULL,
            env=python_process.build_environment(),
        )
        with process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    message = _parse_message(line)
                    last_error = message.get("error", last_error)
                    yield message
            except BaseException:
                # Ctrl-C also reaches the child. If the consumer stops iterating, only we can end the child.
                process.terminate()
                raise
    if process.returncode:
        raise ReportRunFailed(
            last_error or f"Spark exited with {process.returncode}: see {log_path}", process.returncode
        )


def _parse_message(line: bytes) -> dict[str, Any]:
    """The message on a line; {} for other lines, which Spark or its launcher may write to stdout."""
    try:
        message = operator_files.parse_json(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {}
