"""What follows from facts at once."""

from namesrv_core.protocol.codes import Perm
from nsadmin.operations.explain.facts import broker_id_of_view, has_registered_master
from tests.support.route_facts import (
    MASTER,
    NOT_READY,
    SLAVE,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
)


def test_a_server_serves_where_a_living_master_has_a_queue_to_write() -> None:
    well = make_server_view(make_queue_route())
    assert make_facts([well]).has_writable_queue(well)
    for other in (
        make_server_view(),
        make_server_view(error=NOT_READY),
        make_server_view(make_queue_route(perm=Perm.READ)),
        make_server_view(make_queue_route(write_queue_nums=0)),
        make_server_view(make_queue_route(addrs={1: SLAVE}), members={"a": {1: SLAVE}}),
        # A route may show a slave in the master's place.
        make_server_view(make_queue_route(addrs={0: SLAVE}), members={"a": {1: SLAVE}}),
    ):
        assert not make_facts([other]).has_writable_queue(other)
    assert not make_facts([well], [make_broker_view(error=refused_connection(MASTER))]).has_writable_queue(
        well
    )


def test_what_is_wrong_with_a_part_is_a_warning_where_another_part_serves() -> None:
    both = make_server_view(
        make_queue_route(),
        make_queue_route("b", {0: "h:3"}, perm=4),
        members={"a": {0: MASTER}, "b": {0: "h:3"}},
    )
    assert make_facts([both]).problem_severity(both) == "warning"
    only = make_server_view(make_queue_route(perm=4))
    assert make_facts([only]).problem_severity(only) == "cause"


def test_holders_are_brokers_with_the_topic_masters_first() -> None:
    slave = make_broker_view(SLAVE, brokerId="1")
    route_facts = make_facts(
        [make_server_view(make_queue_route())],
        [
            slave,
            make_broker_view(),
            make_broker_view("h:3", "b", perm=None),
            make_broker_view("h:4", error=NOT_READY),
        ],
    )
    assert {
        name: [holder.addr for holder in found] for name, found in route_facts.brokers_with_topic().items()
    } == {"a": [MASTER, SLAVE]}
    assert (
        broker_id_of_view(make_broker_view("h:4", error=NOT_READY))
        > broker_id_of_view(slave)
        > broker_id_of_view(make_broker_view())
    )


def test_a_refusal_is_no_silence() -> None:
    route_facts = make_facts(
        [], [make_broker_view(error=NOT_READY), make_broker_view(SLAVE, error=refused_connection(SLAVE))]
    )
    assert route_facts.silence_error(MASTER) is None
    assert str(route_facts.silence_error(SLAVE)) == str(refused_connection(SLAVE))
    assert route_facts.silence_error("h:9") is None


def test_a_server_that_told_no_members_is_believed_its_route() -> None:
    server_view = make_server_view(make_queue_route())
    assert has_registered_master(server_view, "a")
    assert not has_registered_master(server_view, "b")
    assert has_registered_master(
        server_view._replace(
            cluster_info=make_server_view(error=refused_connection("ns-1:9876")).cluster_info
        ),
        "b",
    )
