"""What consumers still need of removed queues, on a scripted broker."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.operations.removed_queues import RemovedQueues, count_removed_messages
from tests.support.fake_servers import answer_json, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config


@pytest.mark.parametrize(("consumed", "unconsumed"), [((50, 50), 0), ((43, 50), 7), (None, None)])
def test_messages_count_until_each_group_has_consumed_them(
    consumed: tuple[int, int] | None, unconsumed: int | None
) -> None:
    with TopicBroker(topic_config("T")) as a, AdminClient("h:1", timeout=5) as client:
        a.offsets["T"] = {n: {"minOffset": 0, "maxOffset": 50} for n in range(4)}
        removal = RemovedQueues(a.addr, "T", range(2, 4))
        groups: list[str] = []
        a.handlers[RequestCode.QUERY_TOPIC_CONSUME_BY_WHO] = lambda asked: answer_json(
            asked, {"groupList": groups}
        )
        [unread] = count_removed_messages(client, [removal])
        assert (unread.stored, unread.unconsumed_count) == (100, 100)
        groups += ["G"]
        a.handlers[RequestCode.GET_CONSUME_STATS] = (
            a.answer_lags((50, 1), (50, 1), *((50, offset) for offset in consumed))
            if consumed
            else refuse_with(1, "broken")
        )
        [counted] = count_removed_messages(client, [removal])
    assert (counted.stored, counted.unconsumed_count) == (100, unconsumed)
