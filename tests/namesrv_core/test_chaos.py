"""A network that fails between brokers, clients and the server; and crowds. What is left of it afterwards?"""

import asyncio
import json
import os
import resource
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import BrokerFleet, FleetPlan
from namesrv_core.protocol.command import build_request
from namesrv_core.transport.request_channel import RequestChannel
from tests.interop.processes import free_port
from tests.support.chaos import ChaosProxy, Weather, open_chaos_proxy
from tests.support.http import fetch_page
from tests.support.name_servers import DEADLINE, ServerProgram, call_server, start_program

TOKEN = "chaos"
PLAN = FleetPlan(clusters=2, groups=3, replicas=2, topics=20)
CLIENTS = 100
STEP = 0.5


class Victim:
    """A name server as a program, and what it holds."""

    def __init__(self, running: ServerProgram, http: str) -> None:
        self.running, self._http = running, http
        self.port = int(running.address.rpartition(":")[2])

    @property
    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.running.process.pid}/fd"))

    def state(self) -> dict[str, dict[str, int]]:
        page = asyncio.run(fetch_page(self._http, "/debug/state", Authorization=f"Bearer {TOKEN}"))
        state: dict[str, dict[str, int]] = json.loads(page.text)
        return state

    def brokers(self) -> dict[tuple[str, str], str]:
        """Address of each broker, by its name and id."""
        with self.running.connect() as connection:
            body = call_server(build_request(106), connection).body.decode()
        table = json.loads(body.replace("{0:", '{"0":').replace("{1:", '{"1":').replace(",1:", ',"1":'))
        return {
            (name, number): addr
            for name, group in table["brokerAddrTable"].items()
            for number, addr in group["brokerAddrs"].items()
        }

    def topics(self) -> set[str]:
        with self.running.connect() as connection:
            topic_list: list[str] = json.loads(call_server(build_request(206), connection).body)["topicList"]
        return set(topic_list)


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    http = f"127.0.0.1:{free_port()}"
    (tmp_path / "token").write_text(TOKEN)
    flags = ["--home", str(tmp_path), "--bind", "127.0.0.1", "--port", "0", "--http", http]
    flags += [f"-DhttpTokenFile={tmp_path / 'token'}", "-DmaxConnectionsPerAddress=0", "--log-level", "ERROR"]
    with start_program(*flags) as running:
        yield Victim(running, http)


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


class Clients:
    """Many that ask for a route again and again, and connect anew when they are cut off."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.answers: Counter[int] = Counter()
        self.cut_off = 0

    async def run(self, end: threading.Event) -> None:
        await asyncio.gather(*(self._one(end) for _ in range(CLIENTS)))

    async def _one(self, end: threading.Event) -> None:
        channel = RequestChannel(self._address, 1.0)
        while not end.is_set():
            try:
                self.answers[(await channel.send_request(build_request(105, {"topic": "orders"}))).code] += 1
            except OSError:
                self.cut_off += 1
                channel.abort()
            await asyncio.sleep(0.02)
        channel.close()


def bad_weather(network: ChaosProxy) -> None:
    """Everything that a network does, one after the other; fine at its end."""
    for weather in (Weather(delay=0.05), Weather(drip=7), Weather(delay=0.02, drip=200)):
        network.weather = weather
        time.sleep(STEP)
        network.reset_connections()
    network.weather = Weather()
    for _ in range(5):
        network.reset_connections()
        time.sleep(STEP / 5)
    network.weather = Weather(refuses=True)
    network.reset_connections()
    time.sleep(STEP)
    # All come back at once.
    network.weather = Weather()
    time.sleep(STEP)
    network.half_open_connections()
    time.sleep(STEP)
    network.heal_network()


def test_after_bad_weather_the_tables_are_right_and_nothing_is_left(victim: Victim) -> None:
    # Asked once, it has opened what it keeps open.
    tasks = victim.state()["process"]["tasks"]
    files = victim.files
    with open_chaos_proxy(victim.port) as network:
        over, clients = threading.Event(), Clients(network.address)
        fleet: list[BrokerFleet] = []

        async def live() -> None:
            fleet.append(BrokerFleet(PLAN, [network.address], heartbeat_period=0.2, producer_period=0.5))
            await fleet[0].start()
            await clients.run(over)
            await fleet[0].leave_cluster(5)

        thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
        thread.start()
        try:
            wait_until(lambda: clients.answers[0] > CLIENTS)
            bad_weather(network)
            answered = clients.answers.total()
            there = {
                (one.spec.broker_name, str(one.spec.broker_id)): one.broker_addr for one in fleet[0].brokers
            }
            wait_until(lambda: victim.brokers() == there)
            wait_until(lambda: clients.answers.total() > answered + CLIENTS)
            topics = {str(config["topicName"]) for one in PLAN.plan_brokers() for config in one.topic_configs}
            wait_until(lambda: topics <= victim.topics())
        finally:
            over.set()
            thread.join(DEADLINE)
    # There were no other answers, whatever was broken: there, or not there for a moment.
    assert set(clients.answers) <= {0, 17}
    assert clients.cut_off > CLIENTS
    assert network.resets > CLIENTS
    wait_until(lambda: victim.brokers() == {})
    wait_until(lambda: victim.files <= files)
    wait_until(lambda: victim.state()["process"]["tasks"] <= tasks)
    # Nothing went wrong that it would have to tell of.
    code, _, log = victim.running.end(signal.SIGTERM)
    assert (code, log) == (0, "")


def test_ten_thousand_idle_connections_leave_nothing_behind(victim: Victim) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = min(10_000, most - 500)
    files = victim.files
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    crowd: list[socket.socket] = []
    try:
        with victim.running.connect() as good:
            crowd += [victim.running.connect() for _ in range(number)]
            wait_until(lambda: victim.files >= files + number)
            assert call_server(build_request(106), good).code == 0
            assert call_server(build_request(106), crowd[-1]).code == 0
            for connection in crowd:
                connection.close()
            wait_until(lambda: victim.files <= files + 2)
            assert call_server(build_request(106), good).code == 0
    finally:
        for connection in crowd:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
