"""Half messages as 5.x and 4.x brokers keep them, and when another check of a discarded one is refused."""

import pytest

from namesrv_core.errors import NotSupported
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.messages.transactions import DISCARDED_TOPIC, ENDED_TOPIC, HalfMessage
from nsadmin.client.results import OverReadLimit
from tests.support.dead_letter_brokers import HALF, DeadLetterBroker
from tests.support.fake_servers import answer_json
from tests.support.message_brokers import CREATED, GroupReader


def store_half(dlq: DeadLetterBroker, msg_id: str, topic: str = HALF, checks: int | None = None) -> None:
    counted = {} if checks is None else {"TRANSACTION_CHECK_TIMES": str(checks)}
    dlq.store_message(b"x", topic, 0, 0, UNIQ_KEY=msg_id, REAL_TOPIC="T", REAL_QID="0", PGROUP="P", **counted)


def list_ids(admin: AdminClient, dlq: DeadLetterBroker, limit: int = 100) -> list[tuple[str, int]]:
    [half_messages] = admin.transactions.list_half_messages([dlq.addr], limit)
    return [(half.message.msg_id, half.check_count) for half in half_messages.value().messages]


def test_ended_transactions_are_left_out(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for msg_id in ("A", "B", "C", "D"):
        store_half(dlq, msg_id)
    dlq.store_message(b"1,", ENDED_TOPIC, TAGS="d")
    dlq.store_message(b"3,0,", ENDED_TOPIC, TAGS="d")
    assert list_ids(admin, dlq) == [("C", 0)]
    [half_messages] = admin.transactions.list_half_messages([dlq.addr])
    [half] = half_messages.value().messages
    assert (half.topic, half.producer_group, half.message.body) == ("T", "P", b"")


def test_only_the_last_copy_of_a_checked_message_counts(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    store_half(dlq, "A")
    store_half(dlq, "B")
    store_half(dlq, "A", checks=1)
    assert list_ids(admin, dlq) == [("B", 0), ("A", 1)]
    dlq.readers["CID_RMQ_SYS_TRANS"] = GroupReader(offset=2)
    assert list_ids(admin, dlq) == [("A", 1)]


def test_what_is_beyond_the_limit_is_counted(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    for msg_id in ("A", "B", "C"):
        store_half(dlq, msg_id)
        store_half(dlq, msg_id, DISCARDED_TOPIC, 15)
    [first] = admin.transactions.list_half_messages([dlq.addr], 2)
    assert ([h.message.msg_id for h in first.value().messages], first.value().unread_count) == (["A", "B"], 1)
    [newest] = admin.transactions.list_discarded([dlq.addr], 2)
    assert ([h.message.msg_id for h in newest.value().messages], newest.value().unread_count) == (
        ["B", "C"],
        1,
    )
    for _ in range(3):
        dlq.store_message(b"0", ENDED_TOPIC)
    [unclear] = admin.transactions.list_half_messages([dlq.addr], 2)
    assert isinstance(unclear.error, OverReadLimit)


def test_a_4x_broker_does_not_let_clients_pull_ended_transactions(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    for msg_id in ("A", "B", "C"):
        store_half(dlq, msg_id)
    for body in (b"0", b"2"):
        dlq.store_message(body, ENDED_TOPIC)
    pull = dlq.handlers[RequestCode.PULL_MESSAGE]

    def refuse_ended(asked: RemotingCommand) -> RemotingCommand:
        if (asked.ext or {}).get("topic") == ENDED_TOPIC:
            return build_reply(asked, 17, remark="topic not exist")
        answer = pull(asked)
        assert isinstance(answer, RemotingCommand)
        return answer

    def list_entries(asked: RemotingCommand) -> RemotingCommand:
        positions = [m.physical_offset for m in dlq.stored_messages(ENDED_TOPIC)]
        entries = [{"physicOffset": p, "physicSize": 1, "tagsCode": 1, "eval": True} for p in positions]
        return answer_json(asked, {"minQueueIndex": 0, "maxQueueIndex": 2, "queueData": entries})

    dlq.handlers |= {RequestCode.PULL_MESSAGE: refuse_ended, RequestCode.QUERY_CONSUME_QUEUE: list_entries}
    assert list_ids(admin, dlq) == [("B", 0)]


def test_a_broker_with_half_messages_in_rocksdb_is_not_read(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.settings["transRocksDBEnable"] = "true"
    [half_messages] = admin.transactions.list_half_messages([dlq.addr])
    assert isinstance(half_messages.error, NotSupported)


def discarded(admin: AdminClient, dlq: DeadLetterBroker) -> HalfMessage:
    store_half(dlq, "A", DISCARDED_TOPIC, 15)
    [result] = admin.transactions.list_discarded([dlq.addr])
    return result.value().messages[0]


def test_a_discarded_message_is_checked_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    half = discarded(admin, dlq)
    dlq.handlers[RequestCode.QUERY_MESSAGE] = lambda asked: build_reply(asked, 22)
    dlq.handlers[RequestCode.RESUME_CHECK_HALF_MESSAGE] = build_reply
    admin.transactions.preview_resume(dlq.addr, half, CREATED)
    assert RequestCode.RESUME_CHECK_HALF_MESSAGE not in dlq.asked_codes()
    admin.transactions.resume_check(dlq.addr, half)
    assert (dlq.asked[-1].ext or {})["msgId"] == half.message.offset_msg_id


@pytest.mark.parametrize(
    ("settings", "other_topic", "text"),
    [
        ({"brokerRole": "SLAVE"}, None, "only a master checks half messages"),
        ({"fileReservedTime": "0"}, None, "older than fileReservedTime (0 h)"),
        ({}, HALF, "the broker checks the message already, as half message 7F000001"),
        ({}, "T", 'the transaction was committed: topic "T" has the message'),
    ],
)
def test_another_check_that_would_do_nothing_or_harm(
    admin: AdminClient, dlq: DeadLetterBroker, settings: dict[str, str], other_topic: str | None, text: str
) -> None:
    half = discarded(admin, dlq)
    dlq.settings |= settings
    if other_topic is not None:
        store_half(dlq, "A", other_topic)
    [born] = [m.born_timestamp for m in decode_messages(b"".join(dlq.queues[DISCARDED_TOPIC, 0])).messages]
    with pytest.raises(NotApplied) as raised:
        admin.transactions.preview_resume(dlq.addr, half, born + 1)
    assert text in str(raised.value)
