"""`rebalance run` in a lab: previews, refusals, a run, its status, and the way back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.operations.rebalance.plan_risks import ORDERED_RISK
from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    save_rebalance_plan,
)
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.fake_servers import closed_port
from tests.support.lab import Lab, start_lab

PLAN = FleetPlan(clusters=1, groups=3, replicas=1, topics=5)
TOPIC = "moving-topic"
A, B, C = "broker-a-0", "broker-a-1", "broker-a-2"
BEFORE = {A: QueuePair(4, 4), B: QueuePair(4, 4)}
AFTER = {B: QueuePair(4, 4), C: QueuePair(4, 4)}


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    speed_up_drains(monkeypatch)
    with start_lab(tmp_path / "lab", PLAN, name_servers=2) as running:
        with AdminClient(running.namesrv_addr) as admin:
            addrs = [running.brokers[name, 0] for name in (A, B)]
            changes = admin.topic_configs.update_topic(addrs, TOPIC, TopicPatch(4, 4))
            assert [change.error for change in changes] == [None, None]
        yield running


@pytest.fixture
def with_env(running_lab: Lab, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run` empties the environment first."""
    monkeypatch.setenv("NAMESRV_ADDR", running_lab.namesrv_addr)
    return run


def save_plan(tmp_path: Path, *moves: RebalanceMove, cluster: str = "cluster-a") -> str:
    path = tmp_path / "plan.yaml"
    risks = ("a risk", f"{ORDERED_RISK}: 1 (carts)")
    save_rebalance_plan(RebalancePlan(cluster, "", "queues", "", moves, risks=risks), path)
    return str(path)


def queues(running_lab: Lab) -> dict[str, tuple[int | None, int | None]]:
    with AdminClient(running_lab.namesrv_addr) as admin:
        return {
            queue.broker_name: (queue.read_queue_nums, queue.write_queue_nums)
            for queue in admin.topics.get_route(TOPIC).queues
            if queue.read_queue_nums
        }


def test_a_plan_is_previewed_run_and_rolled_back(with_env: Run, running_lab: Lab, tmp_path: Path) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, False, BEFORE, AFTER))
    dry = with_env("rebalance", "run", plan, "--dry-run", "--json")
    assert dry.code == 0
    assert [
        (row["topic"], row["brokerName"], row["readBefore"], row["readAfter"], row["result"])
        for row in json.loads(dry.out)
    ] == [(TOPIC, A, 4, 0, "dry-run"), (TOPIC, C, 0, 4, "dry-run")]
    assert [line.split(":")[1] for line in dry.err.splitlines()] == [" risk", " risk"]
    assert json.loads(with_env("rebalance", "status", "--json").out) == []

    result = with_env("rebalance", "run", plan, "--ordered", "--json", "--yes")
    assert (result.code, result.err) == (0, "nsadmin: risk: a risk\n")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [event["stage"] for event in events if event["event"] == "stageBegan"] == [
        "openReads", "openWrites", "closeWrites", "closeReads", "deleteTopic",
    ]  # fmt: skip
    assert queues(running_lab) == {B: (4, 4), C: (4, 4)}
    [row] = json.loads(with_env("rebalance", "status", "--json").out)
    assert (row["phase"], row["movedTopics"], row["topic"]) == ("done", 1, None)

    # Name servers keep the first broker in the route, without queues.
    stats = with_env("topicStatus", TOPIC, "--json")
    assert (stats.code, {row["brokerName"] for row in json.loads(stats.out)}) == (0, {B, C})
    orphans = json.loads(with_env("orphans", "--json").out)
    assert TOPIC not in {row["topic"] for row in orphans}

    again = with_env("rebalance", "run", plan, "--yes")
    assert (again.code, again.err) == (
        1, "nsadmin: this plan is already done: pass --rollback to undo it\n",
    )  # fmt: skip
    back = with_env("rebalance", "run", plan, "--rollback", "--yes")
    assert back.code == 0
    assert "cluster-a: 1 topic moved back" in back.out
    assert queues(running_lab) == {A: (4, 4), B: (4, 4)}
    [row] = json.loads(with_env("rebalance", "status", "--json").out)
    assert row["phase"] == "rolledBack"


def test_a_dry_run_of_a_run_that_is_half_done_shows_the_rest(
    with_env: Run, running_lab: Lab, tmp_path: Path
) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, False, BEFORE, AFTER))
    paused = with_env("rebalance", "run", plan, "--step-timeout", "20s", "--yes")
    assert paused.code == 3
    assert "clients to refresh their routes" in paused.out
    # The new queues are open, and the old ones not closed yet.
    assert dry_run(with_env, plan) == (0, [(A, 4, 0)])
    assert dry_run(with_env, plan, "--rollback") == (0, [(C, 4, 0)])
    running_lab.kill(C, 0)
    assert dry_run(with_env, plan) == (3, [(A, 4, 0), (C, None, 4)])


def dry_run(run: Run, *words: str) -> tuple[int, list[tuple[str, int | None, int]]]:
    result = run("rebalance", "run", *words, "--dry-run", "--json")
    rows = json.loads(result.out)
    return result.code, [(row["brokerName"], row["writeBefore"], row["writeAfter"]) for row in rows]


def test_a_plan_for_another_state_is_refused(with_env: Run, tmp_path: Path) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, False, {A: QueuePair(8, 8)}, AFTER))
    result = with_env("rebalance", "run", plan, "--yes")
    assert (result.code, result.err) == (
        1,
        f"nsadmin: refused, nothing changed: {TOPIC} has 4 read and 4 write queues on {A}, and the plan "
        "expects 8 and 8: make a new plan\n",
    )


def test_an_ordered_topic_needs_the_option_and_name_servers_that_hand_out_order(
    with_env: Run, running_lab: Lab, tmp_path: Path
) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, True, BEFORE, AFTER))
    result = with_env("rebalance", "run", plan, "--yes")
    assert result.code == 1
    assert result.err.startswith(
        f"nsadmin: refused, nothing changed: 1 ordered topic ({TOPIC}): pass --ordered, which keeps the "
        "sequence of every key\n"
    )
    result = with_env("rebalance", "run", plan, "--ordered", "--yes")
    assert result.code == 1
    assert result.err.startswith(
        "nsadmin: refused, nothing changed: ordered topics need order configurations, which clients do not "
        f"get from {', '.join(running_lab.namesrv_addrs)}: run "
        "`nsadmin updateNamesrvConfig orderMessageEnable true`\n"
    )


def test_unknown_brokers_and_clusters_are_named(with_env: Run, tmp_path: Path) -> None:
    move = RebalanceMove(TOPIC, False, BEFORE, {"broker-x": QueuePair(4, 4)})
    result = with_env("rebalance", "run", save_plan(tmp_path, move), "--yes")
    assert (result.code, result.err) == (
        5,
        "nsadmin: no name server lists a master of broker-x in cluster cluster-a: start it, or make a new "
        "plan\n",
    )
    silent = with_env("rebalance", "run", save_plan(tmp_path, move), "-n", f"127.0.0.1:{closed_port()}")
    assert (silent.code, silent.err.startswith("nsadmin: no name server answered: ")) == (4, True)


def test_a_file_that_is_no_plan_is_a_usage_error(with_env: Run, tmp_path: Path) -> None:
    missing = with_env("rebalance", "run", str(tmp_path / "none.yaml"), "--yes")
    assert missing.code == 2
    assert missing.err.startswith(f"nsadmin: cannot read {tmp_path / 'none.yaml'}: No such file")
    (tmp_path / "bad.yaml").write_text("rebalancePlan: 1\n")
    assert with_env("rebalance", "run", str(tmp_path / "bad.yaml"), "--yes").code == 2


def test_a_plan_that_was_not_run_cannot_be_rolled_back(with_env: Run, tmp_path: Path) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, False, BEFORE, AFTER))
    result = with_env("rebalance", "run", plan, "--rollback", "--yes")
    assert result.code == 5
    assert "this account did not run this plan on these servers" in result.err


def test_a_limit_pauses_the_run_and_another_plan_has_to_wait(with_env: Run, tmp_path: Path) -> None:
    plan = save_plan(tmp_path, RebalanceMove(TOPIC, False, BEFORE, AFTER))
    result = with_env("rebalance", "run", plan, "--max-disk", "1", "--yes")
    assert result.code == 3
    assert "of its disk, more than --max-disk 1%" in result.out
    [row] = json.loads(with_env("rebalance", "status", "--json").out)
    assert row["phase"] == "paused"
    assert "more than --max-disk 1%" in row["waitingFor"]
    other = save_plan(tmp_path, RebalanceMove(TOPIC, False, BEFORE, {C: QueuePair(4, 4)}))
    refused = with_env("rebalance", "run", other, "--yes")
    assert refused.code == 1
    assert refused.err.startswith(
        "nsadmin: one run of a cluster at a time; a rebalance of cluster-a is paused, with "
    )
