"""`rebalance plan`, of simulated brokers; the plan that it writes is read back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.operations.rebalance.rebalance_plan import load_rebalance_plan
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


def test_the_shares_of_each_broker_before_and_after(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    plan_path = tmp_path / "plan.yaml"
    words = ("rebalance", "plan", "-c", "cluster-a", "--remove", "broker-a-2", "--goal", "queues")
    result = run(*words, "--out", str(plan_path), "-n", running_lab.namesrv_addr, "--json")
    assert result.code == 0, result.err
    rows = json.loads(result.out)
    assert [(row["brokerName"], row["role"]) for row in rows] == [
        ("broker-a-0", "stays"),
        ("broker-a-1", "stays"),
        ("broker-a-2", "removed"),
    ]
    assert abs(sum(row["queuesBefore"] for row in rows) - 100) < 0.3
    assert abs(sum(row["queuesAfter"] for row in rows) - 100) < 0.3
    assert rows[2]["queuesAfter"] < 5 < rows[2]["queuesBefore"]
    assert "keeps 1 topic (orders-history): not rw- on all brokers; let consumers read it" in result.err
    plan = load_rebalance_plan(plan_path)
    assert plan.removed == ("broker-a-2",)
    note_lines = result.err.splitlines()
    assert note_lines[0].startswith(f"nsadmin: {len(plan.moves)} topics and ")
    assert " to change: now the busiest broker has " in note_lines[0]
    assert " % of the write queues; afterwards the busiest broker that stays has " in note_lines[0]
    assert (
        f"nsadmin: consumers must still read {plan.messages_to_consume} messages in removed queues: "
        "rebalance run waits for them"
    ) in note_lines
    assert note_lines[-2] == (
        "nsadmin: risk: ordered topics need order configurations, which clients do not get from "
        f"{', '.join(running_lab.namesrv_addrs)}: run `nsadmin updateNamesrvConfig orderMessageEnable true`"
    )
    assert note_lines[-1] == (
        f"nsadmin: wrote {plan_path}: check it, then run nsadmin rebalance run {plan_path} --ordered"
    )


def test_the_brokers_say_which_cluster(run: Run, running_lab: Lab) -> None:
    words = ("rebalance", "plan", "-n", running_lab.namesrv_addr)
    result = run(*words, "--add", "broker-a-2", "--remove", "broker-a-0")
    assert (result.code, "broker-a-1" in result.out) == (0, True), result.err
    [used] = [line for line in result.err.splitlines() if "--add" in line]
    share = next(row.split() for row in result.out.splitlines() if row.startswith("broker-a-2"))[-2]
    share_text = f"{float(share):.1f} % of the write queues"
    assert used == f"nsadmin: broker-a-2 (--add) is in use already: it has {share_text}"
    refused = run(*words, "--remove", "broker-a-0", "--remove", "broker-b-0")
    assert refused.err == ("nsadmin: several clusters: choose one of cluster-a, cluster-b with -c CLUSTER\n")


def test_a_broker_of_no_cluster_is_named(run: Run, running_lab: Lab) -> None:
    result = run("rebalance", "plan", "-n", running_lab.namesrv_addr, "--add", "broker-x")
    assert (result.code, result.err) == (
        5,
        'nsadmin: no broker "broker-x"; did you mean "broker-a-0" or "broker-a-1" or "broker-a-2" '
        "or 3 more?\n",
    )


def test_without_out_nothing_is_written(run: Run, running_lab: Lab) -> None:
    result = run(
        "rebalance", "plan", "-c", "cluster-a", "--remove", "broker-a-2", "-n", running_lab.namesrv_addr
    )
    # No column is the load.
    assert " % of the load (the mean of writes and reads); afterwards the busiest broker that" in result.err
    assert " %); measured by statistics of the brokers\n" in result.err
    assert result.err.endswith("nsadmin: pass --out FILE to write the plan\n")


def test_a_level_cluster_needs_no_plan(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    words = ("-c", "cluster-a", "--topics", "orders-history", "-n", running_lab.namesrv_addr)
    result = run("rebalance", "plan", *words)
    assert result.code == 0
    assert result.err.startswith("nsadmin: already level: the busiest broker has ")
    refused = run("rebalance", "plan", *words, "--out", str(tmp_path / "plan.yaml"))
    assert refused.err == "nsadmin: no plan was written: no topic changes\n"
    assert refused.code != 0
    stuck = run("rebalance", "plan", *words, "--remove", "broker-a-0")
    assert stuck.err.startswith("nsadmin: no topic can move: the busiest broker that stays has ")


def test_a_pattern_that_no_topic_matches_is_named(run: Run, running_lab: Lab) -> None:
    result = run(
        "rebalance", "plan", "-c", "cluster-a", "--topics", "odrers*", "-n", running_lab.namesrv_addr
    )
    assert (result.code, result.err) == (
        5,
        'nsadmin: no topic of cluster cluster-a matches "odrers*"\n'
        "nsadmin: run nsadmin topicList to list the topics\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--goal", "speed"], 'invalid value "speed" for --goal: use one of load, queues, disk'),
        (["--queue-counts", "4,x"], 'invalid value "4,x" for --queue-counts: use numbers such as 4,8,16'),
        (
            ["--sample", "1m", "--journal", "j"],
            "--sample and --journal exclude each other: omit one of them",
        ),
        (["--journal", "j"], '"j" has no journal of brokers: use a folder of nsadmin collect --lag'),
        (["--sample", "soon"], 'invalid time "soon" for --sample: use 1s to 24h, such as 15s or 1m'),
        ([], "several clusters: choose one of cluster-a, cluster-b with -c CLUSTER"),
        (["--out", "/dev/null/plan"], "cannot write /dev/null/plan: Not a directory"),
    ],
)
def test_wrong_input_is_refused_with_one_line(
    run: Run, running_lab: Lab, words: list[str], said: str
) -> None:
    cluster_words = ["-c", "cluster-a", "--remove", "broker-a-2"] if words else []
    result = run("rebalance", "plan", *words, *cluster_words, "-n", running_lab.namesrv_addr)
    assert (result.code, result.err) == (2, f"nsadmin: {said}\n")
