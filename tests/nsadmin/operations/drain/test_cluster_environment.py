"""A drain's world, in a lab: servers of ours, and brokers that are simulated."""

from collections.abc import Iterator

import pytest

from namesrv_core.events import QueueData
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import Perm
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient
from nsadmin.client.messages.delayed_messages import HALF_TOPIC
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.facts import BrokerCounters
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json
from tests.support.lab import Lab, start_lab

NAME = "broker-a-0"


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    plan = FleetPlan(clusters=1, groups=2, topics=8)
    with start_lab(tmp_path_factory.mktemp("lab"), plan, name_servers=2, producer_period=0.2) as running:
        yield running


@pytest.fixture
def world(running_lab: Lab) -> Iterator[ClusterEnvironment]:
    with AdminClient(running_lab.namesrv_addr) as admin:
        yield ClusterEnvironment(admin, NAME)


def test_queues_of_another_name_of_the_process_are_not_those_of_others(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}, "c": {0: dead_addr}}}
    first_server.routes = {"T": {"a": 6, "b": 6}, "U": {"a": 6, "b": 4, "c": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [server] = ClusterEnvironment(admin, "a").read_servers()
    assert (server.other_names, server.open_names) == (("b",), ("b",))
    assert {topic: facts.other_writable_queues for topic, facts in server.topics.items()} == {"T": 0, "U": 8}


def test_each_name_server_tells_what_it_has(running_lab: Lab, world: ClusterEnvironment) -> None:
    servers = world.read_servers()
    assert [server.namesrv_addr for server in servers] == list(running_lab.namesrv_addrs)
    for server in servers:
        assert server.member_addrs == {0: running_lab.brokers[NAME, 0], 1: running_lab.brokers[NAME, 1]}
        assert (server.cluster_name, server.can_restore_queues) == ("cluster-a", True)
        orders = server.topics["orders"]
        assert (orders.own_queue.broker_name, orders.own_queue.perm, orders.other_masters) == (NAME, 6, 1)
        assert orders.other_writable_queues == orders.own_queue.write_queue_nums
        assert not server.topics["orders-history"].is_open


@pytest.mark.parametrize(
    ("numbers", "logical_queues"), [((4, 3, 6, 2), {}), ((0, 0, 0, 0), {}), ((4, 3, 6, 2), {"0": 1})]
)
def test_queues_are_read_with_all_their_numbers(
    first_server: FakeNameServer, broker: FakeBroker, numbers: tuple[int, ...], logical_queues: dict[str, int]
) -> None:
    """Undoing the drain writes them back."""
    first_server.clusters = {"C": {"a": {0: broker.addr}}}
    first_server.routes = {"T": {"a": 6}}
    names = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    queue = {"brokerName": "a", **dict(zip(names, numbers, strict=True))}
    group = {"brokerName": "a", "cluster": "C", "brokerAddrs": {0: broker.addr}}
    first_server.handlers[105] = lambda asked: answer_json(
        asked,
        {
            "brokerDatas": [group],
            "queueDatas": [queue],
            "filterServerTable": {},
            "topicQueueMappingByBroker": {"a": {"bname": "a", "currIdMap": logical_queues}},
        },
    )
    with AdminClient(first_server.addr, timeout=5) as admin:
        [server] = ClusterEnvironment(admin, "a").read_servers()
    assert server.queues_by_topic == {"T": QueueData("a", *numbers)}
    assert server.topics["T"].is_static == bool(logical_queues)


def test_a_name_server_without_the_broker_tells_of_no_member(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        [server] = ClusterEnvironment(admin, "a").read_servers()
    assert (server.error, server.cluster_name, server.member_addrs, server.topics) == (None, None, {}, {})


def test_a_dead_one_hides_no_other(running_lab: Lab, dead_addr: str) -> None:
    with AdminClient([dead_addr, running_lab.namesrv_addrs[0]]) as admin:
        silent, known = ClusterEnvironment(admin, NAME).read_servers()
    assert (silent.error is not None, silent.is_registered) == (True, False)
    assert known.is_registered


def test_the_broker_tells_what_came_only_where_something_came(
    running_lab: Lab, world: ClusterEnvironment
) -> None:
    master, slaves = running_lab.brokers[NAME, 0], {1: running_lab.brokers[NAME, 1]}
    first = world.read_broker(master, slaves, None, False)
    assert (first.recent_puts, first.lag_by_group, first.user_puts) == (None, None, None)
    assert first.put_count is not None
    second = world.read_broker(master, slaves, first._replace(put_count=first.put_count - 1), True)
    assert second.recent_puts is not None
    assert second.recent_puts["orders"] > 0
    assert second.user_puts is not None
    # The hosts of the simulated producers, for the three busiest topics.
    assert len(second.writers) == 3
    assert all(host.startswith("10.0.") for hosts in second.writers.values() for host in hosts)
    assert not any(topic.startswith(("rmq_sys", "TBW102", "cluster-a")) for topic in second.recent_puts)
    assert second.lag_by_group is not None
    assert [slave.slave_addr for slave in second.slaves] == [slaves[1]]
    assert second.slaves[0].log_end is not None


def test_messages_that_wait_for_delivery_are_of_delay_levels_and_of_the_timer(broker: FakeBroker) -> None:
    table = {
        "bootTimestamp": "7", "msgPutTotalTodayNow": "5", "commitLogMaxOffset": "9", "timerCongestNum": "20",
        "scheduleMessageOffset_1": "3,10", "scheduleMessageOffset_2": "4,4", "scheduleMessageOffset_3": "9,8",
        "scheduleMessageOffset_4": "?,8", "scheduleMessageOffset_5": "8", "other": "0,100",
    }  # fmt: skip
    broker.handlers[28] = lambda asked: answer_json(asked, {"table": table})
    with AdminClient("h:1", timeout=5) as admin:
        counters = ClusterEnvironment(admin, "a").read_broker(broker.addr, {}, None, False)
        assert counters == BrokerCounters(broker.addr, None, 7, 5, 9, delayed_count=27)
        del table["timerCongestNum"]
        assert ClusterEnvironment(admin, "a").read_broker(broker.addr, {}, None, False).delayed_count == 7


def test_what_came_is_known_of_a_broker_that_counts_each_topic(broker: FakeBroker) -> None:
    counts = {"C": 9, "T": 3, "U": 0, HALF_TOPIC: 1}

    def answer_count(asked: RemotingCommand) -> RemotingCommand:
        count = counts.get((asked.ext or {}).get("statsKey") or "")
        return (
            build_reply(asked, 16) if count is None else answer_json(asked, {"statsMinute": {"sum": count}})
        )

    topic = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "order": False}
    topics = {name: {"topicName": name, **topic} for name in ("T", "U", "TBW102", "a", "C")}
    broker.handlers |= {315: answer_count, 21: lambda asked: answer_json(asked, {"topicConfigTable": topics})}
    broker.settings = {"brokerClusterName": "C"}
    broker.table |= {"bootTimestamp": "7", "msgPutTotalTodayNow": "5"}
    before = BrokerCounters(broker.addr, None, 7, 5)

    def read_counts(previous: BrokerCounters | None) -> tuple[object, ...]:
        with AdminClient("h:1", timeout=5) as admin:
            now = ClusterEnvironment(admin, "a").read_broker(broker.addr, {}, previous, False)
        return now.recent_puts, now.user_puts, now.has_transactions

    assert read_counts(None) == read_counts(before) == (None, None, False)
    known = {"T": 3, "U": 0}
    assert read_counts(before._replace(put_count=4)) == (known, 9, True)
    assert read_counts(before._replace(boot_ms=6)) == (known, 9, True)
    del counts[HALF_TOPIC]
    assert read_counts(before._replace(boot_ms=6)) == (known, 9, False)
    del counts["U"]
    assert read_counts(before._replace(boot_ms=6)) == (None, 9, False)
    topics.clear()
    assert read_counts(before._replace(boot_ms=6)) == (None, 9, False)


def test_who_does_not_answer_is_unknown(running_lab: Lab, world: ClusterEnvironment, dead_addr: str) -> None:
    assert world.read_broker(None, {}, None, False).error == "the broker has no master now"
    slave = running_lab.brokers[NAME, 1]
    silent = world.read_broker(dead_addr, {1: slave}, None, True)
    assert (silent.put_count, silent.error) == (None, "connection refused, no server listens on this port")
    assert [progress.slave_addr for progress in silent.slaves] == [slave]
    assert isinstance(world.read_own_queues(dead_addr), str)
    assert isinstance(world.read_permission(dead_addr), str)
    assert world.set_permission(dead_addr, 4) == world.request_registration(dead_addr) == silent.error


def test_wiped_and_put_back_in_the_one_way_and_in_the_other(
    running_lab: Lab, world: ClusterEnvironment
) -> None:
    before = world.read_servers()
    addr, master = running_lab.namesrv_addrs[0], running_lab.brokers[NAME, 0]
    assert world.wipe_write_permission((addr,)) == {addr: None}
    wiped, other = world.read_servers()
    assert wiped.open_topics == []
    assert other == before[1]
    queues = before[0].queues_by_topic
    changed = {topic: queue for topic, queue in queues.items() if queue != wiped.queues_by_topic[topic]}
    assert set(world.restore_queues(addr, changed).values()) == {None}
    assert world.read_servers() == before
    world.wipe_write_permission(running_lab.namesrv_addrs)
    assert world.request_registration(master) is None
    assert world.read_servers() == before
    assert world.read_own_queues(master) == before[0].queues_by_topic
    world.wipe_write_permission((addr,))
    assert world.add_write_permission((addr,)) == {addr: None}
    assert {queue.perm for queue in world.read_servers()[0].queues_by_topic.values()} == {6}
    world.request_registration(master)


def test_a_permission_of_the_broker_is_part_of_what_it_registers(
    running_lab: Lab, world: ClusterEnvironment
) -> None:
    master = running_lab.brokers[NAME, 0]
    before = world.read_servers()
    assert world.read_permission(master) == 6
    assert world.set_permission(master, 4) is None
    assert not any(place.own_queue.perm & Perm.WRITE for place in world.read_servers()[0].topics.values())
    assert world.set_permission(master, 6) is None
    assert world.read_servers() == before


def test_the_broker_tells_all_settings_of_its_topics_and_their_version(
    running_lab: Lab, world: ClusterEnvironment, dead_addr: str
) -> None:
    own = world.read_own_topics(running_lab.brokers[NAME, 0])
    assert own is not None
    assert (own.configs["orders"]["order"], own.configs["payments"]["order"]) == (True, False)
    assert own.data_version["counter"] >= 0
    assert world.read_own_topics(dead_addr) is None


def test_a_slave_with_everything_has_no_gap(running_lab: Lab, world: ClusterEnvironment) -> None:
    slaves = {1: running_lab.brokers[NAME, 1]}
    assert world.read_slave_gaps(running_lab.brokers[NAME, 0], slaves) == ()
    assert world.read_slave_gaps(None, slaves) == world.read_slave_gaps("h:1", {}) == ()


def test_ordered_topics_and_those_of_rocketmq(running_lab: Lab, world: ClusterEnvironment) -> None:
    master = running_lab.brokers[NAME, 0]
    assert world.read_ordered_topics(master) == {"orders"}
    assert {"TBW102", "SCHEDULE_TOPIC_XXXX", NAME, "cluster-a"} <= world.read_system_topics(
        master, "cluster-a"
    )


def test_the_own_topics_of_a_broker_that_does_not_answer_are_known(
    world: ClusterEnvironment, dead_addr: str
) -> None:
    """Otherwise a frozen broker could not be drained: its own topics would lose their last queue."""
    own_topics = {NAME, "cluster-a", "cluster-a_REPLY_TOPIC"}
    assert own_topics <= world.read_system_topics(dead_addr, "cluster-a")
