"""Runs one command line of nsadmin in a process of its own, with bounds on its time and its output."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, Process

from nsadmin.console import python_process
from nsadmin.console.exit_codes import ExitCode

MAX_OUTPUT_BYTES = 32 << 20
_INTERRUPT_SECONDS = 10.0
"""How long a change may take to stop after an interruption, to write its audit record."""


class CommandOutcome(NamedTuple):
    """The output of a command, and its exit code. `stderr_text` also says why the server stopped it."""

    stdout_text: str
    stderr_text: str
    exit_code: int


async def run_command_line(
    command_words: Sequence[str],
    time_limit_seconds: float,
    *,
    more_variables: Mapping[str, str] | None = None,
    may_change: bool = False,
) -> CommandOutcome:
    """Run `nsadmin COMMAND_WORDS` without standard input; end it with all its children after the time limit.

    A cancellation ends the command, too. A command that changes something is interrupted first, so that it
    writes its audit record.
    """
    stdout, stderr = bytearray(), bytearray()
    exit_code: int | None = None
    with anyio.move_on_after(time_limit_seconds) as time_scope:
        async with _start_process(command_words, more_variables, may_change) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            async with anyio.create_task_group() as readers:
                for stream, output in ((process.stdout, stdout), (process.stderr, stderr)):
                    readers.start_soon(_read_output, stream, output, readers.cancel_scope)
            if not _is_full(stdout) and not _is_full(stderr):
                exit_code = await process.wait()
    stderr_text = stderr.decode("utf-8", "replace")
    if exit_code is not None:
        return CommandOutcome(stdout.decode("utf-8", "replace"), stderr_text, exit_code)
    reason = (
        f"the server stopped the command after {time_limit_seconds:g} s"
        if time_scope.cancelled_caught
        else f"the server stopped the command: its output has more than {MAX_OUTPUT_BYTES >> 20} MiB. Pass "
        "filter, columns or options that select less"
    )
    return CommandOutcome("", f"{stderr_text}\n{reason}", ExitCode.FAILED)


@asynccontextmanager
async def _start_process(
    command_words: Sequence[str], more_variables: Mapping[str, str] | None, may_change: bool
) -> AsyncIterator[Process]:
    # A cancellation between the start of a process and its handle would leave the process running.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            python_process.build_command("nsadmin", *command_words),
            stdin=subprocess.DEVNULL,
            env=python_process.build_environment(more_variables),
            # A group of its own, so that its children end with it.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await _end_process(process, may_change)


async def _end_process(process: Process, may_change: bool) -> None:
    if process.returncode is None and may_change:
        _signal_group(process, signal.SIGINT)
        with anyio.move_on_after(_INTERRUPT_SECONDS):
            await process.wait()
    if process.returncode is None:
        _signal_group(process, signal.SIGKILL)
    await process.aclose()


def _signal_group(process: Process, signal_number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal_number)


def _is_full(output: bytearray) -> bool:
    return len(output) > MAX_OUTPUT_BYTES


async def _read_output(stream: ByteReceiveStream, output: bytearray, scope: anyio.CancelScope) -> None:
    async for chunk in stream:
        output += chunk
        if _is_full(output):
            scope.cancel()
