"""Which brokers are asked for single queues, because their answers do not follow from their tables."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder
from nsadmin.operations.bundles.broker_table_reader import BrokerTableReader, merge_names
from tests.support.fake_servers import FakeBroker, answer_json


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with FakeBroker() as broker:
        broker.handlers |= {
            RequestCode.GET_ALL_CONSUMER_OFFSET: lambda asked: answer_json(asked, {"offsetTable": {}}),
            RequestCode.GET_BROKER_CONSUME_STATS: lambda asked: answer_json(asked, {"consumeStatsList": []}),
        }
        yield broker


@pytest.mark.parametrize(("version", "is_asked"), [("V5_5_0", False), ("V4_9_7", True)])
def test_only_an_old_broker_is_asked_for_single_queues(
    broker: FakeBroker, version: str, is_asked: bool
) -> None:
    broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = lambda asked: answer_json(
        asked, {"table": {"brokerVersionDesc": version}}
    )
    access = Access(timeout=2, answers=AnswerRecorder())
    with AdminClient("127.0.0.1:1", access=access, read_only=True) as admin:
        tables = BrokerTableReader(admin, access.timeout)
        for read_table in tables.list_reads():
            read_table([broker.addr])
    assert tables.has_queues_to_ask is is_asked
    assert broker.asked_codes().count(RequestCode.GET_BROKER_CONSUME_STATS) == 1


def test_names_are_merged() -> None:
    assert merge_names([]) == []
