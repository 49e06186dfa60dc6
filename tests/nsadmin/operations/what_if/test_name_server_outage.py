"""What is asked to tell who would have which name servers left."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client import NoneReachable
from nsadmin.operations.what_if.name_server_outage import (
    NameServerListLoss,
    find_list_losses,
    find_unshared_brokers,
    foresee_name_server_outage,
)
from tests.support.lab import Lab, start_lab
from tests.support.servers import FakeNameServer, closed_port
from tests.support.topic_brokers import TopicBroker


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def same(one: str, other: str) -> bool:
    return one == other


def test_brokers_and_clients_keep_the_other_one(running_lab: Lab) -> None:
    first, second = running_lab.namesrv_addrs
    with AdminClient(running_lab.namesrv_addr) as admin:
        outage = foresee_name_server_outage(admin, [first], same)
        everything = foresee_name_server_outage(admin, [first, second], same)
    assert {item.remaining_addrs for item in (*outage.broker_losses, *outage.client_losses)} == {(second,)}
    assert {item.remaining_addrs for item in (*everything.broker_losses, *everything.client_losses)} == {()}
    assert outage.unshared_brokers == {}
    assert len(everything.unshared_brokers) == 6
    assert outage.asked_counts == (12, len(outage.client_losses))
    assert outage.producer_count > 0
    assert (outage.silent_count, set(outage.errors_by_addr.values())) == (0, {None})


def test_who_registered_with_one_server_only() -> None:
    with TopicBroker(name="broker-a") as a, TopicBroker(name="broker-b") as b:
        a.items |= {"namesrvAddr": "one:9876"}
        b.items |= {"namesrvAddr": "one:9876; two:9876", "fetchNamesrvAddrByAddressServer": "true"}
        with (
            FakeNameServer({"C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}}) as first_server,
            FakeNameServer({"C": {"broker-b": {0: b.addr}}}) as two,
            # The one that would be gone need not be among those that are known.
            AdminClient(two.addr) as admin,
        ):
            outage = foresee_name_server_outage(
                admin,
                [first_server.addr],
                lambda left, right: left == right or {left, right} == {"one:9876", first_server.addr},
            )
    assert outage.unshared_brokers == {"broker-a": {0}}
    assert outage.broker_losses == [
        NameServerListLoss("broker-a:0", ("one:9876",), ()),
        NameServerListLoss("broker-b:0", ("one:9876", "two:9876"), ("two:9876",)),
    ]
    assert outage.fetching_brokers == {"broker-b:0"}


def test_a_silent_server_may_know_all_of_them() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer({"C": {"broker-a": {0: "127.0.0.1:1"}}}) as silent_server:
        with AdminClient(f"{silent_server.addr};{dead}", timeout=1) as admin:
            outage = foresee_name_server_outage(admin, [silent_server.addr], same)
        assert outage.unshared_brokers == {}
        assert outage.errors_by_addr[dead] is not None
    with AdminClient(dead) as admin, pytest.raises(NoneReachable):
        foresee_name_server_outage(admin, [dead], same)


def test_those_with_none_left_come_first() -> None:
    lists = {"p": ("s:1", "s:2"), "q": ("s:1",), "r": ("s:2",), "o": ("s:1", "s:3")}
    assert find_list_losses(lists, ["s:1"]) == [
        NameServerListLoss("q", ("s:1",), ()),
        NameServerListLoss("o", ("s:1", "s:3"), ("s:3",)),
        NameServerListLoss("p", ("s:1", "s:2"), ("s:2",)),
    ]


def test_processes_that_only_one_name_server_knows() -> None:
    tables = {
        "s:1": {"a": frozenset({0, 1}), "b": frozenset({0}), "c": frozenset({0})},
        "s:2": {"a": frozenset({0}), "c": frozenset({0})},
        "s:3": {"b": frozenset({0})},
    }
    assert find_unshared_brokers(tables, ["s:1"]) == {"a": frozenset({1})}
    assert find_unshared_brokers(tables, ["s:1", "s:3"]) == {"a": frozenset({1}), "b": frozenset({0})}
    assert find_unshared_brokers(tables, []) == {}
