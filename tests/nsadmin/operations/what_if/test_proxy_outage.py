"""What groups and clients lose without some proxies."""

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.operations.what_if.proxy_outage import (
    GroupConnectionLoss,
    ProxyOutage,
    find_connection_losses,
    foresee_proxy_outage,
)

FIRST = ProxyStatus("p1:8080", "p1:8081", "cluster")
SECOND = ProxyStatus("p2:8080", "p2:8081", "cluster", error=RocketMQError("no answer"))
LOCAL = ProxyStatus("p3:8080", "p3:8081", "local")


def client(
    name: str | None, groups: tuple[str, ...], *proxies: str, brokers: tuple[str, ...] = ()
) -> ClusterClient:
    return ClusterClient(name, "h:1", None, None, "gRPC", groups, (), proxies, brokers)


CLIENTS = (
    client("a", ("G", "H"), "p1:8080"),
    client("b", ("G",), "p1:8080", "p2:8080"),
    client("c", ("H",), "p1:8080", brokers=("b:1",)),
    client("d", ("I",), "p3:8080", brokers=("b:3",)),
    client("e", ("G",)),
    client(None, (), "p1:8080"),
)
LISTED = ClientList(CLIENTS, ProxyList((FIRST, SECOND, LOCAL), {}, ProxyHeartbeats()), {})


def lost(outage: ProxyOutage) -> list[str | None]:
    return [client.client_id for client in outage.lost_clients]


def test_only_clients_without_another_connection_are_lost() -> None:
    outage = find_connection_losses(LISTED, [FIRST])
    assert lost(outage) == ["a", None]
    assert outage.group_losses == [GroupConnectionLoss("G", 3, 2), GroupConnectionLoss("H", 2, 1)]
    assert ([*outage.errors], outage.local_addrs) == (["p2:8080"], [])


def test_a_proxy_that_would_be_gone_need_not_answer() -> None:
    outage = find_connection_losses(LISTED, [FIRST, SECOND])
    assert (lost(outage), outage.errors) == (["a", "b", None], {})


def test_the_broker_of_a_local_proxy_goes_with_it() -> None:
    outage = find_connection_losses(LISTED, [LOCAL])
    assert (lost(outage), outage.local_addrs) == (["d"], ["p3:8080"])
    assert outage.group_losses == [GroupConnectionLoss("I", 1, 0)]


class FakeClients:
    def list_clients(self) -> ClientList:
        return LISTED


class FakeAdmin:
    clients = FakeClients()


@pytest.mark.parametrize("addr", ["p1:8080", "p1:8081"])
def test_a_proxy_is_named_by_either_port(addr: str) -> None:
    outage = foresee_proxy_outage(FakeAdmin(), [addr], str.__eq__)  # type: ignore[arg-type]
    assert lost(outage) == ["a", None]


def test_an_unknown_proxy_is_no_question() -> None:
    with pytest.raises(NotFound, match='no proxy "p9:8080": nsadmin found p1:8080, p2:8080, p3:8080'):
        foresee_proxy_outage(FakeAdmin(), ["p9:8080"], str.__eq__)  # type: ignore[arg-type]
