"""clusterList --count."""

import json
from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.lab import start_lab


def test_each_cluster_is_counted_and_what_several_have_counts_once(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path, FleetPlan(clusters=2, groups=2, topics=10)) as lab:
        where = ("-n", lab.namesrv_addr)
        result = run("clusterList", "--count", *where)
        rows = json.loads(run("clusterList", "--count", *where, "--json").out)
        topics = [
            json.loads(run("topicList", "--cluster", row["clusterName"], "--no-system", "--json", *where).out)
            for row in rows
        ]
        groups = {row["group"] for row in json.loads(run("consumerProgress", "--json", *where).out)}
    assert [(row["clusterName"], row["brokers"], row["slaves"]) for row in rows] == [
        ("cluster-a", 2, 2),
        ("cluster-b", 2, 2),
    ]
    assert [row["topics"] for row in rows] == [len(names) for names in topics]
    assert all(row["topics"] >= 10 and row["inTotalYest"] > 0 for row in rows)
    distinct_topics = {row["topic"] for names in topics for row in names}
    assert (result.code, result.err) == (
        0,
        f"nsadmin: all clusters: 4 brokers, {len(distinct_topics)} topics and {len(groups)} consumer groups; "
        "what several clusters have counts once\n",
    )


def test_a_broker_that_does_not_answer_is_told(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: dead_addr}}}
    result = run("clusterList", "--count", "-n", first_server.addr, "--json")
    [row] = json.loads(result.out)
    assert (result.code, row["brokers"], row["slaves"]) == (3, 2, 0)
    assert f"broker {dead_addr}: connection refused" in result.err


def test_wrong_command_lines_are_refused(run: Run) -> None:
    for words in (("-m",), ("-i", "5"), ("--output", "mqadmin")):
        result = run("clusterList", "--count", *words)
        assert (result.code, result.out) == (2, ""), words
        assert "--count" in result.err
