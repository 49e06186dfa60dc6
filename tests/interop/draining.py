"""Drains of real brokers for the interop tests: a load of messages, and our command as a process."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any, NamedTuple, Self

from tests.interop import jars, wire
from tests.interop.cluster import plain, wait_for_registration
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM, CommandResult, nsadmin
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, JavaNameServer, Running, start_clients
from tests.support import forked_commands

# The clients of these tests look at routes every second.
QUICK = ("--settle", "3s", "--interval", "1s", "--intervals", "2")


class Counts(NamedTuple):
    """What a load came to so far; each failure says when, for how long, where and why."""

    sent: int
    missing: int
    failures: tuple[str, ...]


class Load(Running):
    """A Java producer that sends all the time, and a consumer."""

    def __init__(self, home: Path, namesrv: Sequence[str], topic: str, version: str) -> None:
        self.home, self._args, self._version = home, [";".join(namesrv), topic], version

    def start(self) -> None:
        self.child = start_clients(self.home, jars.program("Load", self._version), self._args)

    def order(self, order: str) -> Counts:
        before, reply = self.child.obey(order, 60)
        words = reply.split("sent ")[1].split()
        failures = tuple(line for line in before.splitlines() if line.startswith("failed "))
        return Counts(int(words[0]), int(words[2]), failures)

    @property
    def counts(self) -> Counts:
        return self.order("count")


class Ordered:
    """Stops and starts brokers as commands of a shell order it; `done` says what, in order."""

    def __init__(
        self, folder: Path, brokers: Mapping[tuple[str, str], JavaBroker], servers: Sequence[JavaNameServer]
    ) -> None:
        self._folder, self._brokers, self._servers = folder, brokers, servers
        self.done: list[str] = []
        self._is_over = Event()
        self._thread = Thread(target=self._obey)

    def command(self, step: str) -> str:
        """What orders a step, and waits until it is done."""
        file = f"{self._folder}/{step},{{brokerName}},{{brokerId}}"
        return f"touch {file}; while [ -e {file} ]; do sleep 0.1; done"

    def __enter__(self) -> Self:
        self._folder.mkdir()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _obey(self) -> None:
        while not self._is_over.wait(0.1):
            for file in self._folder.iterdir():
                step, name, number = file.name.split(",")
                broker = self._brokers[name, number]
                # In order takes a broker 10 s and more; one that nobody writes to may be killed.
                (broker.kill if step == "stop" else broker.start)()
                if step == "start":
                    wait_for_registration(self._servers, broker)
                self.done.append(f"{step} {name} {number}")
                file.unlink()


class Draining:
    """Our command as a process, whose events are read as they come."""

    def __init__(self, state: Path, servers: Sequence[JavaNameServer], broker: str) -> None:
        self.state, self.broker = state, broker
        self.addrs = ";".join(server.address for server in servers)
        self.environment = {
            **ENVIRONMENT, "NSADMIN_STATE": str(state), "NSADMIN_AUDIT": "off", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip

    def start(self, *args: str) -> "subprocess.Popen[str]":
        words = ["drain", self.broker, "-n", self.addrs, "--json", "--yes", *QUICK, *args]
        return subprocess.Popen(
            [*PROGRAM, *words],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(
        self, *args: str, upon: Callable[[dict[str, Any]], object] = lambda event: None
    ) -> tuple[int, list[dict[str, Any]], str]:
        """Drain to the end: exit code, events, what it said. `upon` is told of each event as it comes."""
        with self.start(*args) as child:
            limit = Timer(240, child.kill)
            limit.start()
            try:
                events = list(self.events(child, upon))
                assert child.stderr is not None
                stderr = child.stderr.read()
            finally:
                limit.cancel()
                child.kill()
        return child.wait(), events, stderr

    def killed_upon(self, *names: str) -> None:
        """Begin, or go on, and die with SIGKILL as soon as one of the events is told."""
        with self.start("--force") as child:
            try:
                for event in self.events(child, lambda event: None):
                    if not {event["event"], event.get("phase")}.isdisjoint(names):
                        break
                else:
                    raise AssertionError(f"none of {names}")
            finally:
                child.kill()

    def events(
        self, child: "subprocess.Popen[str]", upon: Callable[[dict[str, Any]], object]
    ) -> Iterator[dict[str, Any]]:
        assert child.stdout is not None
        for line in child.stdout:
            event = json.loads(line)
            upon(event)
            yield event

    def told(self, *args: str) -> list[dict[str, Any]]:
        """What a procedure tells, that ends well."""
        result = forked_commands.run(
            [*PATIENT, *args, "-n", self.addrs, "--json"], self.environment, timeout=240
        )
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    def __call__(self, *args: str) -> CommandResult:
        return nsadmin(self.addrs, *args, env={"NSADMIN_STATE": str(self.state), "NSADMIN_AUDIT": "off"})


def queues(server: JavaNameServer, broker: str) -> dict[str, dict[str, Any]]:
    """What a name server tells of each topic of a broker, past our client."""
    queues_by_server = {}
    for topic in plain(parse(wire.ask(server.port, 206).body))["topicList"]:
        answer = wire.ask(server.port, 105, {"topic": topic})
        for queue in plain(parse(answer.body))["queueDatas"] if answer.body else ():
            if queue["brokerName"] == broker:
                queues_by_server[topic] = queue
    return queues_by_server


def named(events: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == name]
