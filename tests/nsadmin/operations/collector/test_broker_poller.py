"""What brokers tell of themselves and of consumer groups, as events; and of those that do not."""

from collections.abc import Iterator
from time import monotonic

import pytest

from namesrv_core.events import BrokerPollFailed, BrokerRuntime, BrokersPolled, ConsumerLag, Event, TopicLag
from nsadmin import AdminClient
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.operations.collector.broker_poller import (
    BrokerPoller,
    BrokerQuestions,
    PolledBroker,
    build_runtime_event,
)
from nsadmin.operations.collector.request_pace import PollStopped, RequestPace
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import answer_hang_up, closed_port, refuse_with

LAG = BrokerQuestions(asks_lag=True)


class Asked:
    """An asker of brokers whose time stands still until a test moves it."""

    def __init__(self, admin: AdminClient, questions: BrokerQuestions, rate: int = 10_000) -> None:
        self.now = 1000
        self.is_stopped = False
        self.events: list[Event] = []
        pace = RequestPace(rate, is_stopped=lambda: self.is_stopped)
        self.asker = BrokerPoller(admin, questions, pace, 64, self.events.extend, lambda: self.now)

    def round(self, *places: PolledBroker) -> list[Event]:
        self.events.clear()
        assert self.asker.poll_round(places) == self.events[-1]
        return self.events[:]


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("127.0.0.1:1", timeout=5, read_only=True) as client:
        yield client


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


def place(addr: str, name: str = "broker-a", number: int = 0) -> PolledBroker:
    return PolledBroker("C", name, number, addr)


def test_what_a_broker_tells_of_itself() -> None:
    table = {
        "brokerVersionDesc": "V5_5_0", "bootTimestamp": "1700000000000", "brokerActive": "true",
        "putTps": "1.23456 2 3", "getTransferredTps": "4.5 1 1", "msgPutTotalTodayNow": "12",
        "msgGetTotalTodayNow": "11", "commitLogDiskRatio": "0.123456", "commitLogMinOffset": "0",
        "commitLogMaxOffset": "4096", "dispatchBehindBytes": "7", "sendThreadPoolQueueSize": "3",
        "sendThreadPoolQueueHeadWaitTimeMills": "250", "pullThreadPoolQueueSize": "2",
        "pageCacheLockTimeMills": "1", "earliestMessageTimeStamp": "1690000000000",
    }  # fmt: skip
    assert build_runtime_event(place("h:1"), RuntimeInfo(table)) == BrokerRuntime(
        "C", "broker-a", 0, "h:1", "V5_5_0", 1_700_000_000_000, True, 1.23, 4.5, 12, 11, 0.1235, 0, 4096, 7,
        3, 250, 2, 1, 1_690_000_000_000,
    )  # fmt: skip


def test_what_a_release_does_not_tell_is_left_out_and_an_empty_store_has_no_oldest_message() -> None:
    old = {"brokerVersionDesc": "V4_9_7", "getTransferedTps": "2.0", "earliestMessageTimeStamp": "-1"}
    runtime_event = build_runtime_event(place("h:1"), RuntimeInfo(old))
    assert (
        runtime_event.get_tps,
        runtime_event.earliest_message_time,
        runtime_event.broker_active,
        runtime_event.put_tps,
    ) == (2.0, None, None, None)


def test_the_runtime_of_each_broker_and_who_does_not_tell(admin: AdminClient, broker: ConsumerBroker) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    slave = place(dead, number=1)
    asked = Asked(admin, BrokerQuestions(asks_runtime=True))
    events = asked.round(place(broker.addr), slave)
    assert events == [
        BrokerRuntime("C", "broker-a", 0, broker.addr, "V5_5_0", commit_log_disk_ratio=0.1),
        BrokerPollFailed(*slave, "runtime", "connection refused, no server listens on this port"),
        BrokersPolled(2, 1, 0, 0),
    ]


def test_the_lag_of_each_group_on_each_topic(admin: AdminClient, broker: ConsumerBroker) -> None:
    # The queue 1 of T was never committed, which the broker tells as 0; that of U was, and stands there.
    broker.ends["U", 0] = (0, 5)
    broker.offsets["G", "U", 0] = 0
    broker.configs |= {"TOOLS_CONSUMER": {}, "CID_RMQ_SYS_X": {}}
    [lag, polled] = Asked(admin, LAG).round(place(broker.addr))
    assert lag == ConsumerLag(
        "C", "broker-a", 0, broker.addr, "G",
        (
            TopicLag("T", 2, 1, 150, 90, 10, 2, 1000),
            TopicLag("U", 1, 0, 5, 0, 5, 2, 1000),
        ),
    )  # fmt: skip
    assert polled == BrokersPolled(1, 0, 1, 0)
    assert broker.asked_codes() == [201, 43, 208, 203]


def test_a_group_that_never_committed_has_no_lag(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.offsets = {("G", "T", 7): 1}
    [lag, _] = Asked(admin, LAG).round(place(broker.addr))
    assert isinstance(lag, ConsumerLag)
    assert lag.lags == (TopicLag("T", 2, 2, 150),)


def test_a_broadcasting_group_and_an_offset_beyond_the_end_have_no_lag(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.clients, broker.message_model = {"G": ["c1"]}, "BROADCASTING"
    [event, _] = Asked(admin, LAG).round(place(broker.addr))
    assert isinstance(event, ConsumerLag)
    assert [topic_lag.lag for topic_lag in event.lags] == [None]
    broker.clients, broker.offsets = {}, {("G", "T", 0): 101, ("G", "T", 1): 50}
    [event, _] = Asked(admin, LAG).round(place(broker.addr))
    assert isinstance(event, ConsumerLag)
    assert [topic_lag.lag for topic_lag in event.lags] == [None]


def test_a_group_without_a_lag_is_told_when_something_changed_and_once_an_hour(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    asked = Asked(admin, LAG)

    def is_told() -> bool:
        asked.now += 60_000
        return any(isinstance(event, ConsumerLag) for event in asked.round(place(broker.addr)))

    assert [is_told(), is_told(), is_told()] == [True] * 3
    broker.offsets |= {("G", "T", 0): 100, ("G", "T", 1): 50}
    assert [is_told(), is_told(), is_told()] == [True, False, False]
    broker.ends["T", 0], broker.offsets["G", "T", 0] = (0, 101), 101
    assert [is_told(), is_told()] == [True, False]
    assert sum(is_told() for _ in range(120)) == 2


def test_of_each_group_of_brokers_the_master_is_asked_and_a_slave_where_there_is_none(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    asked = Asked(admin, LAG)
    assert len(asked.round(place(dead, number=1), place(broker.addr))) == 2
    slave = place(broker.addr, "broker-b", 2)
    events = asked.round(slave, place(dead))
    assert (
        BrokerPollFailed(*place(dead), "groups", "connection refused, no server listens on this port")
        in events
    )
    assert {event.broker_name for event in events if isinstance(event, ConsumerLag)} == {"broker-b"}
    assert events[-1] == BrokersPolled(2, 1, 1, 0)


def test_a_broker_that_goes_while_it_is_asked_is_not_waited_for_again(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.configs = {f"G{number}": {} for number in range(40)}
    broker.handlers[208] = answer_hang_up
    events = Asked(admin, LAG).round(place(broker.addr))
    failed = [event.consumer_group for event in events if isinstance(event, BrokerPollFailed)]
    assert sorted(map(str, failed)) == sorted(broker.configs)
    assert broker.asked_codes().count(208) <= 16
    assert events[-1] == BrokersPolled(1, 0, 40, 0)


def test_a_group_that_is_refused_is_told_and_the_others_are_asked(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.configs = {f"G{number}": {} for number in range(40)}
    broker.handlers[208] = refuse_with(1, "no")
    events = Asked(admin, LAG).round(place(broker.addr))
    assert events.count(BrokerPollFailed(*place(broker.addr), "lag", "SYSTEM_ERROR (1): no", "G7")) == 1
    assert broker.asked_codes().count(208) == 40


def test_brokers_are_asked_for_their_groups_by_turns(admin: AdminClient) -> None:
    with ConsumerBroker("a") as broker, ConsumerBroker("b") as other:
        broker.configs = {f"A{number}": {} for number in range(16)}
        other.configs = {f"B{number}": {} for number in range(16)}
        sizes: list[int] = []
        stats = admin.consumers.get_stats_each

        def counted(pairs: list[tuple[str, str]]) -> object:
            sizes.append(sum(addr == broker.addr for addr, _ in pairs))
            return stats(pairs)

        admin.consumers.get_stats_each = counted  # type: ignore[method-assign, assignment]
        Asked(admin, LAG).round(place(broker.addr, "a"), place(other.addr, "b"))
    assert sizes == [8, 8]


def test_no_more_than_so_many_a_second(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs = {f"G{number}": {} for number in range(38)}
    begun = monotonic()
    Asked(admin, LAG, rate=20).round(place(broker.addr))
    # 40 requests: the last ones wait for the second second, however fast the broker is.
    assert monotonic() - begun > 0.9


def test_who_is_told_to_stop_asks_nothing(admin: AdminClient, broker: ConsumerBroker) -> None:
    asked = Asked(admin, LAG)
    asked.is_stopped = True
    with pytest.raises(PollStopped):
        asked.round(place(broker.addr))
    assert broker.asked == []
