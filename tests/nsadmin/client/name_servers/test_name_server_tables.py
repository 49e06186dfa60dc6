"""All that one name server tells of what it knows."""

import pytest

from namesrv_core.errors import QueryNotFound, RocketMQError, TopicNotExist
from namesrv_core.events import Group, MappingInfo, Member, QueueData
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.name_servers import name_server_tables
from nsadmin.client.name_servers.name_server_tables import TopicQueues, parse_topic_queues
from nsadmin.client.results import is_unreachable
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port, refuse_with


@pytest.fixture
def server(first_server: FakeNameServer) -> FakeNameServer:
    first_server.clusters = {"C": {"a": {1: "h:2", 0: "h:1"}}}
    first_server.routes = {"U": {"a": 6}, "T": {"a": 4}}
    first_server.kv = {"N": {"k": "v"}}
    return first_server


def test_all_but_the_routes_is_asked_at_once(server: FakeNameServer) -> None:
    with AdminClient(server.addr) as admin:
        listing = admin.name_server_tables.get_listing(server.addr, ["N", "none"])
    assert sorted(server.asked_codes()) == [106, 206, 219, 219, 319]
    assert listing.clusters == {"C": ("a",)}
    assert listing.groups == {"a": Group("C", "a", False, None, (Member(0, "h:1"), Member(1, "h:2")))}
    assert list(listing.topics) == ["T", "U"]
    assert listing.settings == server.config
    assert listing.kv == {"N": {"k": "v"}}


def test_acting_masters_zones_and_nulls_are_told_and_groups_of_nobody_are_not(server: FakeNameServer) -> None:
    group = {"brokerAddrs": {"0": "h:1"}, "cluster": "C", "enableActingMaster": True, "zoneName": "z"}
    table = {"a": group, "empty": {"brokerAddrs": {}, "cluster": "C"}, "null": None}
    clusters = {"C": ["a", "empty"], "D": ["empty"]}
    server.handlers[106] = lambda asked: answer_json(
        asked, {"brokerAddrTable": table, "clusterAddrTable": clusters}
    )
    server.handlers[219] = lambda asked: build_reply(asked, body=b'{"table":{"k":null}}')
    with AdminClient(server.addr) as admin:
        listing = admin.name_server_tables.get_listing(server.addr, ["N"])
    assert listing.groups == {"a": Group("C", "a", True, "z", (Member(0, "h:1"),))}
    assert listing.clusters == {"C": ("a",)}
    assert listing.kv == {"N": {"k": None}}


@pytest.mark.parametrize("code", [106, 206, 219, 319])
def test_one_answer_that_is_missing_is_no_answer(server: FakeNameServer, code: int) -> None:
    server.handlers[code] = refuse_with(1, "not ready")
    with AdminClient(server.addr) as admin, pytest.raises(RocketMQError, match="not ready"):
        admin.name_server_tables.get_listing(server.addr, ["N"])


def test_what_cannot_be_read_or_reached_is_no_answer(server: FakeNameServer) -> None:
    server.handlers[206] = lambda asked: build_reply(asked, body=b"{")
    with AdminClient(server.addr) as admin:
        with pytest.raises(RocketMQError, match="malformed answer"):
            admin.name_server_tables.get_listing(server.addr, [])
        with pytest.raises(RocketMQError, match="refused"):
            admin.name_server_tables.get_listing(f"127.0.0.1:{closed_port()}", [])


def test_routes_come_as_they_are_and_are_read_apart(server: FakeNameServer) -> None:
    with AdminClient(server.addr) as admin:
        known, unknown = admin.name_server_tables.get_route_bodies(server.addr, ["T", "none"])
    assert isinstance(unknown.error, TopicNotExist)
    assert known.result is not None
    assert parse_topic_queues(known.result) == TopicQueues({"a": QueueData("a", 8, 8, 4, 0)}, {})


def test_queues_of_static_topics_and_of_old_servers() -> None:
    text = (
        b'{"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":2,"writeQueueNums":1,"topicSynFlag":3}],'
        b'"topicQueueMappingByBroker":{"a":{"topic":"T","totalQueues":2,"bname":"a","epoch":7,"currIdMap":{0:1}}}}'
    )
    queues = parse_topic_queues(text)
    assert queues.queues == {"a": QueueData("a", 2, 1, 6, 3)}
    assert queues.mappings == {"a": MappingInfo("T", "__global__", 2, "a", 7, False, ((0, 1),))}
    with pytest.raises(ValueError, match="queueDatas has no brokerName"):
        parse_topic_queues(b'{"queueDatas":[{}]}')


def test_a_namespace_that_is_not_there_is_known_by_its_error(server: FakeNameServer) -> None:
    with AdminClient(server.addr) as admin:
        [result] = admin.kv.get_entries_each("none")
    assert isinstance(result.error, QueryNotFound)


def test_several_are_asked_at_once_and_one_that_is_silent_hides_no_other(
    server: FakeNameServer, second_server: FakeNameServer
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    second_server.handlers[206] = refuse_with(1, "not ready")
    with AdminClient(server.addr) as admin:
        first_listing, other, none = admin.name_server_tables.get_listing_each(
            [server.addr, second_server.addr, dead], ["N"]
        )
    assert (first_listing.result is not None and list(first_listing.result.topics), first_listing.error) == (
        ["T", "U"],
        None,
    )
    assert (other.result, "not ready" in str(other.error)) == (None, True)
    assert (none.addr, none.result, is_unreachable(none.error)) == (dead, None, True)


def test_queues_of_several_are_read_once_where_they_are_equal(
    server: FakeNameServer, second_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_server_tables, "_ROUTES_AT_ONCE", 2)
    names = [f"T{number}" for number in range(5)]
    server.routes = {name: {"a": 6} for name in names}
    second_server.handlers[105] = refuse_with(1, "busy")
    with AdminClient(server.addr) as admin:
        queues_by_server = admin.name_server_tables.get_queues_each(
            {server.addr: [*names, "gone"], second_server.addr: names}
        )
    known = queues_by_server[server.addr].result
    assert known is not None
    assert list(known) == [*names, "gone"]
    assert known["T0"] is known["T4"]
    assert known["T0"].queues == {"a": QueueData("a", 8, 8, 6, 0)}
    assert known["gone"] == name_server_tables.NO_TOPIC_QUEUES
    assert queues_by_server[second_server.addr].result is None
    assert "busy" in str(queues_by_server[second_server.addr].error)
    # After its first refusal it was not asked again.
    assert second_server.asked_codes().count(105) == 2


def test_a_route_that_cannot_be_read_is_no_answer(server: FakeNameServer) -> None:
    server.handlers[105] = lambda asked: build_reply(asked, body=b'{"queueDatas":[{}]}')
    with AdminClient(server.addr) as admin:
        queues_by_server = admin.name_server_tables.get_queues_each({server.addr: ["T"]})
    assert "malformed answer" in str(queues_by_server[server.addr].error)
