"""Figures of name servers, and the brokers that they list."""

from namesrv_core.events import Group, Member
from nsadmin.client.name_servers.name_server_tables import NameServerListing
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.name_server_figures import (
    build_name_server_tables,
    choose_reported_brokers,
    list_brokers,
)


def listing(**members: dict[int, str]) -> NameServerListing:
    groups = {
        name: Group("C", name, False, None, tuple(Member(*member) for member in by_id.items()))
        for name, by_id in members.items()
    }
    return NameServerListing({"C": tuple(groups)}, groups, ("T", "U"), {}, {})


def test_brokers_by_role_and_names_without_master() -> None:
    tables = build_name_server_tables("n:1", listing(a={0: "h:1", 1: "h:2"}, b={2: "h:3"}), 0.5)
    assert tables[0].rows == [(("n:1",), (1.0, 0.5, 2.0))]
    assert dict(tables[1].rows) == {("n:1", "C", "master"): (1.0,), ("n:1", "C", "slave"): (2.0,)}
    assert tables[2].rows == [(("n:1", "C"), (1.0,))]


def test_a_silent_name_server_is_down_and_lists_nothing() -> None:
    [table] = build_name_server_tables("n:1", None, 3.0)
    assert table.rows == [(("n:1",), (0.0, 3.0, None))]


def test_each_broker_once_also_if_name_servers_disagree_about_its_address() -> None:
    brokers = list_brokers([listing(a={0: "h:1"}), listing(a={0: "h:9", 1: "h:2"}, b={1: "h:3"})])
    assert brokers == [
        ServerIdentity("h:1", "C", "a", "0"),
        ServerIdentity("h:2", "C", "a", "1"),
        ServerIdentity("h:3", "C", "b", "1"),
    ]
    assert choose_reported_brokers(brokers) == {"h:1", "h:3"}
    # A broker that was renamed.
    assert list_brokers([listing(a={0: "h:1"}, b={0: "h:1"})]) == [ServerIdentity("h:1", "C", "a", "0")]
