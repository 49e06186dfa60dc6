"""Order configurations."""

import pytest

from nsadmin import AdminClient
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, format_order_conf, parse_order_conf
from tests.support.fake_servers import FakeNameServer


def test_entries_go_both_ways() -> None:
    assert parse_order_conf("broker-a:4;broker-b:8") == {"broker-a": 4, "broker-b": 8}
    assert format_order_conf({"broker-a": 4, "broker-b": 8}) == "broker-a:4;broker-b:8"


@pytest.mark.parametrize("text", ["", ";", "a", "a:", ":4", "a:x", "a:-1", "a:1;a:2", "a:1:2", "a b:1"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|duplicate"):
        parse_order_conf(text)


def test_other_brokers_keep_their_entries(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.order_confs.merge_conf("T", {"b": 2}) == "b:2"
        admin.order_confs.put_conf("T", "a:1;b:1")
        assert admin.order_confs.merge_conf("T", {"b": 2, "c": 3}) == "a:1;b:2;c:3"
        assert admin.order_confs.merge_conf("T", {"d": 1, "b": 2}) == "a:1;d:1;b:2"
        admin.order_confs.put_conf("T", "nonsense")
        assert admin.order_confs.merge_conf("T", {"b": 2}) == "b:2"
        assert [order_conf.result for order_conf in admin.order_confs.get_each("T")] == ["nonsense"]
        assert [order_conf.result for order_conf in admin.order_confs.delete_conf("T")] == ["nonsense"]
    assert first_server.kv[ORDER_CONF_NAMESPACE] == {}


def test_the_entries_of_all_topics(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.order_confs.list_all() == {}
        admin.order_confs.put_conf("T", "a:1")
        admin.order_confs.put_conf("A", "a:2")
        assert list(admin.order_confs.list_all().items()) == [("A", "a:2"), ("T", "a:1")]


def test_name_servers_that_keep_it_to_themselves(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.config["orderMessageEnable"] = "true"
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        assert admin.order_confs.find_servers_without() == [second_server.addr]
