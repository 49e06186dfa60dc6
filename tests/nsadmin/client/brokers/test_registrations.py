"""What brokers say that they register."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.brokers.registrations import BrokerRegistrant
from tests.support.fake_servers import closed_port
from tests.support.registering_brokers import RegisteringBroker

MAPPING = {
    "bname": "broker-a",
    "dirty": False,
    "epoch": 17,
    "hostedQueues": {
        "0": [{"bname": "broker-a", "queueId": 0}],
        "1": [{"bname": "broker-a", "queueId": 1}, {"bname": "broker-b", "queueId": 0}],
        "2": [{"bname": "broker-b", "queueId": 4}, {"bname": "broker-a", "queueId": 2}],
        "3": [],
    },
    "topic": "T",
    "totalQueues": 4,
}


@pytest.fixture
def registering_broker() -> Iterator[RegisteringBroker]:
    with RegisteringBroker() as running:
        yield running


def told_by(broker: RegisteringBroker) -> BrokerRegistrant:
    with AdminClient("127.0.0.1:1") as admin:
        [result] = admin.registrations.get_each([broker.addr])
    assert result.result is not None, result.error
    return result.result


def test_a_broker_tells_who_it_is_and_what_it_has(registering_broker: RegisteringBroker) -> None:
    registration = told_by(registering_broker)
    assert registration == BrokerRegistrant(
        broker_name="broker-a",
        broker_addr="10.0.0.1:10911",
        cluster_name="C",
        ha_server_addr="10.0.9.1:10912",
        broker_id=0,
        version=513,
        permission=6,
        is_compressed=False,
        split_size=None,
        heartbeat_timeout_millis=None,
        enable_acting_master=False,
        namesrv_addrs=("a:9876", "b:9876"),
        has_dynamic_name_servers=False,
        data_version={"counter": 2},
        topics=registering_broker.configs,
        mappings={},
    )
    assert registration.can_read_and_write


def test_settings_that_change_what_is_registered(registering_broker: RegisteringBroker) -> None:
    registering_broker.items |= {
        "brokerPermission": "4",
        "compressedRegister": "true",
        "enableSplitRegistration": "true",
        "splitRegistrationSize": "100",
        "enableSlaveActingMaster": "true",
        "brokerNotActiveTimeoutMillis": "9000",
        "fetchNamesrvAddrByAddressServer": "true",
    }
    registration = told_by(registering_broker)
    assert not registration.can_read_and_write
    assert registration.is_compressed
    assert registration.has_dynamic_name_servers
    assert registration[8:11] == (100, 9000, True)


def test_an_old_release_neither_splits_nor_acts_for_a_master(registering_broker: RegisteringBroker) -> None:
    registering_broker.version = 407
    registering_broker.items["enableSplitRegistration"] = "true"
    assert told_by(registering_broker)[8:11] == (None, None, None)


def test_of_a_static_topic_the_queues_that_are_written_here_are_told(
    registering_broker: RegisteringBroker,
) -> None:
    registering_broker.mappings = {"T": MAPPING}
    assert told_by(registering_broker).mappings == {
        "T": {
            "bname": "broker-a",
            "currIdMap": {0: 0, 2: 2},
            "dirty": False,
            "epoch": 17,
            "scope": "__global__",
            "topic": "T",
            "totalQueues": 4,
        }
    }


def test_who_does_not_answer_or_leaves_half_of_it_out(registering_broker: RegisteringBroker) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    del registering_broker.items["brokerClusterName"]
    with AdminClient("127.0.0.1:1") as admin:
        results = admin.registrations.get_each([dead, registering_broker.addr])
    assert [(r.addr, r.result) for r in results] == [(dead, None), (registering_broker.addr, None)]
    assert "malformed answer ('brokerClusterName')" in str(results[1].error)
