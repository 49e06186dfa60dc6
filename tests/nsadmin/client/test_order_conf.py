"""Order configurations."""

import pytest

from nsadmin import AdminClient
from nsadmin.client.order_conf import NAMESPACE, parse, text_of
from tests.support.servers import FakeNameServer


def test_entries_go_both_ways() -> None:
    assert parse("broker-a:4;broker-b:8") == {"broker-a": 4, "broker-b": 8}
    assert text_of({"broker-a": 4, "broker-b": 8}) == "broker-a:4;broker-b:8"


@pytest.mark.parametrize("text", ["", ";", "a", "a:", ":4", "a:x", "a:-1", "a:1;a:2", "a:1:2", "a b:1"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|twice"):
        parse(text)


def test_other_brokers_keep_their_entries(first: FakeNameServer) -> None:
    with AdminClient(first.addr, timeout=5) as admin:
        assert admin.order_confs.merged("T", {"b": 2}) == "b:2"
        admin.order_confs.put("T", "a:1;b:1")
        assert admin.order_confs.merged("T", {"b": 2, "c": 3}) == "a:1;b:2;c:3"
        admin.order_confs.put("T", "nonsense")
        assert admin.order_confs.merged("T", {"b": 2}) == "b:2"
        assert [found.result for found in admin.order_confs.each("T")] == ["nonsense"]
        assert [found.result for found in admin.order_confs.delete("T")] == ["nonsense"]
    assert first.kv[NAMESPACE] == {}


def test_the_entries_of_all_topics(first: FakeNameServer) -> None:
    with AdminClient(first.addr, timeout=5) as admin:
        assert admin.order_confs.all() == {}
        admin.order_confs.put("T", "a:1")
        admin.order_confs.put("A", "a:2")
        assert list(admin.order_confs.all().items()) == [("A", "a:2"), ("T", "a:1")]


def test_name_servers_that_keep_it_to_themselves(first: FakeNameServer, second: FakeNameServer) -> None:
    first.config["orderMessageEnable"] = "true"
    with AdminClient([first.addr, second.addr], timeout=5) as admin:
        assert admin.order_confs.unused_on() == [second.addr]
