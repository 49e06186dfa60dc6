"""A load on two clusters for the tests of transfers, and our command as a process to kill."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.interop import jars, wire
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM, CommandResult
from tests.interop.java_parts import Running, start_clients
from tests.support import forked_commands


class LoadCount(NamedTuple):
    """The messages sent to the source, and the deliveries of each cluster's consumer."""

    sent: int
    source: int
    target: int


class TransferLoad(Running):
    """Java producers and consumers of a topic on two clusters."""

    def __init__(self, home: Path, source: str, target: str, topic: str, group: str, queues: int) -> None:
        self.home, self._args = home, [source, target, topic, group, str(queues)]

    def start(self) -> None:
        self.child = start_clients(self.home, jars.program("TransferLoad"), self._args, "-Xmx512m")

    def order(self, order: str, timeout: float = 120) -> LoadCount:
        before, answer = self.child.obey(order, timeout)
        assert "failed " not in before, before
        words = answer.split()
        at = words.index("sent")
        return LoadCount(int(words[at + 1]), int(words[at + 3]), int(words[at + 4]))

    def report(self) -> dict[str, tuple[int, int]]:
        """How often each message was consumed in the source, and in the target."""
        file = self.home / "report"
        self.order(f"report {file}")
        rows = (line.split() for line in file.read_text().splitlines())
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}


def run_without_servers(state: Path, *words: str) -> CommandResult:
    """Run a command without -n, its rows read from JSON."""
    environment = {
        **ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_CONFIG": str(state / "config.yaml"),
        "NSADMIN_AUDIT": "off",
    }  # fmt: skip
    result = forked_commands.run([*PATIENT, *words, "--json"], environment, timeout=300)
    return CommandResult(
        result.returncode, json.loads(result.stdout) if result.stdout else None, result.stderr
    )


def start_transfer(state: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {**ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_AUDIT": "off"}
    command = [*PROGRAM, "transfer", "messages", *words, "--yes", "--output", "json"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def count_stored(broker_port: int, topic: str, queues: int) -> int:
    """The messages of a topic on a broker; 0 while it does not answer."""
    try:
        answers = [
            wire.ask(broker_port, 30, {"topic": topic, "queueId": str(queue_id)})
            for queue_id in range(queues)
        ]
    except OSError:
        return 0
    return sum(int((answer.ext or {}).get("offset") or 0) for answer in answers)
