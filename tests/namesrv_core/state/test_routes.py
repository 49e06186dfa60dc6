"""What is asked of the tables, as values and as exact bytes."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.json_bodies import MappingInfo, broker_data_json, queue_data_json
from namesrv_core.state import routes
from namesrv_core.state.list_cache import BodySteps
from namesrv_core.state.routes import (
    RegisteredRoute,
    RouteMember,
    encode_route_body,
    find_route,
    mapping_infos_json,
)
from namesrv_core.state.write_permissions import add_write_permission
from tests.support.brokers import TableHarness, make_queue, make_topic
from tests.support.memory import MEGABYTE, kept_megabytes


def members(lab: TableHarness, name: str = "T", acting: bool = True) -> dict[str, dict[int, str]]:
    route = find_route(lab.tables, name, acting)
    assert route is not None
    return {member.broker_name: member.broker_addrs for member in route.route_members}


def test_a_route_has_the_groups_and_queues_of_a_topic_and_no_others() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, zone="z")
    lab.register_broker("a", 1, zone="z")
    lab.register_broker("b", 0, ["T", "V"])
    lab.register_broker("x", 0, ["V", "W"])
    route = find_route(lab.tables, "T")
    assert route is not None
    assert route.route_members == [
        RouteMember("c", "a", {0: "a0", 1: "a1"}, False, "z"),
        RouteMember("c", "b", {0: "b0"}, False, None),
    ]
    assert route.queue_datas == [make_queue("a"), make_queue("b")]
    assert (route.filter_servers, route.queue_mappings) == ({}, None)


def test_an_unknown_topic_has_no_route() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    assert find_route(lab.tables, "X") is None
    lab.unregister_broker("a", 0)
    assert find_route(lab.tables, "T") is None


def test_a_route_handed_out_does_not_change_with_the_tables() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    route = find_route(lab.tables, "T")
    lab.register_broker("a", 1)
    assert route is not None
    assert route.route_members[0].broker_addrs == {0: "a0"}


def test_filter_servers_of_the_topic_s_brokers_are_in_its_route() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, filters=["f", None])
    lab.register_broker("a", 1, filters=["g"])
    lab.register_broker("b", 0, ["V", "W"], filters=["h"])
    route = find_route(lab.tables, "T")
    assert route is not None
    assert route.filter_servers == {"a0": ["f", None], "a1": ["g"]}


def test_the_mapping_of_a_broker_without_a_name_is_listed_as_null_and_of_an_empty_one_as_it_is() -> None:
    mappings = {None: MappingInfo("T"), "": MappingInfo("T", bname="")}
    assert list(mapping_infos_json(mappings)) == ["null", ""]


@pytest.fixture
def lab_without_master() -> TableHarness:
    """A group of two slaves with an acting master, its topics read-only."""
    lab = TableHarness()
    lab.register_broker("a", 1, acting=True)
    lab.register_broker("a", 2, acting=True)
    return lab


def test_the_smallest_slave_stands_in_as_master(lab_without_master: TableHarness) -> None:
    assert members(lab_without_master) == {"a": {0: "a1", 2: "a2"}}
    assert lab_without_master.addrs_by_id() == {1: "a1", 2: "a2"}


def test_no_slave_stands_in_where_the_settings_do_not_say_so(lab_without_master: TableHarness) -> None:
    assert members(lab_without_master, acting=False) == {"a": {1: "a1", 2: "a2"}}


def test_no_slave_stands_in_for_topics_that_can_be_written(lab_without_master: TableHarness) -> None:
    add_write_permission(lab_without_master.tables, "a")
    assert members(lab_without_master) == {"a": {1: "a1", 2: "a2"}}


def test_no_slave_stands_in_for_a_master_that_is_there(lab_without_master: TableHarness) -> None:
    lab_without_master.register_broker("a", 0, [make_topic("T", 4), "U"], acting=True)
    assert members(lab_without_master) == {"a": {0: "a0", 1: "a1", 2: "a2"}}


def test_no_slave_stands_in_for_a_group_that_does_not_want_it() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, [make_topic("T", 4), "U"], acting=False)
    assert members(lab) == {"a": {1: "a1"}}


def test_broker_groups_that_ask_for_their_members_see_ids_as_they_are() -> None:
    lab = TableHarness()
    name = "rmq_sys_SYNC_BROKER_MEMBER_a"
    lab.register_broker("a", 1, [name, "T"], acting=True)
    assert members(lab, name) == {"a": {1: "a1"}}
    assert members(lab) == {"a": {0: "a1"}}


def test_a_zone_keeps_its_brokers_in_any_case_and_those_without_a_master() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, zone="East", filters=["f"])
    lab.register_broker("b", 0, zone="west", filters=["g"])
    lab.register_broker("d", 0, zone=None)
    lab.register_broker("e", 1, zone="west")
    route = find_route(lab.tables, "T")
    assert route is not None
    cut = routes.cut_to_zone(route, "eAST")
    assert [member.broker_name for member in cut.route_members] == ["a", "e"]
    assert [item.broker_name for item in cut.queue_datas] == ["a", "e"]
    assert cut.filter_servers == {"a0": ["f"]}


def test_a_zone_may_leave_nothing_of_a_route() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, zone="east")
    route = find_route(lab.tables, "T")
    assert route is not None
    assert encode_route_body(routes.cut_to_zone(route, "west"), None, False) == (
        b'{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}'
    )


def everything() -> TableHarness:
    lab = TableHarness()
    info = MappingInfo("T", "__global__", 2, "a", 2**53, False, ((1, 1), (0, 0)))
    lab.register_broker(
        "a", 0, filters=["f", None], mappings={"T": info}, zone="z", acting=True, addr="1.1.1.1:1"
    )
    return lab


MEMBERS = (
    b'"brokerName":"a","cluster":"c","enableActingMaster":true,"zoneName":"z"}],'
    b'"filterServerTable":{"1.1.1.1:1":["f",null]},"orderTopicConf":"a:8",'
    b'"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}],'
)


def test_a_route_is_written_with_bare_keys_in_the_default_dialect() -> None:
    route = find_route(everything().tables, "T")
    assert route is not None
    assert encode_route_body(route, "a:8", is_standard=False) == (
        b'{"brokerDatas":[{"brokerAddrs":{0:"1.1.1.1:1"},' + MEMBERS + b'"topicQueueMappingByBroker":{"a":'
        b'{"bname":"a","currIdMap":{0:0,1:1},"dirty":false,"epoch":9007199254740992,'
        b'"scope":"__global__","topic":"T","totalQueues":2}}}'
    )


def test_a_route_is_written_with_quoted_keys_in_the_standard_dialect() -> None:
    route = find_route(everything().tables, "T")
    assert route is not None
    assert encode_route_body(route, "a:8", is_standard=True) == (
        b'{"brokerDatas":[{"brokerAddrs":{"0":"1.1.1.1:1"},' + MEMBERS + b'"topicQueueMappingByBroker":{"a":'
        b'{"bname":"a","currIdMap":{"0":0,"1":1},"dirty":false,"epoch":"9007199254740992",'
        b'"scope":"__global__","topic":"T","totalQueues":2}}}'
    )


def test_a_body_is_that_of_the_tables_as_they_are_now() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    for standard in (False, True, False):
        for zone in (None, "z1", "z2"):
            group = lab.tables.broker_groups["a"]
            group.zone_name, group.broker_addrs = zone, {1: "y", 0: f"x:{zone}"}
            route = find_route(lab.tables, "T")
            assert route is not None
            plain: dict[str, object] = {
                "brokerDatas": [broker_data_json(*member) for member in route.route_members],
                "filterServerTable": {},
                "queueDatas": [queue_data_json(queue) for queue in route.queue_datas],
            }
            assert encode_route_body(route, None, standard) == fastjson.encode_json(
                plain, is_standard=standard
            )


def test_a_queue_is_encoded_once() -> None:
    assert routes._encode_queue(make_queue("once")) is routes._encode_queue(make_queue("once"))


def test_the_cluster_map_is_encoded_in_steps() -> None:
    lab = TableHarness()
    for number in range(65):
        lab.register_broker(f"b{number}", 0, [])
    *pauses, body = in_steps(routes.encode_cluster_body_in_steps(lab.tables))
    assert (pauses, body) == ([None, None], routes.encode_cluster_body(lab.tables))


def in_steps(steps: BodySteps) -> Iterator[bytes | None]:
    yield (yield from steps)


def test_the_cluster_map_has_bare_ids_and_true_ones(lab_without_master: TableHarness) -> None:
    assert routes.encode_cluster_body(lab_without_master.tables) == (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{1:"a1",2:"a2"},"brokerName":"a","cluster":"c",'
        b'"enableActingMaster":true}},"clusterAddrTable":{"c":["a"]}}'
    )
    assert (
        routes.encode_cluster_body(TableHarness().tables) == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'
    )


def test_a_member_group_has_the_cluster_that_was_asked_for(lab_without_master: TableHarness) -> None:
    assert routes.encode_member_group_body(lab_without_master.tables, "any", "a") == (
        b'{"brokerMemberGroup":{"brokerAddrs":{1:"a1",2:"a2"},"brokerName":"a","cluster":"any"}}'
    )


def test_a_member_group_that_nobody_knows_is_empty() -> None:
    tables = TableHarness().tables
    assert routes.encode_member_group_body(tables, "c", "z") == (
        b'{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"z","cluster":"c"}}'
    )
    assert routes.encode_member_group_body(tables, None, None) == b'{"brokerMemberGroup":{"brokerAddrs":{}}}'


def test_system_topics_are_the_names_of_clusters_and_brokers_with_some_address() -> None:
    lab = TableHarness()
    assert routes.system_topics(lab.tables) == ([], None)
    lab.register_broker("a", 0)
    lab.register_broker("b", 0)
    lab.register_broker("c", 0, cluster="d")
    names, addr = routes.system_topics(lab.tables)
    assert sorted(names) == ["a", "b", "c", "d"]
    assert addr in ("a0", "b0", "c0")


@pytest.mark.parametrize("is_standard", [True, False])
def test_the_encoded_parts_of_routes_that_changed_are_not_kept_without_end(
    is_standard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cache in (routes._member_texts, routes._queue_texts):
        monkeypatch.setattr(cache, "_max_bytes", MEGABYTE)

    def encode_changing_routes() -> None:
        for number in range(40):
            addrs = {broker_id: f"10.0.0.{number}:{broker_id}" for broker_id in range(1_000)}
            member = RouteMember("c", f"b{number}", addrs, False, None)
            queues = [make_queue(f"b{number}", queues=count) for count in range(100)]
            assert encode_route_body(RegisteredRoute([member], queues, {}, None), None, is_standard)

    assert kept_megabytes(encode_changing_routes) < 2
