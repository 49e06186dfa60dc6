"""A drain's world, in a lab: servers of ours, and brokers that are simulated."""

from collections.abc import Iterator

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import Perm
from nsadmin.client import AdminClient
from nsadmin.operations.drain.looking import Cluster
from tests.support.lab import Lab, lab

NAME = "broker-a-0"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    plan = FleetPlan(clusters=1, groups=2, topics=8)
    with lab(tmp_path_factory.mktemp("lab"), plan, name_servers=2, producer_period=0.2) as running:
        yield running


@pytest.fixture
def world(there: Lab) -> Iterator[Cluster]:
    with AdminClient(there.namesrv_addr) as admin:
        yield Cluster(admin, NAME)


def test_each_name_server_tells_what_it_has(there: Lab, world: Cluster) -> None:
    servers = world.servers()
    assert [server.addr for server in servers] == list(there.namesrv_addrs)
    for server in servers:
        assert server.members == {0: there.brokers[NAME, 0], 1: there.brokers[NAME, 1]}
        assert (server.cluster, server.may_put_back) == ("cluster-a", True)
        orders = server.topics["orders"]
        assert (orders.queue.broker_name, orders.queue.perm, orders.masters_elsewhere) == (NAME, 6, 1)
        assert orders.writable_elsewhere == orders.queue.write_queue_nums
        assert not server.topics["orders-history"].is_open


def test_a_dead_one_hides_no_other(there: Lab, dead: str) -> None:
    with AdminClient([dead, there.namesrv_addrs[0]]) as admin:
        silent, known = Cluster(admin, NAME).servers()
    assert (silent.error is not None, silent.is_registered) == (True, False)
    assert known.is_registered


def test_the_broker_tells_what_came_only_where_something_came(there: Lab, world: Cluster) -> None:
    master, slaves = there.brokers[NAME, 0], {1: there.brokers[NAME, 1]}
    first = world.broker(master, slaves, None, False)
    assert (first.residue, first.lag, first.user_puts) == (None, None, None)
    assert first.puts is not None
    second = world.broker(master, slaves, first._replace(puts=first.puts - 1), True)
    assert second.residue is not None
    assert second.residue["orders"] > 0
    assert second.user_puts is not None
    assert not any(topic.startswith(("rmq_sys", "TBW102", "cluster-a")) for topic in second.residue)
    assert second.lag is not None
    assert [slave.addr for slave in second.slaves] == [slaves[1]]
    assert second.slaves[0].end is not None


def test_who_does_not_answer_is_unknown(world: Cluster, dead: str) -> None:
    assert world.broker(None, {}, None, False).error == "it has no master now"
    silent = world.broker(dead, {}, None, True)
    assert (silent.puts, silent.error is not None) == (None, True)
    assert isinstance(world.own_queues(dead), str)
    assert isinstance(world.permission(dead), str)
    assert world.set_permission(dead, 4) is not None
    assert world.register_anew(dead) is not None


def test_wiped_and_put_back_in_the_one_way_and_in_the_other(there: Lab, world: Cluster) -> None:
    before = world.servers()
    addr, master = there.namesrv_addrs[0], there.brokers[NAME, 0]
    assert world.wipe((addr,)) == {addr: None}
    wiped, other = world.servers()
    assert wiped.open_topics == []
    assert other == before[1]
    queues = before[0].queues
    changed = {topic: queue for topic, queue in queues.items() if queue != wiped.queues[topic]}
    assert set(world.put_back(addr, changed).values()) == {None}
    assert world.servers() == before
    world.wipe(there.namesrv_addrs)
    assert world.register_anew(master) is None
    assert world.servers() == before
    assert world.own_queues(master) == before[0].queues
    world.wipe((addr,))
    assert world.add((addr,)) == {addr: None}
    assert {queue.perm for queue in world.servers()[0].queues.values()} == {6}
    world.register_anew(master)


def test_a_permission_of_the_broker_is_part_of_what_it_registers(there: Lab, world: Cluster) -> None:
    master = there.brokers[NAME, 0]
    before = world.servers()
    assert world.permission(master) == 6
    assert world.set_permission(master, 4) is None
    assert not any(place.queue.perm & Perm.WRITE for place in world.servers()[0].topics.values())
    assert world.set_permission(master, 6) is None
    assert world.servers() == before


def test_ordered_topics_and_those_of_rocketmq(there: Lab, world: Cluster) -> None:
    master = there.brokers[NAME, 0]
    assert world.ordered(master) == {"orders"}
    assert {"TBW102", "SCHEDULE_TOPIC_XXXX", NAME, "cluster-a"} <= world.system_topics(master)
