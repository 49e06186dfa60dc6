"""getColdDataFlowCtrInfo, updateColdDataFlowCtrGroupConfig and removeColdDataFlowCtrGroupConfig."""

import json

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.lab import Lab

A, B = "broker-a-0", "broker-a-1"
UPDATE, REMOVE = "updateColdDataFlowCtrGroupConfig", "removeColdDataFlowCtrGroupConfig"


def results(result: CommandResult) -> list[tuple[str, str | None, str]]:
    return [(row["brokerName"], row["changes"], row["result"]) for row in json.loads(result.out)]


def test_a_threshold_is_planned_set_shown_and_removed(run_on_lab: Run) -> None:
    words = ("-g", "auditors", "-c", "cluster-a")
    assert results(run_on_lab(UPDATE, *words, "-v", "5000", "--dry-run")) == [
        (A, "new: 5000", "dry-run"),
        (B, "new: 5000", "dry-run"),
    ]
    assert {row[2] for row in results(run_on_lab(UPDATE, *words, "-v", "5000"))} == {"done"}
    assert {row[1:] for row in results(run_on_lab(UPDATE, *words, "-v", "5000"))} == {(None, "unchanged")}
    threshold_result = run_on_lab("getColdDataFlowCtrInfo", "-c", "cluster-a")
    assert threshold_result.err == (
        "nsadmin: these limits are off (coldDataFlowControlEnable=false): no group is slowed down\n"
        "nsadmin: if they are on, a group without a row may read 3.0 MiB of cold data per second from each "
        'broker, and all groups together the threshold of the row whose group is "-"\n'
    )
    thresholds = [
        (row["brokerName"], row["brokerId"], row["group"], row["threshold"])
        for row in json.loads(threshold_result.out)
    ]
    whole = [(name, number, None, 104_857_600) for name in (A, B) for number in (0, 1)]
    own = [(name, 0, "auditors", 5000) for name in (A, B)]
    assert sorted(thresholds, key=str) == sorted([*whole, *own], key=str)
    assert results(run_on_lab(REMOVE, *words)) == [(A, "removed: 5000", "done"), (B, "removed: 5000", "done")]
    assert run_on_lab(REMOVE, *words).code == 5


def test_brokers_with_the_limits_and_without(run_on_lab: Run, running_lab: Lab) -> None:
    addr = running_lab.brokers[A, 0]
    run_on_lab("updateBrokerConfig", "coldDataFlowControlEnable", "true", "-b", addr)
    assert "slow" not in run_on_lab("getColdDataFlowCtrInfo", addr).err
    other = running_lab.brokers[B, 0]
    line = f"nsadmin: these limits are off on {other} (coldDataFlowControlEnable=false): "
    assert run_on_lab("getColdDataFlowCtrInfo", f"{A},{B}").err.startswith(line)


def test_a_broker_without_it_is_no_error_where_another_had_it(run_on_lab: Run, running_lab: Lab) -> None:
    run_on_lab(UPDATE, "auditors", "1", "-b", running_lab.brokers[A, 0])
    result = run_on_lab(REMOVE, "auditors", "-c", "cluster-a")
    assert (result.code, [row[2] for row in results(result)]) == (0, ["done", "not found"])


@pytest.mark.parametrize("threshold", ["soon", "0", "-1", "1.5"])
def test_what_is_no_threshold(run_on_lab: Run, threshold: str) -> None:
    result = run_on_lab(UPDATE, "-g", "auditors", "-v", threshold, "-c", "cluster-a")
    assert (result.code, result.err) == (
        2,
        f'nsadmin: invalid threshold "{threshold}": expected bytes per second, for example 1048576\n',
    )


def test_a_dead_broker_is_told(run_on_lab: Run, dead_addr: str) -> None:
    result = run_on_lab("getColdDataFlowCtrInfo", dead_addr)
    assert (result.code, json.loads(result.out)[0]["error"][:18]) == (4, "connection refused")
