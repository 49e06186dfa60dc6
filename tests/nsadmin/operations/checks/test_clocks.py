"""check clocks: whether brokers and this machine have the same time."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.operations.checks.clocks import CHECK, ClockObservation
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from tests.nsadmin.conftest import Run
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer

NOW = 1_700_000_000_000
EFFECT = (
    "a broker stores messages with its own time: delayed messages, searches by time and retention follow it"
)


def result(number: int, seconds_ahead: int | None) -> ServerResult[RuntimeInfo]:
    table = {} if seconds_ahead is None else show_time(NOW + seconds_ahead * 1000)
    return ServerResult(f"a:{number}", RuntimeInfo(table), None)


def show_time(clock_ms: int) -> dict[str, str]:
    """The figures of a broker that began an hour ago."""
    return {
        "bootTimestamp": str(clock_ms - 3_600_500),
        "runtime": "[ 0 days, 1 hours, 0 minutes, 0 seconds ]",
    }


def judge(*seconds_ahead: int | None, wait_ms: int = 0, **changes: Any) -> CheckFinding:
    results = [result(number, seconds) for number, seconds in enumerate(seconds_ahead)]
    groups = [BrokerAddrGroup("C", f"broker-{r.addr[-1]}", {0: r.addr}) for r in results]
    listing = BrokerListing(groups, {"ns:1": groups}, {})
    seen = ClockObservation(listing, results, NOW - wait_ms // 2, NOW + wait_ms // 2)
    return CHECK.judge(CHECK.make_scale(), seen._replace(**changes))


def test_equal_clocks_are_ok() -> None:
    finding = judge(0, 1, -1, 0)
    assert (finding.state, finding.summary, finding.details) == (
        CheckState.OK, "the clocks of 4 brokers and of this machine differ by at most 1 s", (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds_ahead", "state", "summary"),
    [
        ((0, 0, 20), CheckState.WARNING, "broker-2 0 at a:2 is 20 s ahead of the others"),
        ((0, 0, -600), CheckState.CRITICAL, "broker-2 0 at a:2 is 600 s behind the others"),
        ((-600, 0), CheckState.CRITICAL, "broker-0 0 at a:0 is 600 s behind the others"),
        ((70,), CheckState.CRITICAL, "broker-0 0 at a:0 is 70 s ahead of this machine"),
        (
            (0, 0, 90, 90),
            CheckState.CRITICAL,
            "2 clocks are wrong; broker-2 0 at a:2 is 90 s ahead of the others",
        ),
    ],
)
def test_a_wrong_clock_is_named(seconds_ahead: tuple[int, ...], state: CheckState, summary: str) -> None:
    finding = judge(*seconds_ahead)
    assert (finding.state, finding.summary, finding.details[-1]) == (state, summary, EFFECT)
    assert read_values(finding)["own"] == 0


def test_the_clock_of_this_machine_may_be_the_wrong_one() -> None:
    for clocks in ((-70, -70, -71), (-70, -70)):
        finding = judge(*clocks)
        assert (finding.state, finding.summary) == (
            CheckState.WARNING, "the clock of this machine is 70 s ahead of the brokers",
        )  # fmt: skip
    both = judge(900, 100, 100)
    assert (both.state, len(both.details)) == (CheckState.CRITICAL, 3)


def test_a_slow_answer_is_no_wrong_clock() -> None:
    assert judge(0, 0, 8, wait_ms=4000).state is CheckState.OK
    assert judge(0, 0, 10, wait_ms=4000).state is CheckState.WARNING


def test_a_clock_that_nobody_knows_is_not_ok() -> None:
    finding = judge(0, 0, None)
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("broker-2 0 at a:2: reports no time",))
    silent = [result(0, 0), ServerResult[RuntimeInfo]("a:1", None, NotFound("no answer"))]
    finding = judge(0, 0, runtime_results=silent)
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("broker-1 0 at a:1: no answer",))
    assert judge(None).state is CheckState.UNKNOWN


def test_brokers_are_asked_again_without_the_silent_one(first_server: FakeNameServer, dead_addr: str) -> None:
    with FakeBroker(show_time(NOW)) as broker:
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: dead_addr}}}
        finding = run_check(CHECK, first_server.addr, before_ms=NOW, after_ms=NOW)
    assert (finding.state, read_values(finding)["away"]) == (CheckState.UNKNOWN, 0)
    [doubt] = finding.details
    assert doubt.startswith(f"broker-b 0 at {dead_addr}: connection refused")


def test_a_bundle_has_no_clocks(run: Run, first_server: FakeNameServer, tmp_path: Path) -> None:
    assert run("bundle", "create", str(tmp_path / "b.zip"), "-n", first_server.addr).code == 0
    result = run("check", "clocks", "--bundle", str(tmp_path / "b.zip"))
    assert (result.code, result.out) == (3, "UNKNOWN: a bundle does not tell when its brokers answered\n")
    report = run("check", "all", "--bundle", str(tmp_path / "b.zip"))
    assert "  not checked: clocks: a bundle does not tell when its brokers answered\n" in report.out


@pytest.mark.parametrize(
    ("runtime", "seconds"),
    [
        ("[ 19 days, 2 hours, 3 minutes, 4 seconds ]", ((19 * 24 + 2) * 60 + 3) * 60 + 4),
        ("[ 1,234 days, 0 hours, 0 minutes, 0 seconds ]", 1234 * 86_400),
        ("[ 1\N{NARROW NO-BREAK SPACE}234 days, 0 hours, 0 minutes, 0 seconds ]", 1234 * 86_400),
        # The clock was set back to before the start.
        ("[ 0 days, -1 hours, 0 minutes, -4 seconds ]", -3604),
    ],
)
def test_the_time_of_a_broker_follows_from_its_start(runtime: str, seconds: int) -> None:
    info = RuntimeInfo({"bootTimestamp": str(NOW), "runtime": runtime})
    assert info.clock_ms == NOW + seconds * 1000 + 500
    assert RuntimeInfo({"bootTimestamp": str(NOW), "runtime": "long"}).clock_ms is None
    assert (
        RuntimeInfo(
            {"bootTimestamp": str(NOW), "runtime": "[ . days, 0 hours, 0 minutes, 0 seconds ]"}
        ).clock_ms
        is None
    )
