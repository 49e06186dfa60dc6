"""A rebalance run from its beginning to its end, a pause or a kill."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    load_rebalance_plan,
)
from nsadmin.operations.rebalance.rebalance_runner import RebalanceRun, RunOrder, describe_action
from nsadmin.operations.rebalance.run_facts import (
    AskRegistration,
    CommitStart,
    CreateGroupOn,
    DeleteTopicOn,
    PutOrderConf,
    PutTopic,
    RunAction,
)
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import RunState, open_rebalance
from nsadmin.operations.run_folder import EventRecord
from tests.support.rebalance_cluster import RebalancedCluster, RebalancedTopic, RunKilled

BEFORE, AFTER = {"broker-a": QueuePair(4, 4)}, {"broker-b": QueuePair(4, 4)}
PLAN = RebalancePlan(
    "Cluster", "", "load", "", (RebalanceMove("orders", False, BEFORE, AFTER),),
    groups_to_create={"broker-b": ("billing",)},
)  # fmt: skip
STATE = RunState("Cluster", PLAN.digest, ("ns-1", "ns-2"), 0, 0, cluster_queues=100)
NAMES = ["openReads", "openWrites", "closeWrites", "closeReads", "deleteTopic"]


class Refusing(RebalancedCluster):
    """A cluster that refuses every change."""

    def carry_out(self, actions: Sequence[RunAction]) -> list[str | None]:
        return ["not allowed" for _ in actions]


def make_cluster(kind: type[RebalancedCluster] = RebalancedCluster) -> RebalancedCluster:
    random = Random(1)
    return kind(random, {"orders": RebalancedTopic(random, BEFORE, ("broker-a", "broker-b"), False)})


def run(
    cluster: RebalancedCluster, tmp_path: Path, state: RunState | None = STATE, rules: RunRules | None = None,
    rollback: bool = False, upto: str | None = None,
) -> list[EventRecord]:  # fmt: skip
    order = RunOrder(PLAN, rules or RunRules(), is_rollback=rollback)
    store = open_rebalance(tmp_path, "Cluster", PLAN.digest)
    clock = ProcedureClock(lambda: cluster.now_ms, cluster.pause_seconds, lambda: cluster.now_ms / 1000)
    events: list[EventRecord] = []
    stream = RebalanceRun(order, cluster, store).run(state, clock)
    try:
        for event in stream:
            events.append(event)
            if event.get("stage") == upto is not None:
                break
    except RunKilled:
        pass
    finally:
        stream.close()  # type: ignore[attr-defined]
    return events


def stages(events: list[EventRecord]) -> list[str]:
    return [event["stage"] for event in events if event["event"] == "stageBegan"]


def test_a_run_creates_groups_and_moves_topics(tmp_path: Path) -> None:
    cluster = make_cluster()
    events = run(cluster, tmp_path)
    assert stages(events) == NAMES
    assert [event["event"] for event in events if event["event"] != "progress"][:2] == [
        "began",
        "groupCreated",
    ]
    assert events[-1]["event"] == "finished"
    assert cluster.groups == {"broker-b": {"billing"}}
    assert cluster.topics["orders"].on_brokers == AFTER
    saved = open_rebalance(tmp_path, "Cluster", PLAN.digest)
    state = saved.state.load()
    assert state is not None
    assert (state.phase, state.moved) == ("done", ("orders",))
    assert load_rebalance_plan(saved.plan_file) == PLAN
    assert "progress" not in (saved.path / "events.jsonl").read_text()


@pytest.mark.parametrize("stage", NAMES)
def test_a_run_that_is_interrupted_at_a_step_goes_on_with_it(tmp_path: Path, stage: str) -> None:
    cluster = make_cluster()
    first = run(cluster, tmp_path, upto=stage)
    later = run(cluster, tmp_path, state=None)
    assert later[0]["resumed"] == "running"
    assert stages(first) + stages(later) == NAMES
    assert cluster.topics["orders"].on_brokers == AFTER
    assert cluster.topics["orders"].faults == []


def test_a_rollback_brings_the_topics_back(tmp_path: Path) -> None:
    cluster = make_cluster()
    run(cluster, tmp_path, upto="closeWrites")
    events = run(cluster, tmp_path, state=None, rollback=True)
    assert (events[0]["isRollback"], events[0]["topics"]) == (True, 1)
    assert (events[-1]["event"], events[-1]["isRollback"]) == ("finished", True)
    assert cluster.topics["orders"].on_brokers == BEFORE
    assert cluster.topics["orders"].faults == []


def test_a_change_that_is_refused_again_and_again_pauses_the_run(tmp_path: Path) -> None:
    events = run(make_cluster(Refusing), tmp_path)
    assert events[-1]["event"] == "paused"
    assert events[-1]["reason"] == (
        "nsadmin tried 5 times to create group billing on broker-b: not allowed; run the same command to try "
        "again"
    )
    state = open_rebalance(tmp_path, "Cluster", PLAN.digest).state.load()
    assert state is not None
    assert state.phase == "paused"


def test_a_step_that_takes_too_long_pauses_the_run_and_the_same_command_resumes_it(tmp_path: Path) -> None:
    cluster = make_cluster()
    events = run(cluster, tmp_path, rules=RunRules(timeout_ms=20_000))
    assert events[-1]["event"] == "paused"
    assert events[-1]["reason"].startswith("orders waits for more than 20 s (--step-timeout): ")
    assert run(cluster, tmp_path, state=None)[-1]["event"] == "finished"


def test_another_process_keeps_the_run_from_beginning(tmp_path: Path) -> None:
    other = open_rebalance(tmp_path, "Cluster", "other")
    assert other.lock.acquire()
    with pytest.raises(DrainRefused, match="is already rebalancing Cluster"):
        run(make_cluster(), tmp_path)
    other.lock.release()


@pytest.mark.parametrize("rollback", [False, True])
def test_a_change_of_somebody_else_pauses_the_run(tmp_path: Path, rollback: bool) -> None:
    cluster = make_cluster()
    run(cluster, tmp_path, upto="openWrites")
    cluster.topics["orders"].on_brokers["broker-a"] = QueuePair(9, 9)
    events = run(cluster, tmp_path, state=None, rollback=rollback)
    assert events[-1]["reason"] == (
        "orders has 9 read and 9 write queues on broker-a, and the run expected 4 and 4: another change is "
        "in the way; undo it, and run the command again"
    )


def test_a_topic_that_is_not_as_planned_pauses_the_run(tmp_path: Path) -> None:
    cluster = make_cluster()
    cluster.topics["orders"].on_brokers["broker-a"] = QueuePair(9, 9)
    assert run(cluster, tmp_path)[-1]["reason"] == (
        "orders has 9 read and 9 write queues on broker-a, and the plan expects 4 and 4: another change is "
        "in the way; undo it, and run the command again"
    )


def test_an_ordered_topic_needs_permission(tmp_path: Path) -> None:
    cluster = make_cluster()
    for route in cluster.topics["orders"].servers.values():
        route.order_conf = "broker-a:4"
    assert run(cluster, tmp_path)[-1]["reason"] == (
        "orders is ordered: with --ordered, rebalance run moves it and keeps the sequence of every key"
    )


def test_each_change_has_words() -> None:
    assert [
        describe_action(action)
        for action in (
            PutTopic("t", "b", QueuePair(4, 4), QueuePair(4, 2), 6),
            PutOrderConf("t", "a:4"),
            PutOrderConf("t", ""),
            CommitStart("t", "b", "billing", (0, 1)),
            CreateGroupOn("billing", "b"),
            DeleteTopicOn("t", "b"),
            AskRegistration("t", "b"),
        )
    ] == [
        "set 4 read and 2 write queues",
        "set the order configuration a:4",
        "delete the order configuration",
        "set the start offsets of group billing",
        "create group billing",
        "delete the topic",
        "register the topics again",
    ]
