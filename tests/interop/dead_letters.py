"""Java consumers that fail on purpose, and a replay of their dead letters as a process that can be killed."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.interop import jars
from tests.interop.command_line import ENVIRONMENT, PROGRAM
from tests.interop.java_parts import Running, start_clients
from tests.interop.processes import wait_for


class Consumed(NamedTuple):
    """One message that a group consumed, under the topic that the consumer saw."""

    group: str
    key: str
    topic: str
    times: int


class FailingConsumers(Running):
    """Two push consumer groups on a topic, and a producer; the first group fails when it is told to."""

    def __init__(
        self,
        home: Path,
        namesrv: str,
        topic: str,
        group: str,
        other_group: str,
        version: str = jars.NEWEST,
        pops: bool = False,
    ) -> None:
        arguments = [namesrv, topic, group, other_group, *(["pop"] if pops else [])]
        self.home, self._args, self._version = home, arguments, version

    def start(self) -> None:
        self.child = start_clients(self.home, self._program(), self._args)

    def _program(self) -> list[str]:
        return jars.program("DeadLetters", self._version)

    def order(self, line: str, timeout: float = 120) -> None:
        before = self.child.output.count(f"done {line}\n")
        self.child.write(f"{line}\n")
        wait_for(line, lambda: self.child.output.count(f"done {line}\n") > before, timeout)

    def consumed(self, group: str) -> list[Consumed]:
        report = self.home / "report"
        self.order(f"report {report}")
        rows = (line.split() for line in report.read_text().splitlines())
        return [Consumed(row[0], row[1], row[2], int(row[3])) for row in rows if row[0] == group]


class GrpcConsumers(FailingConsumers):
    """The same behind a proxy. Create both groups first: a proxy reads their settings every 20 seconds."""

    def __init__(
        self, home: Path, proxy: str, topic: str, group: str, other_group: str, is_ordered: bool = False
    ) -> None:
        super().__init__(home, proxy, topic, group, other_group)
        self._args += ["fifo"] if is_ordered else []

    def _program(self) -> list[str]:
        return jars.compiled("GrpcDeadLetters", jars.GRPC_CLIENT, jars.grpc_client())


def kill_replay(namesrv: str, state: Path, words: Sequence[str], after_lines: int) -> bool:
    """Start a replay, and kill it after so many more lines in its file; False if it ended before."""
    before = count_lines(state)
    environment = {**ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_AUDIT": "off"}
    command = [*PROGRAM, "-n", namesrv, *words, "--yes"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as child:
        try:
            # Opening the file replaces its lines by few.
            wait_for(
                "the replay",
                lambda: child.poll() is not None or not before <= count_lines(state) <= before + after_lines,
                interval=0.001,
            )
        finally:
            child.kill()
    return child.returncode == -9


def count_lines(state: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in state.rglob("replays.jsonl"))
