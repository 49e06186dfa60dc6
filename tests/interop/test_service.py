"""Our name server as a service of a real cluster: found over HTTP, left without a lost question, watched."""

import re
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import sleep

import pytest

from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.java_parts import JavaBroker, Lookups
from tests.interop.our_server import OurNameServer
from tests.interop.processes import PATIENCE_SECONDS, free_port
from tests.support.metric_samples import ScrapedSamples

GRACEFUL = {"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": 4}


def page(server: OurNameServer, path: str) -> str:
    """A page of the server's HTTP port."""
    (address,) = re.findall(r"HTTP at (http://\S+)", server.child.output)
    with urllib.request.urlopen(f"{address}/{path}", timeout=20) as answer:
        text: str = answer.read().decode()
    return text


@pytest.fixture(scope="module")
def servers(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[OurNameServer]]:
    """Two; the first is the address server of both, and sends clients away before it ends."""
    ports, http = [free_port(), free_port()], free_port()
    both = ";".join(f"127.0.0.1:{port}" for port in ports)
    home = tmp_path_factory.mktemp("name-servers")
    config = {"httpAddress": f"127.0.0.1:{http}", "nsaddr": both, **GRACEFUL}
    with (
        OurNameServer(home / "first", config, ports[0]) as first,
        OurNameServer(home / "second", None, ports[1]) as second,
    ):
        yield [first, second]


@pytest.fixture(scope="module")
def domain(servers: list[OurNameServer]) -> str:
    """What brokers and clients are told instead of name servers."""
    (http_address,) = re.findall(r"HTTP at http://(\S+)", servers[0].child.output)
    return str(http_address)


@pytest.fixture(scope="module")
def broker(
    servers: list[OurNameServer], domain: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaBroker]:
    """A broker that knows no name server, only where to ask for them."""
    config = {
        "fetchNamesrvAddrByAddressServer": "true",
        "rmqAddressServerDomain": domain,
        "registerNameServerPeriod": 10_000,
    }
    with JavaBroker(tmp_path_factory.mktemp("broker"), [], config=config) as master:
        wait_for_broker(servers, master.name)
        yield master


def test_a_broker_finds_its_name_servers_over_http_and_registers_with_all(
    servers: list[OurNameServer], broker: JavaBroker
) -> None:
    listed = page(servers[0], "rocketmq/nsaddr")
    assert listed == f"{servers[0].address};{servers[1].address}\n"
    scraped = ScrapedSamples(page(servers[0], "metrics"))
    assert (scraped("http_requests_total", path="/rocketmq/nsaddr", status="200") or 0) >= 2
    assert scraped("brokers", cluster=broker.cluster, role="master", state="heard") == 1
    assert (
        scraped("broker_registration_bytes", cluster=broker.cluster, broker="broker-a", id="0") or 0
    ) > 500


def gets_lookups(server: OurNameServer) -> bool:
    def count_lookups() -> float:
        scraped = ScrapedSamples(page(server, "metrics"))
        return scraped("requests_total", request="GET_ROUTEINFO_BY_TOPIC", code="SUCCESS") or 0

    count_before = count_lookups()
    sleep(0.5)
    return count_lookups() - count_before > 10


def test_clients_lose_no_question_and_no_message_while_a_name_server_leaves(
    servers: list[OurNameServer], broker: JavaBroker, domain: str, tmp_path: Path
) -> None:
    topic = "Leaving"

    create_topic(broker.port, topic)
    wait_for_topic(servers, topic)
    first, second = servers
    addresses = [first.address, second.address]
    with ExitStack() as running:
        named_lookups = running.enter_context(Lookups(tmp_path / "found", [], topic, domain))
        clients = [named_lookups, running.enter_context(Lookups(tmp_path / "told-1", addresses, topic))]
        # A Java client chooses its name server at random.
        while not gets_lookups(first):
            address_lookups = Lookups(tmp_path / f"told-{len(clients)}", addresses, topic)
            clients.append(running.enter_context(address_lookups))
        assert str(sorted(addresses)) == str(
            sorted(re.findall(r"[\d.]+:\d+", named_lookups.child.output)[:2])
        )
        first.child.stop(patience=30)
        for client in clients:
            client.child.wait_for_line("found 101 routes", PATIENCE_SECONDS)
            stderr = client.ended()
            failed, unsent = map(int, re.findall(r"(?:failed|unsent) (\d+)", stderr))
            assert (failed, unsent) == (0, 0), stderr
    assert "redirecting clients to other name servers for 4 s" in first.child.output
    (sent_away,) = re.findall(r"answered (\d+) requests with GO_AWAY", first.child.output)
    assert int(sent_away) >= 1
