"""Controllers: who leads, what the leader knows and does."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.brokers.broker_configs import ConfigItemChange
from nsadmin.client.brokers.controllers import BrokerEpochs, BrokerReplica, MasterEpoch, ReplicaSet
from tests.support.controllers import FakeController
from tests.support.fake_servers import Server, answer_json, closed_port

SET = ReplicaSet(
    "broker-a", 1, "h:1", 1, 2, (BrokerReplica(1, "h:1", True, True), BrokerReplica(2, "h:2", True, True))
)


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
        assert admin.controllers.find_leader([dead, other.addr]) == leader.addr
        metadata = admin.controllers.get_metadata([other.addr])[0].result
        assert metadata == ("g", "n0", leader.addr, False, {"n0": leader.addr})
        # An old one may still name another, who leads says so of himself.
        other.leader = dead
        assert admin.controllers.find_leader([other.addr, leader.addr]) == leader.addr


def test_without_a_leader_or_an_answer_nobody_leads(admin: AdminClient) -> None:
    with FakeController("") as lost, pytest.raises(NotFound, match="the controllers have no leader now"):
        admin.controllers.find_leader([lost.addr])
    with pytest.raises(Exception, match="connection refused"):
        admin.controllers.find_leader([f"127.0.0.1:{closed_port()}"])


def test_replicas_are_those_that_the_leader_knows(admin: AdminClient, leader: FakeController) -> None:
    assert admin.controllers.get_replica_sets(leader.addr, ["broker-a", "nope"]) == {"broker-a": SET}
    assert admin.controllers.get_replica_set(leader.addr, "broker-a").find_replica(3) is None
    with pytest.raises(NotFound, match='the controllers have no broker "nope"'):
        admin.controllers.get_replica_set(leader.addr, "nope")
    leader.replicas[2] = ("h:2", False, False)
    assert admin.controllers.get_replica_set(leader.addr, "broker-a").find_replica(2) == (
        2,
        "h:2",
        False,
        False,
    )
    with FakeController("h:9") as follower, pytest.raises(RequestError, match="not in leader state"):
        admin.controllers.get_replica_sets(follower.addr, ["broker-a"])


def test_orders_have_the_time_with_them(admin: AdminClient, leader: FakeController) -> None:
    assert admin.controllers.elect_master(leader.addr, "C", "broker-a", 2, 1000).result is True
    assert leader.asked[-1].ext == {
        "clusterName": "C",
        "brokerName": "broker-a",
        "brokerId": "2",
        "designateElect": "true",
        "invokeTime": "1000",
    }
    assert admin.controllers.forget_replicas(leader.addr, "C", "broker-a", [1, 2], False, 1000).result is True
    ext = leader.asked[-1].ext or {}
    assert (ext["brokerControllerIdsToClean"], ext["isCleanLivingBroker"]) == ("1;2", "false")


def test_settings_are_changed_and_read_back(admin: AdminClient, leader: FakeController) -> None:
    [done] = admin.controllers.configs.update_item([leader.addr], "scanNotActiveBrokerInterval", "6000")
    assert done.result == ConfigItemChange("5000", "6000")
    [failed] = admin.controllers.configs.plan_update([leader.addr], "noSuch", "1")
    assert str(failed.error) == 'this controller has no setting "noSuch"'


def test_the_epoch_of_now_has_no_end(admin: AdminClient) -> None:
    epochs = [
        {"epoch": 1, "startOffset": 0, "endOffset": 7},
        {"epoch": 2, "startOffset": 7, "endOffset": 2**63 - 1},
    ]
    epoch_answer = {"brokerId": 0, "brokerName": "broker-a", "epochList": epochs, "maxOffset": 9}
    with Server({1007: lambda asked: answer_json(asked, epoch_answer)}) as broker:
        [result] = admin.controllers.get_epochs([broker.addr])
    assert result.result == BrokerEpochs("broker-a", 0, 9, (MasterEpoch(1, 0, 7), MasterEpoch(2, 7, None)))
