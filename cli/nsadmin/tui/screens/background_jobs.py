"""The commands that the screen has started in the background. They go on after the screen is closed."""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from nsadmin.console import python_process

BACKGROUND_OPTIONS: dict[str, tuple[str, ...]] = {"drain": ("--hold",), "rollingRestart": ()}
"""The commands that run in the background, with the options that they get there."""


class EndedJob(NamedTuple):
    """A job that has ended, with the last line of its output."""

    title: str
    exit_code: int
    last_line: str


class BackgroundJobs:
    """The jobs of one screen. A drain or a restart keeps its progress in files, which the screen polls.

    `running_jobs` also has the jobs that have ended without being taken.
    """

    def __init__(self) -> None:
        self.running_jobs: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def start_job(self, command_words: Sequence[str], options: Sequence[str]) -> None:
        arguments = python_process.build_command("nsadmin", *options, *command_words)
        self.start_program(" ".join(command_words), arguments, python_process.build_environment())

    def start_program(self, title: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program without a terminal. Signals of the screen's terminal do not reach it.

        Raises OSError if the program does not start.
        """
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the job writes to it
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                env={**environment, "NO_COLOR": "1"}, start_new_session=True,
            )  # fmt: skip
        except BaseException:
            file.close()
            raise
        self.running_jobs.append((title, process, file))

    def take_ended_jobs(self) -> Iterator[EndedJob]:
        for job in list(self.running_jobs):
            title, process, file = job
            exit_code = process.poll()
            if exit_code is None:
                continue
            self.running_jobs.remove(job)
            with file:
                file.seek(0)
                output_lines = file.read().decode("utf-8", "replace").split("\n")
            yield EndedJob(title, exit_code, next(filter(None, map(str.strip, reversed(output_lines))), ""))
