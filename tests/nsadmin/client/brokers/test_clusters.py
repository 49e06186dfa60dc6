"""Clusters as name servers list them, and their brokers' state."""

import pytest

from namesrv_core.protocol.command import RemotingCommand
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.clusters import (
    BrokerAddrGroup,
    ClusterInfo,
    describe_shared_addr,
    find_shared_addrs,
    parse_cluster_info,
)
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port, refuse_with


def test_groups_are_in_order_and_a_group_without_registration_has_no_addresses() -> None:
    body = (
        b'{"brokerAddrTable":{"b":{"brokerAddrs":{1:"h:2",0:"h:1"},"brokerName":"b","cluster":"C"}},'
        b'"clusterAddrTable":{"C":["ghost","b"],"A":[]}}'
    )
    info = parse_cluster_info(RemotingCommand(0, body=body))
    assert info == ClusterInfo(
        ("A", "C"), (BrokerAddrGroup("C", "b", {0: "h:1", 1: "h:2"}), BrokerAddrGroup("C", "ghost", {}))
    )
    assert [group.master_addr for group in info.broker_groups] == ["h:1", None]
    assert info.groups_in_cluster("A") == ()
    assert info.clusters_of_broker("b") == {"C"}


def test_an_unknown_cluster_is_not_found_and_the_known_ones_are_named() -> None:
    with pytest.raises(NotFound, match='no cluster "X": name servers list C'):
        ClusterInfo(("C",), ()).groups_in_cluster("X")


def test_a_process_with_two_names_counts_once(first_server: FakeNameServer, broker: FakeBroker) -> None:
    groups = (
        BrokerAddrGroup("C", "a", {0: "h:1", 1: "h:2"}),
        BrokerAddrGroup("C", "b", {0: "h:1", 1: "h:3"}),
        BrokerAddrGroup("C", "c", {0: "h:1"}),
        BrokerAddrGroup("C", "ghost", {}),
    )
    info = ClusterInfo(("C",), groups)
    assert [(group.broker_name, group.broker_addrs) for group in info.processes_in_cluster("C")] == [
        ("a", {0: "h:1", 1: "h:2"}),
        ("b", {1: "h:3"}),
        ("ghost", {}),
    ]
    swapped = ClusterInfo(
        ("C",), (BrokerAddrGroup("C", "a", {1: "h:1"}), BrokerAddrGroup("C", "b", {0: "h:1"}))
    )
    assert [group.broker_name for group in swapped.processes_in_cluster(None)] == ["b"]
    assert find_shared_addrs(groups) == {"h:1": ["a", "b", "c"]}
    assert describe_shared_addr("h:1", ["a", "b"]) == "a and b are one process, at h:1"
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.clusters.list_masters() == [broker.addr]


def test_every_broker_is_asked_whatever_the_others_do(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeBroker() as starting:
        starting.handlers[28] = refuse_with(1, "NoSuchElementException")
        first_server.clusters = {"C": {"broker-a": {0: broker.addr, 1: gone}, "broker-b": {0: starting.addr}}}
        with AdminClient(first_server.addr, timeout=5) as admin:
            alive, dead, not_ready = admin.clusters.list_broker_status()
    assert (alive.is_reachable, alive.error) == (True, None)
    assert (dead.broker_id, dead.is_reachable, dead.runtime_info) == (1, False, None)
    assert (not_ready.is_reachable, str(not_ready.error)) == (
        True,
        "SYSTEM_ERROR (1): NoSuchElementException",
    )


def test_each_name_server_tells_its_own(first_server: FakeNameServer) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: "h:1"}}}
    with FakeNameServer({"D": {}}) as other, AdminClient([first_server.addr, gone, other.addr]) as admin:
        first_result, silent, else_told = admin.clusters.get_info_each()
    assert first_result.result is not None
    assert first_result.result.cluster_names == ("C",)
    assert (silent.addr, silent.result) == (gone, None)
    assert else_told.result == ClusterInfo(("D",), ())


def test_a_member_without_address_is_not_asked(first_server: FakeNameServer) -> None:
    first_server.clusters = {"C": {"broker-a": {0: None}}}  # type: ignore[dict-item]
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.clusters.list_broker_status() == []


def test_the_masters_of_a_cluster_or_of_all(first_server: FakeNameServer, broker: FakeBroker) -> None:
    with AdminClient(first_server.addr) as admin:
        assert admin.clusters.list_masters() == admin.clusters.list_masters("C") == [broker.addr]
        with pytest.raises(NotFound, match='no cluster "X"'):
            admin.clusters.list_masters("X")
        first_server.clusters = {"C": {"broker-a": {1: broker.addr}}, "Empty": {}}
        with pytest.raises(NotApplied, match="broker-a has no master now"):
            admin.clusters.list_masters("C")
        with pytest.raises(NotFound, match='no broker is registered in the cluster "Empty"'):
            admin.clusters.list_masters("Empty")
