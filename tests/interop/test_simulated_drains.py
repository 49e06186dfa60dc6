"""Schedules of commands, played in the simulation and on released servers: verdicts and states agree.

A schedule has no races: after each step, every broker has registered with every name server.
`make simulation-real` plays 60 schedules on each release.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

import pytest

from nsadmin import AdminClient
from nsadmin.console.exit_codes import ExitCode
from tests.interop import jars, wire
from tests.interop.cluster import body, brokers, create_topic, plain, route, wait_for_runtime_info
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.processes import wait_for
from tests.simulation.broker import CLUSTER
from tests.simulation.command_cluster import CommandCluster
from tests.support import forked_commands

SCHEDULES = int(os.environ.get("NSADMIN_SCHEDULES", "5"))
BROKERS = ("broker-a", "broker-b")
QUICK = ("--settle", "0.3s", "--interval", "0.2s", "--intervals", "1", "--yes")
TOPICS = (("orders", 4, 6), ("history", 4, 4))
LONE = (("lone", 2, 6),)
QUIET: dict[str, object] = {
    # The shortest period that brokers accept.
    "registerNameServerPeriod": 10_000,
    # Brokers of 4.9.7 create a topic at the first check of transactions.
    "transactionCheckInterval": 3_600_000,
}
Step = tuple[str, ...]


class PlayedCluster(Protocol):
    """A cluster, simulated or real."""

    state_home: Path

    @property
    def labels(self) -> Mapping[str, str]: ...

    def run(self, words: Iterable[str], last_wait: list[str] | None = None) -> tuple[int, str, str]:
        """Run a command, until it waits for this if it waits for ever."""

    def stop_name_server(self, number: int) -> None: ...

    def start_name_server(self, number: int) -> None: ...

    def stop_broker(self, name: str) -> None: ...

    def start_broker(self, name: str) -> None: ...

    def settle(self) -> None: ...

    def read_state(self) -> dict[str, Any]: ...


class ReleasedCluster:
    """Two released name servers and two masters of the same release."""

    def __init__(self, home: Path, version: str) -> None:
        self.servers = [JavaNameServer(home / f"namesrv-{number}", version=version) for number in (1, 2)]
        addrs = [server.address for server in self.servers]
        self.brokers = {
            name: JavaBroker(home / name, addrs, name, CLUSTER, version=version, config=QUIET)
            for name in BROKERS
        }
        self._stopped: set[str] = set()
        self.labels = {
            **{server.address: f"namesrv-{number}" for number, server in enumerate(self.servers, 1)},
            **{broker.address: name for name, broker in self.brokers.items()},
        }

    # Steps

    def run(self, words: Iterable[str], last_wait: list[str] | None = None) -> tuple[int, str, str]:
        environment = {**ENVIRONMENT, "NSADMIN_STATE": str(self.state_home), "NSADMIN_AUDIT": "off"}
        arguments = ["-n", ";".join(server.address for server in self.servers), "--json", *words]
        if last_wait is None:
            result = forked_commands.run([*PATIENT, *arguments], environment)
            return result.returncode, result.stdout, result.stderr
        with subprocess.Popen(
            [*PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            lines, times_waiting = [], 0
            for line in child.stdout:
                lines.append(line)
                times_waiting += json.loads(line).get("waitingFor") == last_wait
                if times_waiting == 3:
                    child.send_signal(signal.SIGINT)
                    times_waiting += 1
            err = child.stderr.read()
        return child.returncode, "".join(lines), err

    def stop_name_server(self, number: int) -> None:
        self.servers[number].kill()
        self._stopped.add(self.servers[number].address)

    def start_name_server(self, number: int) -> None:
        self.servers[number].start()
        self._stopped.discard(self.servers[number].address)

    def stop_broker(self, name: str) -> None:
        self.brokers[name].kill()
        self._stopped.add(self.brokers[name].address)

    def start_broker(self, name: str) -> None:
        broker = self.brokers[name]
        broker.restart()
        wait_for_runtime_info(broker.port)
        self._stopped.discard(broker.address)

    def settle(self) -> None:
        """Wait until each name server has the version of topics that each broker has."""
        for server in self._running_servers:
            for name, broker in self.brokers.items():
                if broker.address in self._stopped:
                    wait_for(f"the end of {name}", lambda s=server, n=name: n not in brokers(s))  # type: ignore[misc]
                else:
                    wait_for(f"the version of {name}", lambda s=server, b=broker: _is_current(s, b))  # type: ignore[misc]

    # States

    @property
    def _running_servers(self) -> list[JavaNameServer]:
        return [server for server in self.servers if server.address not in self._stopped]

    @property
    def _running_brokers(self) -> dict[str, JavaBroker]:
        return {name: b for name, b in self.brokers.items() if b.address not in self._stopped}

    def read_topics(self, name: str) -> dict[str, dict[str, Any]]:
        answer = wire.ask(self.brokers[name].port, 21)
        table: dict[str, dict[str, Any]] = json.loads(answer.body)["topicConfigTable"]
        return table

    def read_system_topics(self) -> frozenset[str]:
        answers = [wire.ask(broker.port, 305) for broker in self.brokers.values()]
        return frozenset().union(*(json.loads(answer.body)["topicList"] for answer in answers))

    def read_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for server in self._running_servers:
            queues: dict[str, dict[str, Any]] = {name: {} for name in BROKERS}
            for topic in body(server, 206)["topicList"]:
                for queue in (route(server, topic) or {"queueDatas": []})["queueDatas"]:
                    queues[queue["brokerName"]][topic] = _describe_queues(queue)
            state |= {f"{name} on {self.labels[server.address]}": found for name, found in queues.items()}
        for name, broker in self._running_brokers.items():
            state[name] = {
                topic: _describe_queues(config) for topic, config in self.read_topics(name).items()
            }
            lines = wire.ask(broker.port, 26).body.decode().splitlines()
            [perm] = [line.partition("=")[2] for line in lines if line.startswith("brokerPermission=")]
            state[f"brokerPermission of {name}"] = perm
        return state

    def reset(self, state_home: Path) -> None:
        """Start what was stopped, and give the cluster the topics that each schedule begins with."""
        self.state_home = state_home
        for number, server in enumerate(self.servers):
            if server.address in self._stopped:
                self.start_name_server(number)
        for name, broker in self.brokers.items():
            if broker.address in self._stopped:
                self.start_broker(name)
        system_topics = self.read_system_topics()
        for name, broker in self.brokers.items():
            for topic in self.read_topics(name).keys() - system_topics:
                assert wire.ask(broker.port, 215, {"topic": topic}).code == 0
                for server in self.servers:
                    wire.ask(server.port, 216, {"topic": topic})
        with AdminClient([server.address for server in self.servers]) as admin:
            for name, broker in self.brokers.items():
                for topic, queues, perm in (*TOPICS, *(LONE if name == BROKERS[0] else ())):
                    create_topic(broker.port, topic, queues, perm)
                assert wire.ask(broker.port, 25, body=b"brokerPermission=6\n").code == 0
                assert admin.broker_configs.force_registration(broker.address).error is None
        self.settle()


def _is_current(server: JavaNameServer, broker: JavaBroker) -> bool:
    """QUERY_DATA_VERSION, as a broker asks it."""
    version = json.dumps(plain(parse(wire.ask(broker.port, 21).body))["dataVersion"]).encode()
    ext = {
        "brokerName": broker.name, "brokerAddr": broker.address, "clusterName": CLUSTER, "brokerId": "0",
    }  # fmt: skip
    return (wire.ask(server.port, 322, ext, version).ext or {}).get("changed") == "false"


def _describe_queues(queue: Mapping[str, Any]) -> tuple[int, int, int]:
    return queue["readQueueNums"], queue["writeQueueNums"], queue["perm"]


@pytest.fixture(scope="module", params=[jars.NEWEST, jars.OLD])
def released_cluster(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReleasedCluster]:
    cluster = ReleasedCluster(tmp_path_factory.mktemp("played"), request.param)
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        for parts in (cluster.servers, [*cluster.brokers.values()]):
            list(pool.map(ends.enter_context, parts))
        for broker in cluster.brokers.values():
            wait_for_runtime_info(broker.port)
        yield cluster


# Schedules


def plan_steps(seed: int) -> list[Step]:
    """The steps of a schedule: commands, and at most one server that stops and starts again."""
    random = Random(f"schedule {seed}")
    steps: list[Step] = [_plan_command(random) for _ in range(random.randint(3, 6))]
    if random.random() < 0.4:
        place = (
            ("namesrv", random.choice("01")) if random.random() < 0.5 else ("broker", random.choice(BROKERS))
        )
        begin = random.randrange(len(steps))
        steps.insert(begin, ("stop", *place))
        steps.insert(random.randint(begin + 2, len(steps)), ("start", *place))
    return [*steps, ("drainStatus",)]


def _plan_command(random: Random) -> Step:
    broker = random.choices(BROKERS, (3, 1))[0]
    topic = random.choice(("orders", "history", "lone", "fresh"))
    queues = str(random.randint(1, 6))
    commands: dict[Step, float] = {
        ("drain", broker, *QUICK, *_choose_options(random)): 5,
        ("undrain", broker, "--yes"): 4,
        ("wipeWritePerm", broker, "--yes"): 1,
        ("addWritePerm", broker, "--yes"): 1,
        ("repair", "wipe", broker, "--yes"): 1,
        ("updateTopic", topic, "-c", CLUSTER, "-r", queues, "-w", queues, "--yes"): 1,
        ("updateTopic", topic, "-b", broker, "-p", random.choice("46"), "--yes"): 1,
        ("deleteTopic", topic, CLUSTER, "--yes"): 1,
        ("topicRoute", topic): 0.5,
        ("drainStatus",): 0.5,
    }
    return random.choices([*commands], [*commands.values()])[0]


def _choose_options(random: Random) -> list[str]:
    options = {
        ("--force",): 0.6, ("--durable",): 0.25, ("--allow-unreachable",): 0.3, ("--dry-run",): 0.1,
        ("--then", "true"): 0.15,
    }  # fmt: skip
    return [word for words, likelihood in options.items() if random.random() < likelihood for word in words]


class Verdict(NamedTuple):
    """What a command told. `last_wait` is what it waited for when it was stopped."""

    code: int
    told: list[dict[str, Any]]
    stderr: list[str]
    last_wait: list[str] | None


def take_step(cluster: PlayedCluster, step: Step, last_wait: list[str] | None = None) -> Verdict | None:
    """Do a step, and let the brokers register. Return the verdict of a command."""
    actions: dict[tuple[str, str], Callable[[str], None]] = {
        ("stop", "namesrv"): lambda number: cluster.stop_name_server(int(number)),
        ("start", "namesrv"): lambda number: cluster.start_name_server(int(number)),
        ("stop", "broker"): cluster.stop_broker,
        ("start", "broker"): cluster.start_broker,
    }
    verdict = None
    if step[0] in ("stop", "start"):
        actions[step[0], step[1]](step[2])
    else:
        verdict = _read_verdict(cluster, cluster.run(step, last_wait))
    cluster.settle()
    return verdict


def _read_verdict(cluster: PlayedCluster, result: tuple[int, str, str]) -> Verdict:
    code, out, err = result
    for name, label in {**cluster.labels, str(cluster.state_home): "STATE"}.items():
        out, err = out.replace(name, label), err.replace(name, label)
    rows = json.loads(out) if out.startswith("[") else [json.loads(line) for line in out.splitlines()]
    told = [
        {key: value for key, value in row.items() if key not in ("time", "started", "pid", "by")}
        for row in rows
        if row.get("event") != "progress"
    ]
    waits = [row["waitingFor"] for row in rows if row.get("event") == "progress"]
    return Verdict(int(code), told, err.splitlines(), waits[-1] if code == ExitCode.INTERRUPTED else None)


def play_twice(seed: int, real: ReleasedCluster, home: Path) -> list[str]:
    """What differs between the simulated and the real cluster."""
    steps = plan_steps(seed)
    real.reset(home / "real")
    simulated = CommandCluster(
        home / "simulated",
        {
            name: tuple({"attributes": {}, **config} for config in real.read_topics(name).values())
            for name in BROKERS
        },
        is_old=next(iter(real.brokers.values())).version == jars.OLD,
        system_topics=real.read_system_topics(),
    )
    simulated.settle()
    differences = _compare("the beginning", simulated.read_state(), real.read_state())
    assert not differences, "\n".join(differences)
    for step in steps:
        verdict = take_step(simulated, step)
        real_verdict = take_step(real, step, verdict and verdict.last_wait)
        if verdict != real_verdict:
            differences.append(f"{' '.join(step)}:\n  simulated {verdict}\n  real      {real_verdict}")
        differences += _compare(" ".join(step), simulated.read_state(), real.read_state())
        if differences:
            break
    return differences


def _compare(moment: str, state: dict[str, Any], real_state: dict[str, Any]) -> list[str]:
    return [
        f"after {moment}: {part}:\n  simulated {_pick(state, part, real_state)}\n"
        f"  real      {_pick(real_state, part, state)}"
        for part in sorted(state.keys() | real_state.keys())
        if state.get(part) != real_state.get(part)
    ]


def _pick(state: dict[str, Any], part: str, other: dict[str, Any]) -> Any:
    """The first items of a part of a state that the other state does not have."""
    value, others = state.get(part), other.get(part)
    if isinstance(value, dict) and isinstance(others, dict):
        different = {key: item for key, item in sorted(value.items()) if others.get(key) != item}
        return dict(islice(different.items(), 4))
    return value


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_released_servers_do_what_the_simulation_does(
    seed: int, released_cluster: ReleasedCluster, tmp_path: Path
) -> None:
    differences = play_twice(seed, released_cluster, tmp_path)
    assert not differences, "\n".join([f"schedule {plan_steps(seed)}", *differences])
