"""getConsumeMode and setConsumeMode in the lab."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab

A, B = "broker-a-0", "broker-a-1"


def test_a_mode_is_planned_set_and_shown(run_on_lab: Run) -> None:
    words = ("setConsumeMode", "-t", "payments", "-g", "search-indexer", "-m", "pop", "-q", "2")
    planned = run_on_lab(*words, "-c", "cluster-a", "--dry-run")
    assert {row["result"] for row in planned.json} == {"dry-run"}
    result = run_on_lab(*words, "-c", "cluster-a")
    assert [(row["brokerName"], row["changes"], row["result"]) for row in result.json] == [
        (name, "new: mode POP, popShareQueueNum 2", "done") for name in (A, B)
    ]
    addrs = ",".join(row["brokerAddr"] for row in result.json)
    assert result.err == (
        "nsadmin: before, the default of the broker applied; to have this mode again, run "
        f"nsadmin setConsumeMode payments search-indexer PULL -b {addrs}\n"
    )
    again = run_on_lab("setConsumeMode", "payments", "search-indexer", "PULL", "-c", "cluster-a")
    assert again.json[0]["changes"] == "mode POP -> PULL, popShareQueueNum 2 -> 0"
    assert again.err == (
        f"nsadmin: to undo it: nsadmin setConsumeMode payments search-indexer POP -q 2 -b {addrs}\n"
    )
    once_more = run_on_lab("setConsumeMode", "payments", "search-indexer", "PULL", "-c", "cluster-a")
    assert {row["result"] for row in once_more.json} == {"unchanged"}
    modes = run_on_lab("getConsumeMode", "-c", "cluster-a", "-g", "search-indexer", "-t", "payments").json
    assert [(row["brokerId"], row["topic"], row["mode"]) for row in modes if row["brokerName"] == A] == [
        (0, None, "PULL"),
        (0, "payments", "PULL"),
        (1, None, "PULL"),
    ]
    others = run_on_lab("getConsumeMode", "-c", "cluster-a", "-g", "nobody").json
    assert [row["topic"] for row in others] == [None] * 4


def test_other_clusters_with_another_mode_are_named(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab", FleetPlan(2, 1, 1, 6)) as lab:
        namesrv = ("-n", lab.namesrv_addr)
        for cluster in ("cluster-a", "cluster-b"):
            assert run("updateTopic", "T", "-c", cluster, *namesrv).code == 0
            assert run("updateSubGroup", "G", "-c", cluster, *namesrv).code == 0
        keeps = "nsadmin: G keeps its mode in cluster-b: pass '*' as the cluster for all clusters\n"
        assert keeps in run("setConsumeMode", "T", "G", "POP", "-c", "cluster-a", *namesrv).err
        assert keeps not in run("setConsumeMode", "T", "G", "POP", "-c", "*", *namesrv).err
        assert keeps not in run("setConsumeMode", "T", "G", "POP", "-c", "cluster-a", *namesrv).err


def test_what_is_not_there_is_not_made(run_on_lab: Run, running_lab: Lab) -> None:
    result = run_on_lab("setConsumeMode", "payments", "nobody", "POP", "-c", "cluster-a")
    assert (result.code, {row["result"] for row in result.json}) == (5, {"not found"})
    assert run_on_lab("getConsumerConfig", "nobody").code == 5
    bad = run_on_lab("setConsumeMode", "payments", "search-indexer", "PUSH", "-c", "cluster-a")
    assert (bad.code, bad.err) == (2, 'nsadmin: invalid mode "PUSH": use PULL or POP\n')


def test_a_dead_broker_is_told(run_on_lab: Run, dead_addr: str) -> None:
    result = run_on_lab("getConsumeMode", "-b", dead_addr)
    assert (result.code, result.json[0]["error"][:18]) == (4, "connection refused")
