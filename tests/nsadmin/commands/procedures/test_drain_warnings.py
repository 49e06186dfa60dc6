"""Commands that change topics warn before they touch a broker that is drained."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.operations.drain.state import (
    DrainState,
    QueueSnapshot,
    open_drain,
)
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab

B = "broker-a-0"
WARNING = (
    f"nsadmin: {B} is drained, and no nsadmin watches it: this change makes the broker register "
    f"writable topics; run `nsadmin drain {B} -n '{{addrs}}'` to remove the write permission again"
)


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 1, 6), name_servers=2) as running:
        yield running


@pytest.fixture
def run_drain(running_lab: Lab, run: Run, tmp_path: Path) -> Run:
    store = open_drain(tmp_path / "state", "cluster-a", B)
    store.lock.acquire()
    store.save(DrainState("cluster-a", B, running_lab.namesrv_addrs, 1, 2, phase="safe"), QueueSnapshot())
    store.lock.release()
    return lambda *words: run(*words, "-n", running_lab.namesrv_addr)


@pytest.mark.parametrize(
    "words",
    [
        ("updateTopic", "orders", "-c", "cluster-a", "-r", "9", "-w", "9"),
        ("updateTopicPerm", "orders", "4", "-c", "cluster-a"),
        ("updateTopicList", "topics.json", "-c", "cluster-a"),
        ("updateStaticTopic", "ledger", "-qn", "4", "-c", "cluster-a"),
        ("deleteTopic", "orders", "cluster-a"),
        ("apply", "cluster.yaml"),
    ],
    ids=lambda words: words[0],
)
def test_a_change_of_a_topic_on_a_drained_broker_is_warned_of(
    run_drain: Run, running_lab: Lab, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.json").write_text(json.dumps([{"topicName": "orders", "writeQueueNums": 9}]))
    Path("cluster.yaml").write_text("cluster: cluster-a\ntopics: {ratings: {}}\n")
    result = run_drain(*words, "--dry-run")
    assert result.err.splitlines().count(WARNING.format(addrs=running_lab.namesrv_addr)) == 1


def test_a_broker_that_is_named_by_its_address_is_known_by_what_it_says(
    run_drain: Run, running_lab: Lab
) -> None:
    words = ("updateTopicPerm", "orders", "4", "--dry-run", "-b")
    warning = WARNING.format(addrs=running_lab.namesrv_addr)
    assert warning in run_drain(*words, running_lab.brokers[B, 0]).err
    assert run_drain(*words, running_lab.brokers["broker-a-1", 0]).err == ""


def test_a_change_that_changes_nothing_is_not_warned_of(run_drain: Run) -> None:
    assert run_drain("updateTopicPerm", "orders", "6", "-c", "cluster-a", "--dry-run").err == ""


def test_to_open_a_drained_broker_undrain_is_named(run_drain: Run, running_lab: Lab) -> None:
    opened = run_drain("addWritePerm", B, "--dry-run").err
    assert opened.splitlines()[0] == (
        f"nsadmin: {B} is drained: to end the drain, and give each topic its own permission again, "
        f"run `nsadmin undrain {B} -n '{running_lab.namesrv_addr}'` instead"
    )
    assert "is drained" not in run_drain("addWritePerm", "broker-a-1", "--dry-run").err
