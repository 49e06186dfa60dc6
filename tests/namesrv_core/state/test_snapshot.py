"""A snapshot: a copy that stays as it is, and an event in which topics that are alike stand together."""

from namesrv_core.events import AlikeTopics, ClusterNames, Group, Member
from namesrv_core.state.snapshot import build_snapshot, copy_tables
from tests.support.brokers import make_queue
from tests.support.wire import STARTED_AT, Wire


def wire() -> Wire:
    new_wire = Wire()
    new_wire.register_broker(
        "a", "T", "U", addr="x:1", more={"enableActingMaster": "true", "__ZONE_NAME": "z"}
    )
    new_wire.register_broker("b", "T", "U", "V", addr="y:1", now=STARTED_AT + 400)
    return new_wire


def test_topics_with_the_same_queues_on_the_same_brokers_stand_together() -> None:
    taken = build_snapshot(copy_tables(wire().state, STARTED_AT, {}, {}), "request")
    assert taken.reason == "request"
    assert taken.queues == (make_queue("a"), make_queue("b"))
    assert taken.routes == (AlikeTopics(("T", "U"), (0, 1)), AlikeTopics(("V",), (1,)))


def test_groups_clusters_and_how_long_brokers_were_silent_are_told() -> None:
    taken = build_snapshot(
        copy_tables(wire().state, STARTED_AT + 1000, {"n": {"k": None}}, {"listenPort": "1"}), "start"
    )
    assert taken.clusters == (ClusterNames("c", ("a", "b")),)
    assert taken.groups[0] == Group("c", "a", True, "z", (Member(0, "x:1"),))
    assert [(live.broker_addr, live.silent_millis, live.info.ha_server_addr) for live in taken.live] == [
        ("x:1", 1000, "ha-x:1"),
        ("y:1", 600, "ha-y:1"),
    ]
    assert (taken.kv, taken.settings) == ({"n": {"k": None}}, {"listenPort": "1"})


def test_what_happens_after_the_copy_is_not_in_it() -> None:
    copied_wire = wire()
    copied = copy_tables(copied_wire.state, STARTED_AT, {}, {})
    before = build_snapshot(copied, "x")
    copied_wire.send_request(205, {"brokerName": "b"})
    copied_wire.send_request(216, {"topic": "T"})
    copied_wire.register_broker("c", "T", addr="z:1")
    assert build_snapshot(copied, "x") == before


def test_a_snapshot_of_nothing_is_empty() -> None:
    taken = build_snapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "start")
    assert (taken.clusters, taken.groups, taken.live, taken.routes, taken.mappings) == ((), (), (), (), ())
