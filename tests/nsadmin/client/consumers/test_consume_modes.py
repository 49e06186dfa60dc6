"""Consume modes: read, planned, set and read again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode, ModeChange
from nsadmin.client.results import NotApplied, NotFound
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import answer_json
from tests.support.lab import Lab, start_lab

POP = ConsumeMode("POP", -1)
PLACE = ("payments", "search-indexer")


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 1, 2, 6)) as running:
        yield running


@pytest.fixture
def client(running_lab: Lab) -> Iterator[AdminClient]:
    with AdminClient(running_lab.namesrv_addr, timeout=5) as client:
        yield client


def test_a_mode_is_set_once_and_read(client: AdminClient, running_lab: Lab) -> None:
    addr = running_lab.brokers["broker-a-0", 0]
    [planned] = client.consume_modes.plan_change([addr], *PLACE, POP)
    [done] = client.consume_modes.set_mode([addr], *PLACE, POP)
    assert planned == done
    assert done.result == ModeChange(None, POP)
    [again] = client.consume_modes.set_mode([addr], *PLACE, POP)
    assert again.result == ModeChange(POP, POP)
    [result] = client.consume_modes.list_modes([addr])
    assert result.result == (AssignedMode(*PLACE, POP),)
    [default] = client.consume_modes.get_defaults([addr])
    assert default.result == ConsumeMode("PULL", -1)


def test_who_is_not_there_and_who_may_not_be_told(client: AdminClient, running_lab: Lab) -> None:
    master, slave = (running_lab.brokers["broker-a-0", broker_id] for broker_id in (0, 1))
    [nobody] = client.consume_modes.set_mode([master], "payments", "nobody", POP)
    assert isinstance(nobody.error, NotFound)
    [no_topic] = client.consume_modes.set_mode([master], "nowhere", "search-indexer", POP)
    assert "No topic in this broker" in str(no_topic.error)
    [of_slave] = client.consume_modes.set_mode([slave], *PLACE, POP)
    assert isinstance(of_slave.error, NotApplied)


def test_a_yes_that_changed_nothing() -> None:
    with ConsumerBroker() as broker, AdminClient("h:1", timeout=5) as client:
        broker.handlers |= {
            26: lambda asked: build_reply(asked, body=b"brokerRole=ASYNC_MASTER\n"),
            201: lambda asked: answer_json(asked, {"subscriptionGroupTable": {"G": {"groupName": "G"}}}),
            351: lambda asked: answer_json(
                asked, {"topicName": "T", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
            ),
            401: build_reply,
            402: lambda asked: answer_json(asked, {"messageRequestModeMap": {}}),
        }
        [done] = client.consume_modes.set_mode([broker.addr], "T", "G", POP)
    assert isinstance(done.error, NotApplied)
    assert "getConsumeMode -b" in str(done.error)
