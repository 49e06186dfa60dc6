"""The end of transactions: what the broker is told, and what is said if it does not work."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.messages.transactions import TransactionEnder
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import answer_nothing, closed_port


def half(broker_addr: str) -> SentMessage:
    return SentMessage(
        SendQueue("T", "broker-a", broker_addr, 0), "ID", "7F0000010000000100000000000003E8", 7
    )


@pytest.mark.parametrize(("outcome", "flag"), [("commit", "8"), ("rollback", "12")])
def test_a_broker_finds_the_half_message_by_both_offsets(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker, outcome: str, flag: str
) -> None:
    TransactionEnder(admin._caller).end_transactions([half(dead_letter_broker.addr)], outcome)
    [ended_transaction] = dead_letter_broker.ended
    ended_transaction.pop("bname", None)
    assert ended_transaction == {
        "topic": "T", "producerGroup": "TOOLS_PRODUCER", "tranStateTableOffset": "7",
        "commitLogOffset": "1000", "commitOrRollback": flag, "fromTransactionCheck": "false", "msgId": "ID",
        "transactionId": "ID",
    }  # fmt: skip


def test_a_refused_commit_leaves_a_message_that_no_consumer_gets(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    [result] = TransactionEnder(admin._caller).end_transactions([half(dead_letter_broker.addr)], "commit")
    assert isinstance(result.error, RequestError)
    assert (result.error.code, str(result.error)) == (
        1,
        "SYSTEM_ERROR (1): the commit of ID failed, so no consumer gets it: "
        "Find prepared transaction message failed",
    )  # fmt: skip


def test_without_an_answer_the_outcome_is_unknown(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    dead_letter_broker.handlers[37] = answer_nothing
    ender = TransactionEnder(admin._caller)
    [unanswered] = ender.end_transactions([half(dead_letter_broker.addr)], "commit")
    [unreachable] = ender.end_transactions([half(f"127.0.0.1:{closed_port()}")], "rollback")
    assert isinstance(unanswered.error, CallError)
    assert unanswered.error.reason.startswith("the commit of ID may have failed: no answer")
    assert isinstance(unreachable.error, CallError)
    assert unreachable.error.reason.startswith("the rollback of ID failed, so no consumer gets it: ")
