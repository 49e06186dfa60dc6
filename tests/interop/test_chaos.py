"""A released broker and client behind a network that fails: afterwards they and our server know all again."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.cluster import brokers, create_topic, route, wait_for_broker, wait_for_topic
from tests.interop.java_parts import JavaBroker, Lookups
from tests.interop.our_server import OurNameServer
from tests.interop.processes import PATIENCE_SECONDS, wait_for
from tests.support.chaos import ChaosProxy, Weather, open_chaos_proxy

STEP = 0.7
# As often as a broker does it at most, and it waits no longer for an answer.
OFTEN = {"registerNameServerPeriod": 10_000, "registerBrokerTimeoutMills": 3000}


@pytest.fixture(scope="module")
def server(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurNameServer]:
    with OurNameServer(tmp_path_factory.mktemp("server")) as running:
        yield running


def weathers(network: ChaosProxy) -> None:
    network.weather = Weather(delay=0.1)
    time.sleep(STEP)
    network.weather = Weather(drip=50)
    time.sleep(STEP)
    network.half_open_connections()
    time.sleep(STEP)
    network.weather = Weather(refuses=True)
    network.reset_connections()
    time.sleep(STEP)
    network.weather = Weather()
    for _ in range(4):
        network.reset_connections()
        time.sleep(STEP / 4)
    network.heal_network()


def files(server: OurNameServer) -> int:
    return len(os.listdir(f"/proc/{server.child.pid}/fd"))


def test_a_broker_and_its_clients_come_back_after_bad_weather(server: OurNameServer, tmp_path: Path) -> None:
    # Asked once, it has opened what it keeps open.
    assert brokers(server) == {}
    before = files(server)
    with (
        open_chaos_proxy(server.port) as network,
        JavaBroker(tmp_path / "broker", [network.address], config=OFTEN) as broker,
    ):
        wait_for_broker([server], broker.name)
        create_topic(broker.port, "weather")
        wait_for_topic([server], "weather")
        with Lookups(tmp_path / "client", [network.address], "weather") as client:
            connected, broken = network.connections, network.resets
            weathers(network)
            wait_for("both to connect again", lambda: network.connections >= connected + 2)
            wait_for("the broker", lambda: brokers(server).get(broker.name) == {"0": broker.address})
            wait_for("the topic", lambda: route(server, "weather"))
            client.child.wait_for_line("found 10 routes", PATIENCE_SECONDS)
            unsent = int(client.ended().split()[5])
        assert network.resets > broken
        # While it could not ask it went on to send by what it knew.
        assert unsent == 0
    wait_for("its leave", lambda: brokers(server) == {})
    wait_for("no descriptor is left", lambda: files(server) <= before)
    assert "ERROR" not in server.child.output
    assert "Traceback" not in server.child.output
