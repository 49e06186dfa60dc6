"""Reading of heartbeats from brokers."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.proxies import heartbeat_reader
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with
from tests.support.proxies import ProxiedBroker, heartbeat_body


@pytest.fixture
def proxied_broker() -> Iterator[ProxiedBroker]:
    with ProxiedBroker() as running:
        yield running


@pytest.fixture
def admin(first_server: FakeNameServer, proxied_broker: ProxiedBroker) -> Iterator[AdminClient]:
    first_server.clusters = {"C": {"broker-a": {0: proxied_broker.addr}}}
    first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


def test_clients_that_are_connected_and_clients_that_are_not(
    admin: AdminClient, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("silent"), 60)
    proxied_broker.store_heartbeat(b"something else")
    proxied_broker.store_heartbeat(heartbeat_body("here"), 5)
    heartbeats = admin.proxies.get_heartbeats()
    assert [item.client.client_id for item in heartbeats.latest] == ["here", "silent"]
    assert [item.client.client_id for item in heartbeats.of_connected_clients] == ["here"]
    assert heartbeats.errors == {}


@pytest.mark.parametrize("clock_ms", [-3_600_000, 3_600_000])
def test_the_clock_of_the_broker_counts(first_server: FakeNameServer, clock_ms: int) -> None:
    with (
        ProxiedBroker(clock_ms=clock_ms) as proxied_broker,
        AdminClient(first_server.addr, timeout=5) as admin,
    ):
        first_server.clusters = {"C": {"broker-a": {0: proxied_broker.addr}}}
        first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
        proxied_broker.store_heartbeat(heartbeat_body("silent"), 60)
        proxied_broker.store_heartbeat(heartbeat_body("here"), 5)
        assert [item.client.client_id for item in admin.proxies.get_heartbeats().of_connected_clients] == [
            "here"
        ]


def test_without_the_topic_no_broker_is_asked(
    first_server: FakeNameServer, admin: AdminClient, proxied_broker: ProxiedBroker
) -> None:
    first_server.routes = {}
    assert admin.proxies.get_heartbeats() == heartbeat_reader.ProxyHeartbeats()
    assert proxied_broker.asked == []


def test_only_brokers_of_the_cluster_are_read(admin: AdminClient, proxied_broker: ProxiedBroker) -> None:
    proxied_broker.store_heartbeat(heartbeat_body())
    assert len(admin.proxies.get_heartbeats("C").latest) == 1
    assert admin.proxies.get_heartbeats("other").latest == ()


def test_a_broker_that_does_not_answer_is_an_error(
    first_server: FakeNameServer, admin: AdminClient, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body())
    first_server.clusters = {
        "C": {"broker-a": {0: proxied_broker.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}
    }
    first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6, "broker-b": 6}}
    heartbeats = admin.proxies.get_heartbeats()
    assert (len(heartbeats.latest), [*heartbeats.errors]) == (1, ["broker-b"])
    proxied_broker.handlers[11] = refuse_with(16, "no permission")
    assert {*admin.proxies.get_heartbeats().errors} == {"broker-a", "broker-b"}


def test_only_the_newest_heartbeats_of_a_queue_are_read(
    admin: AdminClient, proxied_broker: ProxiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat_reader, "MAX_HEARTBEATS", 2)
    for number in range(5):
        proxied_broker.store_heartbeat(heartbeat_body(f"c{number}"))
    assert [item.client.client_id for item in admin.proxies.get_heartbeats().latest] == ["c3", "c4"]
