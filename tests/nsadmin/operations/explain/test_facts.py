"""What follows from facts at once."""

from namesrv_core.protocol.codes import Perm
from nsadmin.operations.explain.facts import broker_id_of_view, has_registered_master
from tests.support.explaining import MASTER, NOT_READY, SLAVE, broker, facts, queue, silence, view


def test_a_server_serves_where_a_living_master_has_a_queue_to_write() -> None:
    well = view(queue())
    assert facts([well]).has_writable_queue(well)
    for other in (
        view(),
        view(error=NOT_READY),
        view(queue(perm=Perm.READ)),
        view(queue(write_queue_nums=0)),
        view(queue(addrs={1: SLAVE}), members={"a": {1: SLAVE}}),
        # A route may show a slave in the master's place.
        view(queue(addrs={0: SLAVE}), members={"a": {1: SLAVE}}),
    ):
        assert not facts([other]).has_writable_queue(other)
    assert not facts([well], [broker(error=silence(MASTER))]).has_writable_queue(well)


def test_what_is_wrong_with_a_part_is_a_warning_where_another_part_serves() -> None:
    both = view(queue(), queue("b", {0: "h:3"}, perm=4), members={"a": {0: MASTER}, "b": {0: "h:3"}})
    assert facts([both]).problem_severity(both) == "warning"
    only = view(queue(perm=4))
    assert facts([only]).problem_severity(only) == "cause"


def test_holders_are_brokers_with_the_topic_masters_first() -> None:
    slave = broker(SLAVE, brokerId="1")
    told = facts(
        [view(queue())], [slave, broker(), broker("h:3", "b", perm=None), broker("h:4", error=NOT_READY)]
    )
    assert {name: [one.addr for one in found] for name, found in told.brokers_with_topic().items()} == {
        "a": [MASTER, SLAVE]
    }
    assert (
        broker_id_of_view(broker("h:4", error=NOT_READY))
        > broker_id_of_view(slave)
        > broker_id_of_view(broker())
    )


def test_a_refusal_is_no_silence() -> None:
    told = facts([], [broker(error=NOT_READY), broker(SLAVE, error=silence(SLAVE))])
    assert told.silence_error(MASTER) is None
    assert str(told.silence_error(SLAVE)) == str(silence(SLAVE))
    assert told.silence_error("h:9") is None


def test_a_server_that_told_no_members_is_believed_its_route() -> None:
    told = view(queue())
    assert has_registered_master(told, "a")
    assert not has_registered_master(told, "b")
    assert has_registered_master(
        told._replace(cluster_info=view(error=silence("ns-1:9876")).cluster_info), "b"
    )
