"""Commands about all topics of a group, and about a whole cluster, on 5.5.0 and 4.9.7 brokers."""

from functools import partial
from pathlib import Path

import pytest

from tests.interop.cluster import send
from tests.interop.command_line import nsadmin
from tests.interop.daily import Cluster, commit, committed, ends
from tests.interop.processes import wait_for

GROUP, COPY = "WholeGroup", "WholeCopy"
TOPICS = ("WholeA", "WholeB")
RETRY = f"%RETRY%{GROUP}"


@pytest.fixture(scope="module")
def filled(cluster: Cluster) -> Cluster:
    for topic in TOPICS:
        cluster.topic(topic)
        for broker in (cluster.new, cluster.old):
            for queue in range(4):
                send(broker.port, topic, queue, 5)
            commit(broker, GROUP, topic, dict.fromkeys(range(4), 2))
        wait_for("the queues", partial(has_all, cluster, topic))
    cluster.topic(RETRY, 1)
    for broker in (cluster.new, cluster.old):
        commit(broker, GROUP, RETRY, {0: 0})
    return cluster


def has_all(cluster: Cluster, topic: str) -> bool:
    return ends(cluster, topic) == [5] * 8


def offsets(cluster: Cluster, group: str) -> dict[str, set[int]]:
    return {
        topic: {
            offset
            for broker in (cluster.new, cluster.old)
            for offset in committed(broker, group, topic).values()
        }
        for topic in (*TOPICS, RETRY)
    }


def test_all_topics_of_a_group_are_cloned_skipped_and_moved_back(filled: Cluster, tmp_path: Path) -> None:
    unknown = filled("cloneGroupOffset", GROUP, COPY, "--dry-run")
    assert "create it with `nsadmin updateSubGroup WholeCopy -c DefaultCluster" in unknown.err
    assert filled("updateSubGroup", COPY, "-c", "DefaultCluster", "--yes").code == 0
    cloned = filled("cloneGroupOffset", GROUP, COPY, "--yes")
    assert (cloned.code, {row["topic"] for row in cloned.rows}) == (0, set(TOPICS)), cloned
    assert offsets(filled, COPY) == {"WholeA": {2}, "WholeB": {2}, RETRY: set()}
    run = partial(nsadmin, filled.server.address, env={"NSADMIN_AUDIT": str(tmp_path / "audit.jsonl")})
    skipped = run("skipAccumulatedMessage", GROUP, "--yes")
    assert (skipped.code, {row["topic"] for row in skipped.rows}) == (0, {*TOPICS, RETRY}), skipped
    assert offsets(filled, GROUP) == {"WholeA": {5}, "WholeB": {5}, RETRY: {0}}
    returned = run("resetOffsetByTime", GROUP, ",".join(TOPICS), "--undo", "--yes")
    assert returned.code == 0, returned
    assert offsets(filled, GROUP) == {"WholeA": {2}, "WholeB": {2}, RETRY: {0}}


def test_a_topic_that_nobody_writes_to(filled: Cluster) -> None:
    assert filled("check", "topic", "WholeA", "--idle", "1h").rows["state"] == "OK"
    idle = filled("check", "topic", "WholeA", "--idle", "1s").rows
    assert (idle["state"], "no message for " in idle["summary"]) == ("CRITICAL", True)


def test_counts_types_and_tags(filled: Cluster) -> None:
    [counts] = filled("clusterList", "--counts").rows
    assert (counts["masterCount"], counts["slaveCount"]) == (2, 0)
    assert min(counts[name] for name in ("topicCount", "writeQueueCount", "groupCount")) >= 2
    types = {row["topic"]: row["messageType"] for row in filled("topicList", "--types").rows}
    assert types["WholeA"] == "NORMAL"
    assert filled("printMsg", "WholeA", "-f", "true").rows == [{"tag": None, "count": 40}]


def test_a_group_that_one_broker_lacks(filled: Cluster) -> None:
    assert filled("updateSubGroup", "WholeLone", "-b", "broker-a", "--yes").code == 0
    rows = filled("spread", "--groups").rows
    spreads = {row["group"]: row for row in rows}
    assert (spreads["WholeLone"]["finding"], spreads["WholeLone"]["missing"]) == (
        "on 1 of 2 brokers", ["broker-old"],
    )  # fmt: skip


def test_what_a_file_does_not_name_is_kept(filled: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text("cluster: DefaultCluster\ntopics: {WholeB: {perm: 2}}\n")
    assert {row["changes"] for row in filled("plan", str(file), "--keep").rows} == {"perm rw- -> -w-"}
    applied = filled("apply", str(file), "--keep", "--yes", "--allow-stranded")
    assert applied.code == 0, applied
    assert {(row["writeQueueNums"], row["perm"]) for row in filled("topicRoute", "WholeB").rows} == {(4, 2)}
