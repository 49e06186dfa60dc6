"""Whether brokers refuse messages because of their disks, by the limits of released brokers."""

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.operations.broker_disks import DiskStates, judge_disks

A = "10.0.0.1:10911"


def judged(
    commit_log: str | None, queues: str | None = None, error: RocketMQError | None = None, **settings: str
) -> DiskStates:
    ratios = {"commitLogDiskRatio": commit_log, "consumeQueueDiskRatio": queues}
    table = {key: ratio for key, ratio in ratios.items() if ratio is not None}
    return judge_disks(
        [ServerResult(A, RuntimeInfo(table), None)],
        [ServerResult(A, settings if error is None else None, error)],
    )


def test_the_limits_of_the_broker_count() -> None:
    assert judged("0.9") == DiskStates(
        deletions={
            A: (
                "deletes messages before fileReservedTime: commitLogDiskRatio is 90 %, above "
                "diskSpaceCleanForciblyRatio 85 %"
            )
        }
    )
    assert judged("0.9", cleanFileForciblyEnable="false") == DiskStates()
    assert judged("0.85") == DiskStates()
    assert judged("0.6", diskSpaceCleanForciblyRatio="50").deletions.keys() == {A}
    # Above this one, a broker deletes only messages that are older than fileReservedTime.
    assert judged("0.6", diskMaxUsedSpaceRatio="50") == DiskStates()
    assert judged("0.9012").refusals == {
        A: "refuses messages: commitLogDiskRatio is 90.1 %, above diskSpaceWarningLevelRatio 90 %"
    }
    assert judged("0.6", diskSpaceWarningLevelRatio="50").refusals
    assert judged("0.2", "0.91").refusals == {
        A: "refuses messages: consumeQueueDiskRatio is 91 %, above diskSpaceWarningLevelRatio 90 %"
    }


@pytest.mark.parametrize(("typed", "limit"), [("99", 90), ("10", 35), ("x", 90)])
def test_a_broker_replaces_limits_outside_its_range(typed: str, limit: int) -> None:
    assert judged(f"0.{limit}", diskSpaceWarningLevelRatio=typed).refusals == {}
    assert A in judged(f"0.{limit + 1}", diskSpaceWarningLevelRatio=typed).refusals


@pytest.mark.parametrize("commit_log", [None, "-1", "x", "NaN"])
def test_a_ratio_that_is_not_reported_is_unknown(commit_log: str | None) -> None:
    assert judged(commit_log, "0.2").unknown.keys() == {A}


def test_without_its_limits_only_the_highest_and_the_lowest_decide() -> None:
    error = RocketMQError("no permission")
    assert judged("0.3", error=error) == DiskStates()
    assert judged("0.95", error=error).refusals.keys() == {A}
    assert judged("0.8", error=error) == DiskStates(
        unknown={A: "did not say whether its disk is full: no permission"}
    )
