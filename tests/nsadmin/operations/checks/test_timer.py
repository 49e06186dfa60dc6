"""check timer: whether timed and delayed messages are delivered in time."""

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import MessagePlace
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.timer import CHECK, TimerObservation, WaitingPlace
from tests.support.checks import read_values

LISTING = BrokerListing([BrokerAddrGroup("C", "broker-a", {0: "a:1"})], {"ns:1": []}, {})
NOW = 1_000_000


def judge(table: dict[str, str], *waiting: tuple[WaitingPlace, int | None]) -> CheckFinding:
    results = [(place, ServerResult[int | None]("a:1", stored_ms, None)) for place, stored_ms in waiting]
    info = ServerResult("a:1", RuntimeInfo(table), None)
    return CHECK.judge(CHECK.make_scale(), TimerObservation(LISTING, [info], results, NOW))


def waits(level: int | None, due_after_ms: int, count: int) -> WaitingPlace:
    place = MessagePlace("a:1", MessageQueue("SCHEDULE_TOPIC_XXXX", "broker-a", 0), 7)
    return WaitingPlace("broker-a", place, level, due_after_ms, count)


def test_messages_that_wait_for_their_time_are_not_late() -> None:
    finding = judge({"timerCongestNum": "3", "timerReadBehind": "0"}, (waits(5, 60_000, 4), NOW - 10_000))
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "7 messages for later delivery on 1 master, none is late",
    )


def test_the_longest_delay_counts() -> None:
    finding = judge(
        {"timerReadBehind": "70", "timerOffsetBehind": "2"},
        (waits(5, 60_000, 4), NOW - 160_000),
        (waits(None, 0, 2), NOW - 700_000),
        (waits(6, 120_000, 1), None),
    )
    assert (finding.state, read_values(finding)["delay"]) == (CheckState.CRITICAL, 700)
    assert finding.details == (
        "broker-a has not sorted 2 timed messages into its timer wheel: 700 s",
        "broker-a delivers delay level 5 late, with 4 messages: 100 s",
        "broker-a delivers timed messages late: 70 s",
    )
    assert finding.summary == "7 messages for later delivery on 1 master, 700 s late"


def test_what_is_unknown_is_not_ok() -> None:
    silent = ServerResult[RuntimeInfo]("a:1", None, NotFound("no answer"))
    finding = CHECK.judge(CHECK.make_scale(), TimerObservation(LISTING, [silent], [], NOW))
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("broker-a: no answer",))
    masterless = LISTING._replace(broker_groups=[BrokerAddrGroup("C", "broker-a", {1: "a:1"})])
    assert (
        CHECK.judge(CHECK.make_scale(), TimerObservation(masterless, [], [], NOW)).state is CheckState.UNKNOWN
    )
