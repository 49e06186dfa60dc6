"""Orders to broker containers."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.brokers.containers import ContainedBroker
from nsadmin.client.results import NotApplied, NotFound
from tests.support.fake_servers import Server, refuse_with


@pytest.fixture
def container() -> Iterator[Server]:
    config = b"brokerContainerIP=127.0.0.1\nlistenPort=10811\n"
    with Server(
        {26: lambda asked: build_reply(asked, body=config), 902: build_reply, 903: build_reply}
    ) as running:
        yield running


@pytest.fixture
def client() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as admin:
        yield admin


def test_what_a_container_is_told(client: AdminClient, container: Server) -> None:
    assert client.containers.check_container(container.addr).result is True
    assert client.containers.add_broker(container.addr, "/b.conf").error is None
    assert client.containers.remove_broker(container.addr, ContainedBroker("C", "b", 0)).error is None
    assert [asked.ext for asked in container.asked[1:]] == [
        {"configPath": "/b.conf"},
        {"brokerClusterName": "C", "brokerName": "b", "brokerId": "0"},
    ]


def test_what_is_none_and_what_is_not_in_it(client: AdminClient, container: Server) -> None:
    container.handlers |= {
        26: lambda asked: build_reply(asked, body=b"brokerName=a\n"),
        903: refuse_with(211, "no"),
    }
    assert isinstance(client.containers.check_container(container.addr).error, NotApplied)
    assert isinstance(
        client.containers.remove_broker(container.addr, ContainedBroker("C", "b", 0)).error, NotFound
    )
    container.handlers[902] = refuse_with(1, "addBroker properties empty")
    assert (
        str(client.containers.add_broker(container.addr, "/x").error)
        == "SYSTEM_ERROR (1): addBroker properties empty"
    )
