"""All brokers that any name server lists."""

import pytest

from nsadmin import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.results import NotFound
from nsadmin.operations.checks.listed_brokers import merge_groups, observe_listing
from tests.support.fake_servers import FakeNameServer


def test_what_one_name_server_lists_is_there(
    first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: "h:1"}}, "D": {"d": {0: "h:9"}}}
    second_server.clusters = {"C": {"a": {1: "h:2"}, "b": {0: "h:3"}}}
    with AdminClient([first_server.addr, second_server.addr, dead_addr], timeout=5) as admin:
        listing = observe_listing(admin, "C")
        assert observe_listing(admin).broker_names["h:9"] == "d 0 at h:9"
    assert listing.broker_groups == [
        BrokerAddrGroup("C", "a", {0: "h:1", 1: "h:2"}),
        BrokerAddrGroup("C", "b", {0: "h:3"}),
    ]
    assert listing.missing_addrs == {first_server.addr: ["h:2", "h:3"], second_server.addr: ["h:1"]}
    assert listing.failure_lines == [
        f"name server {dead_addr}: connection refused, no server listens on this port"
    ]


def test_a_cluster_that_no_name_server_lists(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"a": {0: "h:1"}}}
    with (
        AdminClient([first_server.addr], timeout=5) as admin,
        pytest.raises(NotFound, match='no cluster "E": name servers list C'),
    ):
        observe_listing(admin, "E")
    with AdminClient([dead_addr], timeout=5) as admin:
        listing = observe_listing(admin, "E")
    assert listing.explain_nothing("text") == "no name server answered"


def test_where_they_differ_the_first_one_counts() -> None:
    assert merge_groups(
        [BrokerAddrGroup("C", "a", {0: "h:1"}), BrokerAddrGroup("C", "a", {0: "h:2", 1: "h:3"})]
    ) == [BrokerAddrGroup("C", "a", {0: "h:1", 1: "h:3"})]
