"""All brokers that any name server lists."""

from nsadmin import AdminClient
from nsadmin.client.clusters import BrokerGroup
from nsadmin.operations.checks.listed import look, merged
from tests.support.servers import FakeNameServer


def test_what_one_name_server_lists_is_there(
    first: FakeNameServer, second: FakeNameServer, gone: str
) -> None:
    first.clusters = {"C": {"a": {0: "h:1"}}, "D": {"d": {0: "h:9"}}}
    second.clusters = {"C": {"a": {1: "h:2"}, "b": {0: "h:3"}}}
    with AdminClient([first.addr, second.addr, gone], timeout=5) as admin:
        found = look(admin, "C")
        assert look(admin).names["h:9"] == "d 0 at h:9"
    assert found.groups == [BrokerGroup("C", "a", {0: "h:1", 1: "h:2"}), BrokerGroup("C", "b", {0: "h:3"})]
    assert found.missing == {first.addr: ["h:2", "h:3"], second.addr: ["h:1"]}
    assert found.away == [f"name server {gone}: connection refused, nothing listens there"]


def test_where_they_differ_the_first_one_counts() -> None:
    assert merged([BrokerGroup("C", "a", {0: "h:1"}), BrokerGroup("C", "a", {0: "h:2", 1: "h:3"})]) == [
        BrokerGroup("C", "a", {0: "h:1", 1: "h:3"})
    ]
