"""Plans of static topics carried out on brokers, stopped in the middle, and carried on."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.static_topics.carrying import Carried, carry_out, look
from nsadmin.operations.static_topics.planning import Plan, created, remapped, undecided
from tests.support.servers import FakeNameServer, refuse
from tests.support.static_brokers import StaticBroker


class There(NamedTuple):
    admin: AdminClient
    server: FakeNameServer
    a: StaticBroker
    b: StaticBroker
    c: StaticBroker

    def carry(self, plan: Plan) -> Carried:
        self.kept.clear()
        return carry_out(self.admin, plan, look(self.admin, "T", ["a"], []), self.kept.append)

    @property
    def kept(self) -> list[Plan]:
        return KEPT

    def create(self, total: int = 2) -> Carried:
        place = look(self.admin, "T", ["a"], [])
        return self.carry(created("T", place.shares, place.targets, place.everybody, total, 5000))

    def moved(self) -> Plan:
        place = look(self.admin, "T", ["b"], [])
        return remapped("T", place.shares, place.targets, place.everybody, 1)


KEPT: list[Plan] = []


@pytest.fixture
def there() -> Iterator[There]:
    with StaticBroker("a") as a, StaticBroker("b") as b, StaticBroker("c") as c:
        clusters = {"C": {broker.name: {0: broker.addr} for broker in (a, b)}, "D": {"c": {0: c.addr}}}
        with FakeNameServer(clusters) as server, AdminClient(server.addr, timeout=5) as admin:
            yield There(admin, server, a, b, c)


def test_everybody_of_the_cluster_is_told(there: There) -> None:
    done = there.create()
    assert (done.errors, done.stopped_in) == ({}, None)
    assert [len(broker.told) for broker in (there.a, there.b, there.c)] == [1, 1, 0]
    assert there.a.static["T"]["writeQueueNums"] == 2
    assert there.b.static["T"]["mappingDetail"]["hostedQueues"] == {}
    assert look(there.admin, "T", ["a"], []).shares.keys() == {"a", "b"}


def test_a_move_goes_phase_by_phase(there: There) -> None:
    there.create()
    there.a.ends = {0: 4_999, 1: 5_000}
    done = there.carry(there.moved())
    assert (done.errors, done.stopped_in) == ({}, None)
    # Who gets queues is told twice: that it gets them, and where they go on.
    assert [len(broker.told) for broker in (there.a, there.b)] == [3, 3]
    offsets = [
        items[-1]["logicOffset"] for items in there.b.static["T"]["mappingDetail"]["hostedQueues"].values()
    ]
    assert offsets == [10_000, 20_000]
    assert (undecided(there.kept[0]), there.kept[0]) == ({}, done.plan)
    assert there.moved().map_in == ()


@pytest.mark.parametrize(
    ("broker", "code", "phase"),
    [
        ("b", 513, "telling who gets queues"),
        ("a", 513, "stopping writes"),
        ("a", 202, "asking where queues end"),
    ],
)
def test_what_was_stopped_is_carried_on(there: There, broker: str, code: int, phase: str) -> None:
    there.create()
    there.a.ends = {0: 1, 1: 1}
    plan = there.moved()
    failing = getattr(there, broker)
    was = failing.handlers[code]
    failing.handlers[code] = refuse(2, "busy")
    stopped = there.carry(plan)
    assert (stopped.stopped_in, [str(error) for error in stopped.errors.values()]) == (
        phase,
        ["SYSTEM_BUSY (2): busy"],
    )
    failing.handlers[code] = was
    done = there.carry(plan)
    assert (done.errors, done.stopped_in, undecided(done.plan)) == ({}, None, {})


def test_a_run_that_had_decided_is_not_decided_once_more(there: There) -> None:
    there.create()
    there.a.ends = {0: 1, 1: 1}
    plan = there.moved()
    there.carry(plan)
    there.a.ends = {0: 7_000, 1: 7_000}
    done = there.carry(plan)
    assert (done.errors, {items[-1].logic_offset for items in done.plan.shares["b"].hosted.values()}) == (
        {},
        {10_000},
    )


def test_a_yes_that_changed_nothing(there: There) -> None:
    there.b.handlers[513] = there.b.handlers[28]
    done = there.create()
    assert isinstance(done.errors["b"], NotApplied)


def test_places_that_are_not_to_be_had(there: There) -> None:
    for brokers, clusters, error in ((["x"], [], NotFound), ([], ["X"], NotFound)):
        with pytest.raises(error):
            look(there.admin, "T", brokers, clusters)
    there.c.static["T"] = {"topicName": "T"}
    with pytest.raises(NotApplied, match="broker c: T is a plain topic here"):
        look(there.admin, "T", ["a"], [])
    there.server.clusters = {"C": {"a": {1: there.a.addr}}}
    with pytest.raises(NotApplied, match="a has no master now"):
        look(there.admin, "T", [], ["C"])
