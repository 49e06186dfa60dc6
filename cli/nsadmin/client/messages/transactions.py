"""TransactionEnder: commits half messages, or rolls them back."""

from collections.abc import Sequence

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.messages.message_sender import PRODUCER_GROUP, SentMessage
from nsadmin.client.results import ServerResult

COMMIT, ROLLBACK = "commit", "rollback"
TRANSACTION_OUTCOMES = (COMMIT, ROLLBACK)
PREPARED_FLAG = 0x4
HALF_PROPERTIES = {"TRAN_MSG": "true", "PGROUP": PRODUCER_GROUP}
"""The properties that make a message a half message: brokers hide it from consumers until its commit."""
_FLAGS_BY_OUTCOME = {COMMIT: 0x8, ROLLBACK: 0xC}


class TransactionEnder:
    """Ends transactions."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def end_transactions(
        self, half_messages: Sequence[SentMessage], outcome: str
    ) -> list[ServerResult[SentMessage]]:
        """Commit half messages, or roll them back, all at once (END_TRANSACTION, 37)."""
        answers = self._caller.send_requests(
            [
                (
                    message.send_queue.broker_addr,
                    make_request(RequestCode.END_TRANSACTION, _build_header(message, outcome)),
                )
                for message in half_messages
            ]
        )
        return [
            ServerResult(answer.addr, half_message._replace(offset_msg_id=None, queue_offset=None), None)
            if answer.error is None
            else ServerResult(answer.addr, None, _describe_failure(half_message, outcome, answer.error))
            for half_message, answer in zip(half_messages, answers, strict=True)
        ]


def _build_header(half_message: SentMessage, outcome: str) -> broker_headers.EndTransaction:
    return broker_headers.EndTransaction(
        topic=half_message.send_queue.topic,
        producer_group=PRODUCER_GROUP,
        tran_state_table_offset=half_message.queue_offset or 0,
        # The id is the address of the broker and the position, in hexadecimal digits.
        commit_log_offset=int((half_message.offset_msg_id or "0")[-16:], 16),
        commit_or_rollback=_FLAGS_BY_OUTCOME[outcome],
        msg_id=half_message.msg_id,
        transaction_id=half_message.msg_id,
    )


def _describe_failure(half_message: SentMessage, outcome: str, error: RocketMQError) -> RocketMQError:
    message_text = f"the {outcome} of {half_message.msg_id}"
    if isinstance(error, RequestError):
        return RequestError(f"{message_text} failed, so no consumer gets it: {error.remark}", error.code)
    if isinstance(error, CallError):
        outcome_text = "may have failed" if error.was_sent else "failed, so no consumer gets it"
        return CallError(error.addr, error.kind, f"{message_text} {outcome_text}: {error.reason}")
    return error
