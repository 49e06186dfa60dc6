"""Plans of static topics carried out on brokers, stopped in the middle, and carried on."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.static_topics.executor import ExecutedPlan, execute_plan, observe_placement
from nsadmin.operations.static_topics.mapping_planner import (
    MappingPlan,
    find_undecided,
    plan_creation,
    plan_remapping,
)
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.static_brokers import StaticBroker


class There(NamedTuple):
    admin: AdminClient
    server: FakeNameServer
    a: StaticBroker
    b: StaticBroker
    c: StaticBroker

    def carry(self, plan: MappingPlan) -> ExecutedPlan:
        self.kept.clear()
        return execute_plan(self.admin, plan, observe_placement(self.admin, "T", ["a"], []), self.kept.append)

    @property
    def kept(self) -> list[MappingPlan]:
        return KEPT

    def create(self, total: int = 2) -> ExecutedPlan:
        place = observe_placement(self.admin, "T", ["a"], [])
        return self.carry(
            plan_creation(
                "T", place.current_shares, place.target_brokers, place.informed_brokers, total, 5000
            )
        )

    def moved(self) -> MappingPlan:
        place = observe_placement(self.admin, "T", ["b"], [])
        return plan_remapping("T", place.current_shares, place.target_brokers, place.informed_brokers, 1)


KEPT: list[MappingPlan] = []


@pytest.fixture
def static_cluster() -> Iterator[There]:
    with StaticBroker("a") as a, StaticBroker("b") as b, StaticBroker("c") as c:
        clusters = {"C": {broker.name: {0: broker.addr} for broker in (a, b)}, "D": {"c": {0: c.addr}}}
        with FakeNameServer(clusters) as server, AdminClient(server.addr, timeout=5) as admin:
            yield There(admin, server, a, b, c)


def test_everybody_of_the_cluster_is_told(static_cluster: There) -> None:
    done = static_cluster.create()
    assert (done.errors_by_broker, done.last_phase) == ({}, None)
    assert [len(broker.told) for broker in (static_cluster.a, static_cluster.b, static_cluster.c)] == [
        1,
        1,
        0,
    ]
    assert static_cluster.a.static["T"]["writeQueueNums"] == 2
    assert static_cluster.b.static["T"]["mappingDetail"]["hostedQueues"] == {}
    assert observe_placement(static_cluster.admin, "T", ["a"], []).current_shares.keys() == {"a", "b"}


def test_a_move_goes_phase_by_phase(static_cluster: There) -> None:
    static_cluster.create()
    static_cluster.a.ends = {0: 4_999, 1: 5_000}
    done = static_cluster.carry(static_cluster.moved())
    assert (done.errors_by_broker, done.last_phase) == ({}, None)
    # Who gets queues is told twice: that it gets them, and where they go on.
    assert [len(broker.told) for broker in (static_cluster.a, static_cluster.b)] == [3, 3]
    offsets = [
        items[-1]["logicOffset"]
        for items in static_cluster.b.static["T"]["mappingDetail"]["hostedQueues"].values()
    ]
    assert offsets == [10_000, 20_000]
    assert (find_undecided(static_cluster.kept[0]), static_cluster.kept[0]) == ({}, done.final_plan)
    assert static_cluster.moved().map_in == ()


@pytest.mark.parametrize(
    ("broker", "code", "phase"),
    [
        ("b", 513, "announcing the new queues"),
        ("a", 513, "stopping writes"),
        ("a", 202, "reading the end of each queue"),
    ],
)
def test_what_was_stopped_is_carried_on(static_cluster: There, broker: str, code: int, phase: str) -> None:
    static_cluster.create()
    static_cluster.a.ends = {0: 1, 1: 1}
    plan = static_cluster.moved()
    failing = getattr(static_cluster, broker)
    was = failing.handlers[code]
    failing.handlers[code] = refuse_with(2, "busy")
    stopped = static_cluster.carry(plan)
    assert (stopped.last_phase, [str(error) for error in stopped.errors_by_broker.values()]) == (
        phase,
        ["SYSTEM_BUSY (2): busy"],
    )
    failing.handlers[code] = was
    done = static_cluster.carry(plan)
    assert (done.errors_by_broker, done.last_phase, find_undecided(done.final_plan)) == ({}, None, {})


def test_a_run_that_had_decided_is_not_decided_once_more(static_cluster: There) -> None:
    static_cluster.create()
    static_cluster.a.ends = {0: 1, 1: 1}
    plan = static_cluster.moved()
    static_cluster.carry(plan)
    static_cluster.a.ends = {0: 7_000, 1: 7_000}
    done = static_cluster.carry(plan)
    assert (
        done.errors_by_broker,
        {items[-1].logic_offset for items in done.final_plan.shares["b"].hosted_queues.values()},
    ) == ({}, {10_000})


def test_a_yes_that_changed_nothing(static_cluster: There) -> None:
    static_cluster.b.handlers[513] = static_cluster.b.handlers[28]
    done = static_cluster.create()
    assert isinstance(done.errors_by_broker["b"], NotApplied)


def test_places_that_are_not_to_be_had(static_cluster: There) -> None:
    for brokers, clusters, error in ((["x"], [], NotFound), ([], ["X"], NotFound)):
        with pytest.raises(error):
            observe_placement(static_cluster.admin, "T", brokers, clusters)
    static_cluster.c.static["T"] = {"topicName": "T"}
    with pytest.raises(NotApplied, match="broker c: T is not a static topic here"):
        observe_placement(static_cluster.admin, "T", ["a"], [])
    static_cluster.server.clusters = {"C": {"a": {1: static_cluster.a.addr}}}
    with pytest.raises(NotApplied, match="a has no master now"):
        observe_placement(static_cluster.admin, "T", [], ["C"])
