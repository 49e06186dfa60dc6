"""A checked load on two topics for the tests of rebalances, and our command as a process to kill."""

import contextlib
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.interop import jars
from tests.interop.cluster import NameServer, body
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM
from tests.interop.java_parts import Running, start_clients
from tests.interop.processes import wait_for
from tests.support import forked_commands

# The clients of these tests look at routes every second.
QUICK = ("--settle", "3s", "--interval", "500ms")

Event = dict[str, Any]


class TopicCount(NamedTuple):
    """What became of one topic's messages: `broken` came out of sequence or damaged."""

    sent: int
    missing: int
    broken: int


class LoadCount(NamedTuple):
    """What became of all messages; each failure says where and why."""

    plain: TopicCount
    ordered: TopicCount
    failures: tuple[str, ...]

    @property
    def missing(self) -> int:
        return self.plain.missing + self.ordered.missing


class KeyedLoad(Running):
    """Java producers and consumers of a plain and an ordered topic."""

    def __init__(
        self, home: Path, namesrv: Sequence[str], plain: str, ordered: str, version: str, pause_ms: int
    ) -> None:
        self.home, self._version = home, version
        self._args = [";".join(namesrv), plain, ordered, str(pause_ms)]

    def start(self) -> None:
        self.child = start_clients(self.home, jars.program("KeyedLoad", self._version), self._args)

    def order(self, order: str) -> LoadCount:
        before, reply = self.child.obey(order, 60)
        words = reply.split()
        numbers = [int(words[at]) for at in range(2, 13, 2)]
        failures = tuple(line for line in before.splitlines() if line.startswith("failed "))
        return LoadCount(TopicCount(*numbers[:3]), TopicCount(*numbers[3:]), failures)

    @property
    def count(self) -> LoadCount:
        return self.order("count")

    def finish(self) -> LoadCount:
        """Stop sending, and wait until everything is consumed, or nothing more comes."""
        self.order("stop")
        with contextlib.suppress(TimeoutError):
            wait_for("the last messages", lambda: not self.count.missing, interval=0.5)
        return self.order("missing")


class Rebalancing:
    """`nsadmin rebalance run` as a process, whose events are read as they come."""

    def __init__(self, state: Path, servers: Sequence[NameServer]) -> None:
        self.state = state
        self.addrs = ";".join(server.address for server in servers)
        self.environment = {
            **ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_AUDIT": str(state / "audit.jsonl"),
            "PYTHONUNBUFFERED": "1",
        }  # fmt: skip

    def start(self, plan: Path, *args: str) -> "subprocess.Popen[str]":
        words = ["rebalance", "run", str(plan), "-n", self.addrs, "--json", "--yes", *QUICK, *args]
        return subprocess.Popen(
            [*PROGRAM, *words],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(
        self, plan: Path, *args: str, upon: Callable[[Event], object] = lambda event: None
    ) -> tuple[int, list[Event], str]:
        """Run to the end: exit code, events, what it said. `upon` is told of each event as it comes."""
        events: list[Event] = []
        with self.start(plan, *args) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            try:
                for line in child.stdout:
                    events.append(json.loads(line))
                    upon(events[-1])
                stderr = child.stderr.read()
            finally:
                child.kill()
        return child.wait(), events, stderr

    def run_killed(self, plan: Path, *args: str) -> tuple[list[Event], int]:
        """Run, and kill the process with SIGKILL when a topic enters a stage; events and kills."""
        events: list[Event] = []
        seen_states: set[tuple[str, int]] = set()
        kills = 0
        while True:
            with self.start(plan, *args) as child:
                assert child.stdout is not None
                assert child.stderr is not None
                try:
                    for line in child.stdout:
                        event = json.loads(line)
                        events.append(event)
                        if event["event"] == "stageBegan":
                            place = (event["topic"], event["position"])
                            if place not in seen_states:
                                seen_states.add(place)
                                break
                    else:
                        stderr = child.stderr.read()
                        assert child.wait() == 0, stderr
                        return events, kills
                finally:
                    child.kill()
                kills += 1

    def run_lines(self, *args: str) -> list[Event]:
        """The events of another procedure."""
        result = forked_commands.run(
            [*PATIENT, *args, "-n", self.addrs, "--json"], self.environment, timeout=240
        )
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    def read(self, *args: str) -> Any:
        """The rows of a command."""
        result = forked_commands.run(
            [*PATIENT, *args, "-n", self.addrs, "--json"], self.environment, timeout=60
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


def routed(server: NameServer, topic: str) -> dict[str, tuple[int, int]]:
    """The read and write queues of a topic by broker, at a name server; without brokers that have none."""
    queues = body(server, 105, {"topic": topic})["queueDatas"]
    counts: Mapping[str, tuple[int, int]] = {
        queue["brokerName"]: (queue["readQueueNums"], queue["writeQueueNums"]) for queue in queues
    }
    return {broker: pair for broker, pair in counts.items() if any(pair)}
