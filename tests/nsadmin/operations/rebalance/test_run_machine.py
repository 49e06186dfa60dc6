"""The state machine of a rebalance, against a simulated cluster under load."""

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.run_machine import RebalanceMachine
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import RunState
from nsadmin.operations.run_folder import parse_state
from tests.support.rebalance_cluster import KEYS, RebalancedCluster, RebalancedTopic, RunKilled

BROKERS = ("broker-a", "broker-b", "broker-c")
Counts = dict[str, QueuePair]


def even(**counts: int) -> Counts:
    return {f"broker-{name}": QueuePair(count, count) for name, count in counts.items()}


def make_plan(*moves: RebalanceMove, **fields: Any) -> RebalancePlan:
    return RebalancePlan("Cluster", "", "load", "", moves, **fields)


def new_state(plan: RebalancePlan) -> RunState:
    return RunState(plan.cluster, plan.digest, ("ns-1", "ns-2"), 0, 0, cluster_queues=100)


def run(
    plan: RebalancePlan,
    cluster: RebalancedCluster,
    state: RunState,
    rules: RunRules | None = None,
    stop_after: int | None = None,
    rollback: bool = False,
) -> RunState:
    """Run to the end, or for some observations; a killed run goes on with what was saved."""
    record = msgspec.to_builtins(state)
    for count in range(5000):
        machine = RebalanceMachine(plan, rules or RunRules(allow_ordered=True), parse_state(record, RunState))
        if rollback:
            machine.begin_rollback()
        machine.state = machine.state._replace(pause=None)
        record = msgspec.to_builtins(machine.state)
        try:
            while True:
                observation = cluster.observe(machine.list_questions(), cluster.now_ms)
                decision = machine.process_observation(observation)
                record = msgspec.to_builtins(machine.state)
                if machine.is_over:
                    return machine.state
                cluster.carry_out(decision.actions)
                if not decision.looks_again:
                    cluster.pause_seconds(4)
                count += 1
                if stop_after is not None and count >= stop_after:
                    return machine.state
        except RunKilled:
            continue
    raise AssertionError(f"not over: {machine.state}")


def simulate(
    before: Counts, *, ordered: bool = False, seed: int = 1, failing: float = 0.0
) -> RebalancedCluster:
    random = Random(seed)
    topic = RebalancedTopic(random, before, BROKERS, ordered)
    return RebalancedCluster(random, {"orders": topic}, failing)


def check_end(cluster: RebalancedCluster, after: Counts) -> None:
    cluster.finish()
    topic = cluster.topics["orders"]
    assert topic.faults == []
    assert topic.on_brokers == after
    for key in KEYS:
        expected = list(range(topic.sent[key]))
        assert (topic.consumed[key] if topic.ordered else sorted(topic.consumed[key])) == expected
    assert sum(topic.sent.values()) > 100


MOVES = [
    (even(a=4, b=4), even(a=4, b=4, c=4)),
    (even(a=4, b=4), even(a=3, b=3, c=2)),
    (even(a=4, b=4), even(b=4, c=4)),
    (even(a=4, b=4), even(a=6, b=2)),
    (even(a=4, b=4), even(a=8, b=8)),
    (even(a=4), even(c=4)),
    (even(a=1, b=1, c=1), even(a=1)),
]


@pytest.mark.parametrize("ordered", [False, True], ids=["unordered", "ordered"])
@pytest.mark.parametrize(("before", "after"), MOVES)
def test_a_move_loses_nothing_and_no_send_fails(before: Counts, after: Counts, ordered: bool) -> None:
    cluster = simulate(before, ordered=ordered)
    plan = make_plan(RebalanceMove("orders", ordered, before, after))
    state = run(plan, cluster, new_state(plan))
    assert (state.phase, state.moved, state.moving) == ("done", ("orders",), {})
    check_end(cluster, after)


counts = st.dictionaries(st.sampled_from(BROKERS), st.integers(1, 4), min_size=1).map(
    lambda by_broker: {broker: QueuePair(count, count) for broker, count in sorted(by_broker.items())}
)


@settings(max_examples=40, deadline=None)
@given(before=counts, after=counts, ordered=st.booleans(), seed=st.integers(0, 1000))
def test_every_state_between_is_writable_and_readable_with_kills_and_silence(
    before: Counts, after: Counts, ordered: bool, seed: int
) -> None:
    cluster = simulate(before, ordered=ordered, seed=seed, failing=0.02)
    plan = make_plan(RebalanceMove("orders", ordered, before, after))
    cluster.pause_seconds(40)
    state = run(plan, cluster, new_state(plan))
    if state.pause is not None:
        # With one broker, the number of an ordered topic's queues cannot change.
        assert "orders cannot move in order: all queues are on one broker" in state.pause
        assert before.keys() | after.keys() == set(before)
        return
    check_end(cluster, after)


@settings(max_examples=40, deadline=None)
@given(before=counts, after=counts, ordered=st.booleans(), seed=st.integers(0, 1000), turn=st.integers(1, 60))
def test_a_rollback_at_any_moment_loses_nothing(
    before: Counts, after: Counts, ordered: bool, seed: int, turn: int
) -> None:
    cluster = simulate(before, ordered=ordered, seed=seed)
    plan = make_plan(RebalanceMove("orders", ordered, before, after))
    cluster.pause_seconds(40)
    state = run(plan, cluster, new_state(plan), stop_after=turn)
    if state.pause is not None:
        return
    state = run(plan, cluster, state, rollback=True)
    assert (state.phase, state.moving) == ("rolledBack", {})
    check_end(cluster, before)
    assert not any(route.order_conf for route in cluster.topics["orders"].servers.values())
