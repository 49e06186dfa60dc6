"""check sends: how near masters are to the limits at which they refuse messages."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.looks import Look
from nsadmin.operations.checks.sends import CHECK
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_nothing

IDLE = {
    "sendThreadPoolQueueSize": "0", "sendThreadPoolQueueCapacity": "10000", "putLatency99": "2.00",
    "sendThreadPoolQueueHeadWaitTimeMills": "0", "pageCacheLockTimeMills": "0", "putMessageFailedTimes": "5",
    "EndTransactionQueueSize": "0", "EndTransactionThreadPoolQueueCapacity": "100000",
    "remainTransientStoreBufferNumbs": "2147483647",
}  # fmt: skip


@pytest.fixture
def busy(first_server: FakeNameServer, broker: FakeBroker) -> FakeBroker:
    broker.table |= IDLE
    return broker


def found(first_server: FakeNameServer, earlier: Look | None = None) -> CheckFinding:
    scope = CheckScope(pause_seconds=lambda seconds: None)
    return run_check(CHECK, first_server.addr, scope=scope, earlier=earlier)


def test_an_idle_broker_is_ok(first_server: FakeNameServer, busy: FakeBroker) -> None:
    finding = found(first_server)
    assert finding.state is CheckState.OK
    assert read_values(finding) == {"pressure": 0, "wait": 0, "queued": 0, "latency": 0.002}


@pytest.mark.parametrize(
    ("key", "value", "percent", "text"),
    [
        (
            "sendThreadPoolQueueHeadWaitTimeMills",
            "100",
            50,
            "the nearest to a limit is broker-a (50 %): its oldest send waits 100 ms, limit 200 ms",
        ),
        (
            "pageCacheLockTimeMills",
            "900",
            90,
            "broker-a is at 90 % of a limit: a write holds its commit log for 900 ms, limit 1000 ms",
        ),
        (
            "pageCacheLockTimeMills",
            "1700000000000",
            0,
            "no broker refuses messages as too busy; the nearest to a limit is broker-a (0 %): ",
        ),
        ("sendThreadPoolQueueSize", "5000", 50, "its send queue has 5000 requests, limit 10000"),
        ("EndTransactionQueueSize", "100000", 100, "its transaction queue has 100000 requests, limit 100000"),
        (
            "remainTransientStoreBufferNumbs",
            "0",
            100,
            "refuses messages as too busy: no buffer of its transient store pool is free",
        ),
    ],
)
def test_the_nearest_limit_counts(
    first_server: FakeNameServer, busy: FakeBroker, key: str, value: str, percent: float, text: str
) -> None:
    busy.table[key] = value
    finding = found(first_server)
    assert read_values(finding)["pressure"] == percent
    assert text in finding.summary


def test_the_settings_of_the_broker_are_its_limits(first_server: FakeNameServer, busy: FakeBroker) -> None:
    busy.table["sendThreadPoolQueueHeadWaitTimeMills"] = "190"
    finding = found(first_server)
    assert (finding.state, finding.details) == (
        CheckState.CRITICAL,
        ("broker-a: its oldest send waits 190 ms, limit 200 ms (waitTimeMillsInSendQueue)",),
    )
    busy.settings["waitTimeMillsInSendQueue"] = "1000"
    assert found(first_server).state is CheckState.OK


def test_a_limit_far_below_its_default_is_a_warning(first_server: FakeNameServer, busy: FakeBroker) -> None:
    busy.settings |= {"sendThreadPoolQueueCapacity": "1", "waitTimeMillsInSendQueue": "5"}
    finding = found(first_server)
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        (
            "broker-a refuses a send while 1 others wait: sendThreadPoolQueueCapacity (default 10000)",
            "broker-a refuses a send that waits for 5 ms: waitTimeMillsInSendQueue (default 200)",
        ),
    )


def test_messages_that_could_not_be_stored_since_the_last_look(
    first_server: FakeNameServer, busy: FakeBroker
) -> None:
    finding = found(first_server, earlier=Look(0, {busy.addr: 3.0}))
    assert (finding.state, finding.summary) == (
        CheckState.WARNING,
        "broker-a could not store 2 messages since 1970-01-01T00:00:00Z",
    )
    # A restarted broker counts from 0.
    assert read_values(found(first_server, earlier=Look(0, {busy.addr: 9.0})))["failed"] == 5
    assert found(first_server, earlier=Look(0, {busy.addr: 5.0})).state is CheckState.OK


def test_a_master_that_does_not_answer_is_unknown(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    finding = found(first_server)
    assert (finding.state, finding.summary) == (CheckState.UNKNOWN, "no master reported its send queue")


def test_a_broker_without_a_master_is_what_is_unknown(
    first_server: FakeNameServer, busy: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: busy.addr}, "broker-b": {1: dead_addr}}}
    finding = found(first_server)
    text = "broker-b has no master, so it was not examined; no broker that answered refuses messages as too"
    assert (finding.state, finding.summary.startswith(text)) == (CheckState.UNKNOWN, True)


def test_a_silent_broker_is_waited_for_once(first_server: FakeNameServer, busy: FakeBroker) -> None:
    with FakeBroker() as silent, AdminClient(first_server.addr, timeout=1) as admin:
        silent.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = answer_nothing
        first_server.clusters = {"C": {"broker-a": {0: busy.addr}, "broker-b": {0: silent.addr}}}
        observation = CHECK.observe(admin, CheckScope(pause_seconds=lambda seconds: None))
    assert silent.asked_codes() == [RequestCode.GET_BROKER_RUNTIME_INFO]
    finding = CHECK.judge(CHECK.make_scale(), observation)
    assert (finding.state, finding.summary.split(":")[0]) == (CheckState.UNKNOWN, "broker-b")
    assert busy.asked_codes().count(RequestCode.GET_BROKER_RUNTIME_INFO) == 5
