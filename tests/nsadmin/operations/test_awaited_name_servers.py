"""The name servers that a broker waits for in vain."""

from nsadmin.client import AdminClient
from nsadmin.operations.awaited_name_servers import find_awaited_name_servers
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.topic_brokers import TopicBroker


def test_the_silent_ones_of_the_brokers_own_list_are_found() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer() as server, TopicBroker() as broker, AdminClient(server.addr, timeout=5) as admin:
        broker.items["namesrvAddr"] = f"{server.addr};{dead}"
        [silent] = find_awaited_name_servers(admin, [broker.addr])
    assert silent.addr == dead
    assert str(silent.error).startswith("connection refused")
    assert str(silent.error).endswith(f": {broker.addr} made the change but cannot register it here yet")


def test_a_broker_without_a_list_of_its_own_has_the_clients() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker() as broker, AdminClient(dead, timeout=5) as admin:
        assert [silent.addr for silent in find_awaited_name_servers(admin, [broker.addr])] == [dead]


def test_without_brokers_nobody_is_asked() -> None:
    with FakeNameServer() as server, AdminClient(server.addr, timeout=5) as admin:
        assert find_awaited_name_servers(admin, []) == []
        assert server.asked == []
