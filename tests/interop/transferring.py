"""A load on two clusters for the tests of transfers, and our command as a process to kill."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.interop import jars, wire
from tests.interop.command_line import ENVIRONMENT, Done
from tests.interop.java_parts import QUICK_START, QUIET_LOGBACK, Running
from tests.interop.processes import Child, wait_for


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
        self.home.mkdir(parents=True)
        logback = self.home / "logback.xml"
        logback.write_text(QUIET_LOGBACK)
        settings = [
            f"-Duser.home={self.home}",
            f"-Drmq.logback.configurationFile={logback}",
            f"-Drocketmq.client.logRoot={self.home}",
            *(f"-Drocketmq.client.rebalance.{name}Interval=1000" for name in ("wait", "min", "lock")),
        ]
        command = ["java", *QUICK_START, "-Xmx512m", *settings, *jars.program("TransferLoad"), *self._args]
        self.child = Child(command, self.home / "stdout.log", talks=True)
        try:
            self.child.wait_for_line("ready", 90)
        except BaseException:
            self.child.kill()
            raise

    def order(self, order: str, timeout: float = 120) -> LoadCount:
        answered = self.child.output.count("done ")
        self.child.write(f"{order}\n")
        wait_for(order, lambda: self.child.output.count("done ") > answered, timeout)
        assert "failed " not in self.child.output, self.child.output
        words = self.child.output.rpartition("done ")[2].split()
        at = words.index("sent")
        return LoadCount(int(words[at + 1]), int(words[at + 3]), int(words[at + 4]))

    def report(self) -> dict[str, tuple[int, int]]:
        """How often each message was consumed in the source, and in the target."""
        file = self.home / "report"
        self.order(f"report {file}")
        rows = (line.split() for line in file.read_text().splitlines())
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}


def run_without_servers(state: Path, *words: str) -> Done:
    """Run a command without -n, its rows read from JSON."""
    environment = {
        **ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_CONFIG": str(state / "config.yaml"),
        "NSADMIN_AUDIT": "off",
    }  # fmt: skip
    command = [sys.executable, "-m", "nsadmin", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    return Done(done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr)


def start_transfer(state: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {**ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_AUDIT": "off"}
    command = [sys.executable, "-m", "nsadmin", "transfer", "messages", *words, "--yes", "--output", "json"]
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
