"""Controllers: who leads, what the leader knows and does."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.broker_configs import ItemChange
from nsadmin.client.controllers import BrokerEpochs, Epoch, Replica, ReplicaSet
from tests.support.controllers import FakeController
from tests.support.servers import Server, body, closed_port

SET = ReplicaSet("broker-a", 1, "h:1", 1, 2, (Replica(1, "h:1", True, True), Replica(2, "h:2", True, True)))


@pytest.fixture
def leader() -> Iterator[FakeController]:
    with FakeController() as running:
        yield running


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as client:
        yield client


def test_any_of_them_says_who_leads(admin: AdminClient, leader: FakeController) -> None:
    with FakeController(leader.addr) as other:
        dead = f"127.0.0.1:{closed_port()}"
        assert admin.controllers.leader([dead, other.addr]) == leader.addr
        found = admin.controllers.meta([other.addr])[0].result
        assert found == ("g", "n0", leader.addr, False, {"n0": leader.addr})
        # An old one may still name another, who leads says so of himself.
        other.leader = dead
        assert admin.controllers.leader([other.addr, leader.addr]) == leader.addr


def test_without_a_leader_or_an_answer_nobody_leads(admin: AdminClient) -> None:
    with FakeController("") as lost, pytest.raises(NotFound, match="the controllers have no leader now"):
        admin.controllers.leader([lost.addr])
    with pytest.raises(Exception, match="connection refused"):
        admin.controllers.leader([f"127.0.0.1:{closed_port()}"])


def test_replicas_are_those_that_the_leader_knows(admin: AdminClient, leader: FakeController) -> None:
    assert admin.controllers.replica_sets(leader.addr, ["broker-a", "nope"]) == {"broker-a": SET}
    assert admin.controllers.replica_set(leader.addr, "broker-a").replica(3) is None
    with pytest.raises(NotFound, match="the controllers know no broker 'nope'"):
        admin.controllers.replica_set(leader.addr, "nope")
    leader.replicas[2] = ("h:2", False, False)
    assert admin.controllers.replica_set(leader.addr, "broker-a").replica(2) == (2, "h:2", False, False)
    with FakeController("h:9") as follower, pytest.raises(RequestError, match="not in leader state"):
        admin.controllers.replica_sets(follower.addr, ["broker-a"])


def test_orders_have_the_time_with_them(admin: AdminClient, leader: FakeController) -> None:
    assert admin.controllers.elect(leader.addr, "C", "broker-a", 2, 1000).result is True
    assert leader.asked[-1].ext == {
        "clusterName": "C",
        "brokerName": "broker-a",
        "brokerId": "2",
        "designateElect": "true",
        "invokeTime": "1000",
    }
    assert admin.controllers.clean(leader.addr, "C", "broker-a", [1, 2], False, 1000).result is True
    ext = leader.asked[-1].ext or {}
    assert (ext["brokerControllerIdsToClean"], ext["isCleanLivingBroker"]) == ("1;2", "false")


def test_settings_are_changed_and_read_back(admin: AdminClient, leader: FakeController) -> None:
    [done] = admin.controllers.configs.update([leader.addr], "scanNotActiveBrokerInterval", "6000")
    assert done.result == ItemChange("5000", "6000")
    [failed] = admin.controllers.configs.plan([leader.addr], "noSuch", "1")
    assert str(failed.error) == "this controller has no item 'noSuch'"


def test_the_epoch_of_now_has_no_end(admin: AdminClient) -> None:
    epochs = [
        {"epoch": 1, "startOffset": 0, "endOffset": 7},
        {"epoch": 2, "startOffset": 7, "endOffset": 2**63 - 1},
    ]
    told = {"brokerId": 0, "brokerName": "broker-a", "epochList": epochs, "maxOffset": 9}
    with Server({1007: lambda asked: body(asked, told)}) as broker:
        [found] = admin.controllers.epochs([broker.addr])
    assert found.result == BrokerEpochs("broker-a", 0, 9, (Epoch(1, 0, 7), Epoch(2, 7, None)))
