"""check disk: how full the disks are, and when they will be."""

from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.checks.disk import CHECK, DiskObservation
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.looks import HOUR_MS, Look
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer

GROUPS = [BrokerAddrGroup("C", "broker-a", {0: "a:1"})]


def test_a_disk_is_judged_by_the_level_of_its_own_broker(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table |= {"commitLogDiskRatio": "0.5", "consumeQueueDiskRatio": "0.7"}
    finding = run_check(CHECK, first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        f"the fullest disk is that of broker-a 0 at {broker.addr}: 70 % "
        "(room until writes are refused at 90 %: 20 %); "
        "growth is known when the check runs again after 10 minutes",
    )
    assert read_values(finding)["room"] == 20
    broker.settings["diskSpaceWarningLevelRatio"] = "80"
    finding = run_check(CHECK, first_server.addr)
    assert (finding.state, read_values(finding)["room"]) == (CheckState.WARNING, 10)
    broker.settings["diskSpaceWarningLevelRatio"] = "60"
    finding = run_check(CHECK, first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.CRITICAL,
        f"broker-a 0 at {broker.addr} refuses messages: its disk is full",
    )


def test_early_deletions_are_a_warning_and_an_unknown_disk_is_not_ok(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table["commitLogDiskRatio"] = "0.6"
    broker.settings["diskSpaceCleanForciblyRatio"] = "50"
    finding = run_check(CHECK, first_server.addr)
    assert finding.state is CheckState.WARNING
    assert "deletes messages before fileReservedTime" in finding.details[0]
    assert finding.remedies == (f"`nsadmin broker explain {broker.addr}`",)
    broker.table["commitLogDiskRatio"] = "-1"
    assert run_check(CHECK, first_server.addr).state is CheckState.UNKNOWN


def judge_growth(
    first_server: FakeNameServer, broker: FakeBroker, store_bytes: int, hours: float, earlier_bytes: int
) -> CheckFinding:
    broker.table |= {
        "commitLogDiskRatio": "0.5",
        "commitLogDirCapacity": "Total : 100 B, Free : 50 B.",
        "commitLogMinOffset": "1000",
        "commitLogMaxOffset": str(1000 + store_bytes),
    }
    earlier = Look(0, {broker.addr: earlier_bytes})
    return run_check(CHECK, first_server.addr, now_ms=int(hours * HOUR_MS), earlier=earlier)


def test_the_days_until_a_refusal_follow_from_the_growth(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    # 40 of 100 bytes remain below 90 %, and it grows by 2 in 12 hours.
    finding = judge_growth(first_server, broker, 20, 12, 18)
    assert read_values(finding)["daysLeft"] == 10
    growth = "in 10 days, if it deletes none and its store grows by 4 % of the disk a day, as since 1970"
    assert f"at 90 %: 40 %); it refuses messages {growth}-01-01T00:00:00Z" in finding.summary
    assert finding.details == (f"broker-a 0 at {broker.addr} refuses messages {growth}-01-01T00:00:00Z",)
    assert "50 % of 100 B (room until" in finding.summary
    assert "; it refuses messages in 24 hours, " in judge_growth(first_server, broker, 20, 12, 0).summary


def test_a_store_that_does_not_grow_has_no_days_and_a_young_look_says_nothing(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    finding = judge_growth(first_server, broker, 20, 12, 20)
    assert finding.summary.endswith("no store grew since 1970-01-01T00:00:00Z")
    assert "daysLeft" not in read_values(finding)
    assert "growth is known when" in judge_growth(first_server, broker, 20, 0.1, 18).summary


def test_without_a_list_of_brokers_nothing_is_known() -> None:
    seen = DiskObservation(BrokerListing(GROUPS, {}, {"ns:1": "refused"}), [], [], 0)
    finding = CHECK.judge(CHECK.make_scale(), seen)
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("name server ns:1: refused",))
