"""A plan from the state of a cluster and figures of its topics."""

from typing import Any

import pytest

from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.plans.records import ClusterState
from nsadmin.operations.rebalance.plan_builder import (
    PlanRequest,
    ProposedPlan,
    build_plan,
    check_request,
    list_user_topics,
)
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.topic_figures import OffsetReading, TopicFigures
from tests.nsadmin.operations.plans.states import broker, live, server, silent

EIGHT: dict[str, Any] = {"readQueueNums": 8, "writeQueueNums": 8}
TOPICS: dict[str, dict[str, Any]] = {
    "busy": EIGHT,
    "calm": EIGHT,
    "tickets": {**EIGHT, "attributes": {"message.type": "FIFO"}},
}
LOADED = live(
    broker("a", TOPICS, {"readers": {}}),
    broker("b", TOPICS, {"readers": {}}),
    broker("c", {}, {}),
    server("ns:1", {"tickets": "a:8;b:8"}),
)
FIGURES = {
    "busy": TopicFigures(80, 160, 8000),
    "calm": TopicFigures(10, 10, 1000),
    "tickets": TopicFigures(10, 30, 1000),
}
READING = OffsetReading(
    {(name, topic): {queue_id: 10 for queue_id in range(8)} for name in "ab" for topic in TOPICS},
    {("a", "busy"): {"readers": {0: 4, 7: 10}}, ("b", "busy"): {"readers": {0: 10, 7: 5}}},
)


def propose(cluster_state: ClusterState = LOADED, **fields: object) -> ProposedPlan:
    request = PlanRequest(**fields)  # type: ignore[arg-type]
    check_request(cluster_state, request)
    return build_plan(cluster_state, FIGURES, READING, request, "sample 60 s", "2026-11-24T13:30:00Z")


def test_topics_of_brokers_and_groups_do_not_move() -> None:
    assert list_user_topics(LOADED) == ["busy", "calm", "tickets"]


def test_a_new_broker_gets_its_part_and_the_missing_groups() -> None:
    plan, level_result = propose(added=("c",))
    assert level_result.largest_load <= 1.05 * level_result.lower_bound
    assert (plan.goal, plan.source, plan.added) == ("load", "sample 60 s", ("c",))
    assert plan.shares["c"].before == (0.0, 0.0, 0.0, 0.0)
    assert 30 <= plan.shares["c"].after.writes <= 36
    [busy_move] = [move for move in plan.moves if move.topic == "busy"]
    assert busy_move.before == {"a": QueuePair(8, 8), "b": QueuePair(8, 8)}
    assert busy_move.after["c"].write > 0
    assert plan.groups_to_create == {"c": ("readers",)}
    assert plan.moves[0].topic == "busy"


def test_a_removed_broker_is_empty_and_its_unread_messages_are_counted() -> None:
    plan, level_result = propose(removed=("b",))
    assert {move.topic for move in plan.moves} == set(TOPICS)
    for move in plan.moves:
        assert move.after == {"a": QueuePair(8, 8), "c": QueuePair(8, 8)}
    assert plan.shares["b"].after == (0.0, 0.0, 0.0, 0.0)
    assert {move.topic: move.messages_to_consume for move in plan.moves} == {
        "busy": 5,
        "calm": 0,
        "tickets": 0,
    }
    [tickets_move] = [move for move in plan.moves if move.topic == "tickets"]
    assert (tickets_move.ordered, tickets_move.order_conf) == (True, "a:8;c:8")
    assert level_result.left_topics == ()


def test_only_selected_topics_move_and_fixed_topics_stay() -> None:
    assert {move.topic for move in propose(removed=("b",), topic_patterns=("b*", "t*")).plan.moves} == {
        "busy",
        "tickets",
    }
    topics: dict[str, dict[str, Any]] = {
        **TOPICS,
        "closed": {**EIGHT, "perm": 4},
        "lite": {**EIGHT, "attributes": {"message.type": "LITE"}},
        "static": EIGHT,
    }
    fixed = live(broker("a", topics, static=frozenset({"static"})), broker("b", {}))
    plan, level_result = propose(fixed, removed=("a",))
    assert {move.topic for move in plan.moves} == set(TOPICS)
    assert level_result.left_topics == ("closed", "lite", "static")


def test_without_traffic_queue_counts_stand_for_the_load() -> None:
    request = PlanRequest(added=("c",))
    idle_plan = build_plan(LOADED, {}, READING, request, "statistics of the brokers", "").plan
    assert idle_plan.source == "queue counts, because the topics have no traffic"
    assert 30 <= idle_plan.shares["c"].after.queues <= 36


def test_the_goal_disk_levels_bytes() -> None:
    plan = propose(goal="disk", added=("c",)).plan
    assert 30 <= plan.shares["c"].after.disk <= 36


def test_impossible_requests_are_refused() -> None:
    for request, error_type, text in (
        (PlanRequest(added=("x",)), NotFound, 'no broker "x" in cluster c: use one of a, b, c'),
        (PlanRequest(removed=("a", "b", "c")), NotApplied, "no broker would remain"),
        (PlanRequest(added=("a",), removed=("a",)), NotApplied, 'broker "a" cannot be added and removed'),
    ):
        with pytest.raises(error_type, match=text):
            check_request(LOADED, request)
    with pytest.raises(NotApplied, match="no plan was made, because z did not report its topics: no answer"):
        check_request(live(broker("a"), silent("z")), PlanRequest())
    shared = live(broker("a"), broker("c"))._replace(shared_addrs={"a:10911": ["a", "b"]})
    with pytest.raises(NotApplied, match="a and b are one process, at a:10911: restart the name servers"):
        check_request(shared, PlanRequest())
