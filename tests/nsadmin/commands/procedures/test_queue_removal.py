"""`drain --for-good --move-queues` in a lab: the queues move first, and then the broker is drained."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.commands.procedures import queue_removal
from nsadmin.console.session import Session
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.run_state import RunState, open_rebalance
from nsadmin.operations.state_folder import find_state_home
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.lab import Lab, start_lab

PLAN = FleetPlan(clusters=1, groups=2, replicas=1, topics=5)
TOPIC = "moving-topic"
A, B = "broker-a-0", "broker-a-1"
MOVE = RebalanceMove(TOPIC, False, {A: QueuePair(4, 4)}, {B: QueuePair(4, 4)})


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    speed_up_drains(monkeypatch)
    # Simulated consumers never reach the end of the queues: only a topic without groups moves.
    monkeypatch.setattr(ClusterEnvironment, "read_lag", lambda self, addr: {})
    with start_lab(tmp_path / "lab", PLAN, name_servers=1, producer_period=0.1) as running:
        with AdminClient(running.namesrv_addr) as admin:
            [change] = admin.topic_configs.update_topic([running.brokers[A, 0]], TOPIC, TopicPatch(4, 4))
            assert change.error is None
        yield running


@pytest.fixture
def with_env(running_lab: Lab, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run` empties the environment first."""
    monkeypatch.setenv("NAMESRV_ADDR", running_lab.namesrv_addr)
    return run


def propose_moves(monkeypatch: pytest.MonkeyPatch, *moves: RebalanceMove) -> None:
    def propose(session: Session, cluster_name: str, broker_name: str) -> RebalancePlan:
        return RebalancePlan(cluster_name, "", "queues", "", moves, removed=(broker_name,))

    monkeypatch.setattr(queue_removal, "propose_removal", propose)


def test_the_queues_of_a_broker_move_before_it_is_drained(
    with_env: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose_moves(monkeypatch, MOVE)
    result = with_env("drain", A, "--for-good", "--move-queues", "--force", "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    events = dict.fromkeys(json.loads(line)["event"] for line in result.out.splitlines())
    assert [name for name in events if name in ("topicMoved", "finished", "wiped", "safe")] == [
        "topicMoved", "finished", "wiped", "safe",
    ]  # fmt: skip


def test_a_run_that_pauses_keeps_the_broker_from_being_drained(
    with_env: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose_moves(monkeypatch, MOVE._replace(before={A: QueuePair(8, 8)}))
    result = with_env("drain", A, "--for-good", "--move-queues", "--force", "--yes")
    assert result.code == 1
    assert "and the plan expects 8 and 8" in result.err
    assert json.loads(with_env("drainStatus", "--json").out) == []


def test_a_broker_without_queues_to_move_is_drained(with_env: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    propose_moves(monkeypatch)
    result = with_env("drain", A, "--for-good", "--move-queues", "--force", "--yes")
    assert result.code == 0
    assert f"no topic has queues on {A} that can move" in result.err


def test_queues_move_only_for_good(with_env: Run) -> None:
    result = with_env("drain", A, "--move-queues", "--yes")
    assert (result.code, result.err) == (
        2, "nsadmin: --move-queues needs --for-good: the queues do not come back by undrain\n",
    )  # fmt: skip


def test_a_preview_says_what_refuses_the_move(with_env: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    propose_moves(monkeypatch, MOVE._replace(ordered=True))
    words = ("drain", A, "--for-good", "--move-queues", "--force")
    preview, refused = with_env(*words, "--dry-run"), with_env(*words, "--yes")
    assert (preview.code, preview.err) == (refused.code, refused.err)
    assert preview.code == 1
    assert f"1 ordered topic ({TOPIC}): pass --ordered, which keeps" in preview.err
    # With the option, only the name server still refuses.
    ordered = with_env(*words, "--ordered", "--dry-run")
    assert (ordered.code, ordered.err.count("\n")) == (1, 1)
    assert "run `nsadmin updateNamesrvConfig orderMessageEnable true`" in ordered.err


def test_a_preview_counts_without_the_topics_that_move(
    with_env: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_topics() -> tuple[str, int]:
        preview = with_env("drain", A, "--for-good", "--move-queues", "--force", "--dry-run", "--json")
        [row] = json.loads(preview.out)
        return preview.err, row["topicCount"]

    propose_moves(monkeypatch)
    _, unmoved_count = count_topics()
    propose_moves(monkeypatch, MOVE)
    remarks, moved_count = count_topics()
    assert moved_count == unmoved_count - 1
    assert "the queues of 1 topic would move to other brokers first" in remarks
    # A topic with its only queue on the broker is no risk if it moves.
    refusal = with_env("drain", A, "--for-good", "--move-queues", "--dry-run").err
    assert TOPIC in with_env("drain", A, "--dry-run").err
    assert TOPIC not in refusal


def test_ordered_topics_move_only_with_the_queues(with_env: Run) -> None:
    result = with_env("drain", A, "--ordered", "--yes")
    assert (result.code, result.err) == (
        2, "nsadmin: --ordered needs --move-queues: a drain alone moves no topic\n",
    )  # fmt: skip


def test_a_topic_that_an_open_run_moves_waits_for_that_run(with_env: Run, running_lab: Lab) -> None:
    brokers = tuple(running_lab.brokers.values())
    plan = RebalancePlan("cluster-a", "", "queues", "", (MOVE,))
    state = RunState("cluster-a", plan.digest, running_lab.namesrv_addrs, 1, 1, brokers=brokers, tunnel="")
    folder = open_rebalance(find_state_home(), "cluster-a", plan.digest)
    folder.save_plan(plan)
    folder.state.save(state)
    line = next(line for line in with_env("drain", A, "--dry-run").err.splitlines() if TOPIC in line)
    assert "a rebalance of cluster-a is interrupted, with no topic in motion: `nsadmin rebalance run" in line
    assert "spread" not in line
