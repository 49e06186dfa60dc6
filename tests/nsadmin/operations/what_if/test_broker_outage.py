"""What is asked to tell what would be lost without brokers, and what somebody's silence leaves unknown."""

from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.client import NoneReachable, NotFound
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.operations.what_if.broker_outage import foresee_broker_outage, resolve_processes
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, closed_port
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def test_topics_and_groups_of_a_cluster(running_lab: Lab) -> None:
    with AdminClient(running_lab.namesrv_addr) as admin:
        outage = foresee_broker_outage(admin, ["broker-a-0"], 7)
        everything = foresee_broker_outage(admin, ["broker-a-0"], 7, include_system=True)
    assert set(outage.errors.values()) == {None}
    only_there = {item.topic_loss.topic for item in outage.topic_losses if item.topic_loss.stops_writes}
    assert only_there == {"coupons-created", "customers-archived"}
    assert all(item.namesrv_addrs == running_lab.namesrv_addrs for item in outage.topic_losses)
    stopped = {group.group: set(group.stopped_topics) for group in outage.lost_groups if group.stopped_topics}
    assert stopped["risk"] == {"customers-archived"}
    assert all(group.client_count > 0 for group in outage.lost_groups)
    assert outage.topic_count == 56
    assert everything.topic_count > outage.topic_count + 10


def test_what_a_real_loss_shows_is_what_was_foretold(tmp_path: Path) -> None:
    with start_lab(tmp_path) as running, AdminClient(running.namesrv_addr) as admin:
        foretold = foresee_broker_outage(admin, ["broker-a-0"], 7)
        before = admin.topics.list_names()
        for number in (0, 1):
            running.kill("broker-a-0", number)
        while "broker-a-0" in {group.broker_name for group in admin.clusters.get_info().broker_groups}:
            sleep(0.01)
        left = admin.topics.get_routes(before)
    for item in foretold.topic_losses:
        route = left[item.topic_loss.topic].result
        queues = [] if route is None else [queue for queue in route.queues if queue.is_writable]
        assert (
            sum(queue.write_queue_nums or 0 for queue in queues)
            == item.topic_loss.capacity_after.write_queues
        )


def test_a_name_server_or_a_broker_that_is_silent(running_lab: Lab) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient(f"{running_lab.namesrv_addrs[0]};{dead}") as admin:
        outage = foresee_broker_outage(admin, ["broker-a-0:0"], 7)
    assert outage.errors[running_lab.namesrv_addrs[0]] is None
    assert "no server listens on this port" in str(outage.errors[dead])
    assert outage.topic_losses
    with FakeNameServer({"C": {"broker-a": {0: dead}}}) as server, AdminClient(server.addr) as admin:
        server.routes = {"T": {"broker-a": 6}}
        outage = foresee_broker_outage(admin, ["broker-a"], 7)
        assert [item.topic_loss.topic for item in outage.topic_losses] == ["T"]
        assert outage.lost_groups == []
        assert outage.errors[dead] is not None
    with AdminClient(dead) as admin, pytest.raises(NoneReachable):
        foresee_broker_outage(admin, ["broker-a"], 7)


def test_other_brokers_name_the_groups_of_a_silent_master(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    broker.topics = {"T": ["readers"], "U": ["others"]}
    broker.handlers[RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG] = lambda asked: answer_json(
        asked, {"subscriptionGroupTable": {"readers": {}, "others": {}}}
    )
    first_server.clusters = {"C": {"a": {0: dead_addr}, "b": {0: broker.addr}}}
    first_server.routes = {"T": {"a": 6, "b": 6}, "U": {"b": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        outage = foresee_broker_outage(admin, ["a"], 7)
        everything = foresee_broker_outage(admin, ["b"], 7)
    assert [(loss.group, loss.reduced_topics) for loss in outage.lost_groups] == [("readers", ("T",))]
    assert outage.groupless_addrs == [dead_addr]
    assert broker.addr in outage.errors
    assert everything.groupless_addrs == []


def test_words_that_name_brokers(running_lab: Lab) -> None:
    with AdminClient(running_lab.namesrv_addr) as admin:
        with pytest.raises(NotFound, match='no broker "broker-z": name servers list broker-a-0, broker-a-1'):
            foresee_broker_outage(admin, ["broker-z"], 7)
        with pytest.raises(NotFound, match='no broker "broker-a-0:7"'):
            foresee_broker_outage(admin, ["broker-a-0:7"], 7)
        pictures = {"s": pictured(admin)}
    down = resolve_processes(["broker-a-0", "broker-a-1/1", "broker-a-1:0", "broker-b-0:1"], pictures)
    assert down == {"broker-a-0": {0, 1}, "broker-a-1": {0, 1}, "broker-b-0": {1}}


def test_another_name_of_the_same_process_goes_down_with_it(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}, "c": {0: dead_addr}}}
    first_server.routes = {"T": {"a": 6, "b": 6}, "U": {"a": 6, "c": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        outage = foresee_broker_outage(admin, ["a"], 7)
    assert outage.shared_addrs == {broker.addr: ["a", "b"]}
    assert {loss.topic_loss.topic: loss.topic_loss.stops_writes for loss in outage.topic_losses} == {
        "T": True,
        "U": False,
    }


def test_a_master_that_is_down_already_is_named(first_server: FakeNameServer, broker: FakeBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    with (
        AdminClient(first_server.addr, timeout=5) as admin,
        pytest.raises(
            NotFound, match=r"no name server lists broker-a:0 now\. To see what is lost, run `nsadmin"
        ),
    ):
        foresee_broker_outage(admin, ["broker-a:0"], 7)


def pictured(admin: AdminClient) -> ClusterSnapshot:
    [snapshot] = take_server_snapshots(admin, 7)[:1]
    assert snapshot.result is not None
    return snapshot.result


def test_a_group_whose_master_is_gone_already_serves_no_consumers(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    broker.settings["slaveReadEnable"] = "false"
    first_server.clusters = {"C": {"a": {1: broker.addr}, "b": {0: dead_addr}}}
    first_server.routes = {"T": {"a": 6, "b": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [loss] = foresee_broker_outage(admin, ["b"], 7).topic_losses
    assert loss.topic_loss.stops_reads
