"""Read-ahead, the timer's engine, what a slave knows of its master, and the check of queues, in the lab."""

import json

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.lab import Lab

A, B = "broker-a-0", "broker-a-1"


def results(result: CommandResult) -> list[tuple[str, int, str | None, str]]:
    rows = json.loads(result.out)
    return [(row["brokerName"], row["brokerId"], row["changes"], row["result"]) for row in rows]


def test_read_ahead_on_every_broker(run_on_lab: Run) -> None:
    changes = "dataReadAheadEnable true -> false"
    planned = run_on_lab("setCommitLogReadAheadMode", "-m", "1", "-c", "cluster-a", "--dry-run")
    assert {row[2:] for row in results(planned)} == {(changes, "dry-run")}
    done = run_on_lab("setCommitLogReadAheadMode", "-m", "1", "-c", "cluster-a")
    assert results(done) == [(name, number, changes, "done") for name in (A, B) for number in (0, 1)]
    again = run_on_lab("setCommitLogReadAheadMode", "-m", "1", "-c", "cluster-a", "--dry-run")
    assert {row[2:] for row in results(again)} == {(None, "unchanged")}
    assert run_on_lab("setCommitLogReadAheadMode", "2", "-c", "cluster-a").code == 2


def test_the_engine_of_masters(run_on_lab: Run, running_lab: Lab) -> None:
    refused = run_on_lab("switchTimerEngine", "-e", "R", "-b", running_lab.brokers[A, 0])
    assert (refused.code, "timerRocksDBEnable must be" in json.loads(refused.out)[0]["error"]) == (1, True)
    preview = run_on_lab("switchTimerEngine", "-e", "R", "-b", running_lab.brokers[A, 0], "--dry-run")
    assert (preview.code, "timerRocksDBEnable=false" in json.loads(preview.out)[0]["error"]) == (1, True)
    run_on_lab("updateBrokerConfig", "timerRocksDBEnable", "true", "-c", "cluster-a")
    planned = run_on_lab("switchTimerEngine", "R", "-c", "cluster-a", "--dry-run")
    result = run_on_lab("switchTimerEngine", "R", "-c", "cluster-a")
    changes = "timerStopEnqueue false -> true"
    assert results(result) == [(name, 0, changes, "done") for name in (A, B)]
    assert [row[2] for row in results(planned)] == [changes] * 2
    assert json.loads(planned.out)[0]["after"] == json.loads(result.out)[0]["after"]
    back = json.loads(run_on_lab("switchTimerEngine", "F", "-c", "cluster-a").out)[0]["after"]
    assert (back["timerStopEnqueue"], back["timerRocksDBStopScan"]) == ("false", "true")
    assert run_on_lab("switchTimerEngine", "X", "-c", "cluster-a").code == 2


def test_a_slave_is_told_of_its_master(run_on_lab: Run, running_lab: Lab) -> None:
    words = ("resetMasterFlushOffset", "-o", "5", "-b", running_lab.brokers[A, 1])
    planned = run_on_lab(*words, "--dry-run")
    [row] = json.loads(planned.out)
    assert (row["after"], row["before"] > 5, row["result"]) == (5, True, "dry-run")
    assert run_on_lab(*words).code == 2
    assert json.loads(run_on_lab(*words, "--yes").out)[0]["result"] == "done"
    assert json.loads(run_on_lab("haStatus", running_lab.brokers[A, 1]).out)[0]["masterFlushOffset"] == 5
    master = run_on_lab("resetMasterFlushOffset", "5", "-b", running_lab.brokers[A, 0], "--yes")
    assert (master.code, "this is a master" in json.loads(master.out)[0]["error"]) == (1, True)
    assert run_on_lab("resetMasterFlushOffset", "soon", "-b", running_lab.brokers[A, 1], "--yes").code == 2


def test_the_check_of_queues_says_who_has_nothing_to_compare(run_on_lab: Run, running_lab: Lab) -> None:
    run_on_lab("updateBrokerConfig", "rocksdbCQDoubleWriteEnable", "true", "-b", running_lab.brokers[A, 0])
    result = run_on_lab("checkRocksdbCqWriteProgress", "-c", "cluster-a", "-t", "payments", "-cf", "-2h")
    check_rows = [(row["brokerName"], row["checkStatus"], row["result"]) for row in json.loads(result.out)]
    assert (result.code, check_rows) == (3, [(A, 2, "started"), (B, None, "failed")])
    assert "no second consume queue to compare" in json.loads(result.out)[1]["error"]
    assert run_on_lab("checkRocksdbCqWriteProgress", "nowhere").code == 5
