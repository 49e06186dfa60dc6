"""Thresholds for cold data: what brokers say, and what is made of their yes."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client.brokers.cold_data import ColdReads, ThresholdChange
from nsadmin.client.results import NotApplied, NotFound
from tests.support.fake_servers import FakeBroker, answer_json, refuse_with

READS = {"g": {"coldAcc": 7, "createTimeMills": 5, "lastColdReadTimeMills": 0}}


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as running:
        table: dict[str, int] = {"g": 10}

        def put(asked: RemotingCommand) -> RemotingCommand:
            group, _, value = asked.body.decode().strip().partition("=")
            table[group] = int(value)
            return build_reply(asked)

        def drop(asked: RemotingCommand) -> RemotingCommand:
            table.pop(asked.body.decode(), None)
            return build_reply(asked)

        more = {"cgColdReadThreshold": 3, "globalColdReadThreshold": 4, "globalAcc": 1}
        running.handlers |= {
            2001: put,
            2002: drop,
            2003: lambda asked: answer_json(asked, {"configTable": table, "runtimeTable": READS, **more}),
        }
        yield running


@pytest.fixture
def client() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as admin:
        yield admin


def test_what_a_broker_tells(client: AdminClient, broker: FakeBroker) -> None:
    [result] = client.cold_data.get_each([broker.addr])
    assert result.result is not None
    assert (result.result.thresholds_by_group, result.result.reads_by_group) == (
        {"g": 10},
        {"g": ColdReads(7, 5, None)},
    )
    assert result.result[2:] == (3, 4, 1)


def test_a_threshold_is_set_and_taken_back(client: AdminClient, broker: FakeBroker) -> None:
    [done] = client.cold_data.update_threshold([broker.addr], "g", 20)
    assert done.result == ThresholdChange(10, 20)
    [again] = client.cold_data.update_threshold([broker.addr], "g", 20)
    assert again.result == ThresholdChange(20, 20)
    assert broker.asked_codes().count(2001) == 1
    [gone] = client.cold_data.remove_threshold([broker.addr], "g")
    assert gone.result == ThresholdChange(20, None)
    [none] = client.cold_data.remove_threshold([broker.addr], "g")
    assert isinstance(none.error, NotFound)


def test_a_yes_that_changed_nothing_and_a_no(client: AdminClient, broker: FakeBroker) -> None:
    broker.handlers[2001] = build_reply
    [ignored] = client.cold_data.update_threshold([broker.addr], "h", 20)
    assert isinstance(ignored.error, NotApplied)
    broker.handlers[2001] = refuse_with(16, "no")
    [refused] = client.cold_data.update_threshold([broker.addr], "h", 20)
    assert str(refused.error) == "NO_PERMISSION (16): no"
