"""Two labs whose clusters and brokers have equal names: what is saved of one is not taken for the other's."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    save_rebalance_plan,
)
from nsadmin.operations.rebalance.run_state import load_rebalances
from nsadmin.operations.run_folder import SavedRun
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.clock import speed_up_drains
from tests.support.lab import Lab, start_lab

PLAN = FleetPlan(clusters=1, groups=2, replicas=1, topics=2)
BROKER, OTHER_BROKER, TOPIC = "broker-a-0", "broker-a-1", "moving-topic"


class Labs(NamedTuple):
    one: Lab
    two: Lab


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labs]:
    home = tmp_path_factory.mktemp("labs")
    with (
        start_lab(home / "one", PLAN, producer_period=0.1) as one,
        start_lab(home / "two", PLAN, producer_period=0.1) as two,
    ):
        for lab in (one, two):
            with AdminClient(lab.namesrv_addr) as admin:
                admin.topic_configs.update_topic([lab.brokers[BROKER, 0]], TOPIC, TopicPatch(4, 4))
        yield Labs(one, two)


@pytest.fixture
def with_contexts(run: Run, labs: Labs, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run` with the contexts one and two, of which two is the current one."""
    speed_up_drains(monkeypatch)
    for name, lab in labs._asdict().items():
        assert run("context", "set", name, "-n", lab.namesrv_addr).code == 0
    assert run("context", "use", "two").code == 0
    return run


def rows(result: CommandResult) -> list[dict[str, object]]:
    return json.loads(result.out)  # type: ignore[no-any-return]


def count_open_topics(lab: Lab) -> int:
    with AdminClient(lab.namesrv_addr) as admin:
        [permissions] = admin.broker_routes.get_topic_permissions(BROKER)
        return sum(bool(perm & 2) for perm in (permissions.result or {}).values())


def test_each_installation_has_its_own_drain(with_contexts: Run, labs: Labs) -> None:
    run, owner = with_contexts, labs.one.namesrv_addr
    before = [count_open_topics(lab) for lab in labs]
    assert run("drain", BROKER, "--context", "one", "--force", "--yes").code == 0

    status = run("drainStatus", "--json")
    assert (rows(status), status.code) == ([], 0)
    assert status.err == (
        f"nsadmin: a drain of {BROKER} belongs to {owner}: `nsadmin drainStatus --context one`\n"
    )
    check = run("check", "drain")
    assert (
        check.code,
        "you drain no broker here; drains from other machines and by other users are not known" in check.out,
    ) == (0, True)
    assert run("check", "drain", "--context", "one").out.startswith(f"OK: 1 drained: {BROKER}")
    assert run("repair", "wipe", BROKER, "--dry-run").code == 0
    for words, advised in (
        (("undrain", BROKER, "--yes"), "undrain"),
        (("drainStatus", BROKER), "drainStatus"),
    ):
        refused = run(*words)
        assert (refused.code, refused.err) == (
            5,
            f'nsadmin: the drain of "{BROKER}" belongs to {owner}: '
            f"`nsadmin {advised} {BROKER} --context one`\n",
        )

    drained = run("drain", BROKER, "--force", "--yes", "--output", "jsonl")
    assert (drained.code, json.loads(drained.out.splitlines()[0])["resumed"]) == (0, None)
    for name, addr in (("one", owner), ("two", labs.two.namesrv_addr)):
        [row] = rows(run("drainStatus", "--context", name, "--json"))
        assert (row["namesrvAddr"], row["phase"], row["openTopics"]) == (addr, "safe", 0)
        assert run("undrain", BROKER, "--context", name, "--yes").code == 0
    assert [count_open_topics(lab) for lab in labs] == before


def test_a_drain_is_found_by_its_brokers_after_the_name_servers_were_replaced(
    with_contexts: Run, labs: Labs, tmp_path: Path
) -> None:
    assert with_contexts("drain", BROKER, "--force", "--yes").code == 0
    [saved] = load_drains(tmp_path / "state")
    assert isinstance(saved, SavedDrain)
    assert saved.state.connection == ("--context", "two")
    saved.folder.state.save(saved.state._replace(name_servers=("replaced:9876",)))
    assert rows(with_contexts("drainStatus", "--context", "one", "--json")) == []
    assert with_contexts("undrain", BROKER, "--yes").code == 0


def test_a_drain_of_an_earlier_release_is_found_by_its_name_servers(
    with_contexts: Run, labs: Labs, tmp_path: Path
) -> None:
    assert with_contexts("drain", BROKER, "--force", "--yes", "--context", "one").code == 0
    [saved] = load_drains(tmp_path / "state")
    assert isinstance(saved, SavedDrain)
    saved.folder.state.save(saved.state._replace(brokers=(), tunnel=None, connection=()))
    old_folder = tmp_path / "state" / "drains" / "cluster-a"
    old_folder.mkdir(parents=True)
    saved.folder.path.rename(old_folder / BROKER)
    refused = with_contexts("undrain", BROKER, "--yes")
    assert f"`nsadmin undrain {BROKER} -n {labs.one.namesrv_addr}`" in refused.err
    assert with_contexts("undrain", BROKER, "--yes", "--context", "one").code == 0


def test_a_plan_that_ran_on_one_installation_is_not_rolled_back_on_another(
    with_contexts: Run, labs: Labs, tmp_path: Path
) -> None:
    run, plan_file = with_contexts, str(tmp_path / "plan.yaml")
    move = RebalanceMove(
        TOPIC, False, {BROKER: QueuePair(4, 4)}, {BROKER: QueuePair(2, 2), OTHER_BROKER: QueuePair(2, 2)}
    )
    save_rebalance_plan(
        RebalancePlan("cluster-a", "", "queues", "", (move,), risks=()), tmp_path / "plan.yaml"
    )
    assert run("rebalance", "run", plan_file, "--context", "one", "--yes").code == 0
    [saved] = load_rebalances(tmp_path / "state")
    assert isinstance(saved, SavedRun)
    copy, owner = saved.folder.path / "plan.yaml", labs.one.namesrv_addr

    refused = run("rebalance", "run", plan_file, "--rollback", "--yes")
    assert (refused.code, refused.err) == (
        1,
        f"nsadmin: this plan was run on {owner}, and not here: "
        f"`nsadmin rebalance run {copy} --rollback --context one` undoes it\n",
    )
    # It may run on both, also at the same time as a finished one.
    [dry, *_] = rows(run("rebalance", "run", plan_file, "--dry-run", "--json"))
    assert (dry["brokerName"], dry["readBefore"], dry["readAfter"]) == (BROKER, 4, 2)

    saved.folder.state.save(saved.state._replace(finished=None))
    status = run("rebalance", "status", "--json")
    assert [row["namesrvAddrs"] for row in rows(status)] == [[owner]]
    resume = f"nsadmin rebalance run {copy}"
    explained = (
        "a rebalance of cluster-a is interrupted, with no topic in motion: "
        f"`{resume} --context one` resumes it, `{resume} --rollback --context one` undoes it\n"
    )
    assert status.err == f"nsadmin: {explained}"
    for words in ((), ("--rollback",), ("--dry-run",)):
        refused = run("rebalance", "run", plan_file, *words, "--yes")
        assert (refused.code, refused.err) == (
            1,
            f"nsadmin: this plan belongs to a run on {owner}: {explained}",
        )
    assert run("rebalance", "run", str(copy), "--rollback", "--context", "one", "--yes").code == 0
    assert run("rebalance", "run", plan_file, "--yes").code == 0
    phases = {row["phase"]: row["namesrvAddrs"] for row in rows(run("rebalance", "status", "--json"))}
    assert phases == {"rolledBack": [owner], "done": [labs.two.namesrv_addr]}
