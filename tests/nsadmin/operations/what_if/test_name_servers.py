"""What is asked to tell who would have which name servers left."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client import NoneReachable
from nsadmin.operations.what_if.lists import ListLoss
from nsadmin.operations.what_if.name_servers import without_name_servers
from tests.support.lab import Lab, lab
from tests.support.servers import FakeNameServer, closed_port
from tests.support.topic_brokers import TopicBroker


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def same(one: str, other: str) -> bool:
    return one == other


def test_brokers_and_clients_keep_the_other_one(there: Lab) -> None:
    first, second = there.namesrv_addrs
    with AdminClient(there.namesrv_addr) as admin:
        found = without_name_servers(admin, [first], same)
        everything = without_name_servers(admin, [first, second], same)
    assert {item.left for item in (*found.brokers, *found.clients)} == {(second,)}
    assert {item.left for item in (*everything.brokers, *everything.clients)} == {()}
    assert found.alone == {}
    assert len(everything.alone) == 6
    assert found.asked == (12, len(found.clients))
    assert found.producers > 0
    assert (found.silent, set(found.errors.values())) == (0, {None})


def test_who_registered_with_one_server_only() -> None:
    with TopicBroker(name="broker-a") as a, TopicBroker(name="broker-b") as b:
        a.items |= {"namesrvAddr": "one:9876"}
        b.items |= {"namesrvAddr": "one:9876; two:9876", "fetchNamesrvAddrByAddressServer": "true"}
        with (
            FakeNameServer({"C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}}) as one,
            FakeNameServer({"C": {"broker-b": {0: b.addr}}}) as two,
            # The one that would be gone need not be among those that are known.
            AdminClient(two.addr) as admin,
        ):
            found = without_name_servers(
                admin,
                [one.addr],
                lambda left, right: left == right or {left, right} == {"one:9876", one.addr},
            )
    assert found.alone == {"broker-a": {0}}
    assert found.brokers == [
        ListLoss("broker-a:0", ("one:9876",), ()),
        ListLoss("broker-b:0", ("one:9876", "two:9876"), ("two:9876",)),
    ]
    assert found.fetching == {"broker-b:0"}


def test_a_silent_server_may_know_all_of_them() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer({"C": {"broker-a": {0: "127.0.0.1:1"}}}) as one:
        with AdminClient(f"{one.addr};{dead}", timeout=1) as admin:
            found = without_name_servers(admin, [one.addr], same)
        assert found.alone == {}
        assert found.errors[dead] is not None
    with AdminClient(dead) as admin, pytest.raises(NoneReachable):
        without_name_servers(admin, [dead], same)
