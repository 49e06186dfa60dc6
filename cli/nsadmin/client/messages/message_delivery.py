"""`admin.delivery`: delivery of a stored message to one client, and resends."""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.consumers.client_runtime import CLIENT_TIMEOUT_SECONDS
from nsadmin.client.consumers.connected_clients import read_consumers
from nsadmin.client.messages.consume_tracks import ConsumeTracks
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_sender import MessageSender, SendQueue, SentMessage
from nsadmin.client.results import NotApplied, NotFound

# RocketMQ's properties (MessageConst upstream) that record the fate of a message. On a resent message they
# could make it half of a transaction, a delayed message or a retry.
_FATE_PROPERTIES = frozenset(
    {
        "WAIT", "DELAY", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID", "TRAN_MSG", "PGROUP", "MIN_OFFSET",
        "MAX_OFFSET", "ORIGIN_MESSAGE_ID", "ORIGIN_GROUP", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG",
        "RECONSUME_TIME", "MSG_REGION", "TRACE_ON", "EXTEND_UNIQ_INFO", "MAX_RECONSUME_TIMES",
        "CONSUME_START_TIME", "INNER_NUM", "INNER_BASE", "DUP_INFO", "CHECK_IMMUNITY_TIME_IN_SECONDS",
        "TRAN_PREPARED_QUEUE_OFFSET", "TRANSACTION_CHECK_TIMES", "CORRELATION_ID", "REPLY_TO_CLIENT",
        "TTL", "MSG_TYPE", "ARRIVE_TIME", "PUSH_REPLY_TIME", "CLUSTER", "POP_CK", "POP_CK_OFFSET",
        "1ST_POP_TIME", "INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET", "__CRC32#",
        "DLQ_ORIGIN_TOPIC", "DLQ_ORIGIN_MESSAGE_ID", "__BORNHOST", "BORN_TIMESTAMP",
    }
)  # fmt: skip


class MessageReceiver(NamedTuple):
    """A client that can receive a message, through the broker that stored the message."""

    located_message: LocatedMessage
    broker_addr: str
    group: str
    client_id: str


class DeliveryOutcome(NamedTuple):
    """The outcome of a delivery.

    Attributes:
        consume_result: The client's result, such as "CR_SUCCESS" or "CR_LATER".
        spent_ms: The duration of the consumption in ms; None if not reported.
        remark: The client's remark, or None.
    """

    consume_result: str
    spent_ms: int | None
    remark: str | None


class MessageDelivery:
    """`admin.delivery`: delivery of a stored message to one client, and resends."""

    def __init__(self, caller: Caller, tracks: ConsumeTracks, message_sender: MessageSender) -> None:
        self._caller, self._tracks, self._message_sender = caller, tracks, message_sender

    def find_receiver(self, located_message: LocatedMessage, group: str, client_id: str) -> MessageReceiver:
        """Find a client on the broker of a message (GET_CONSUMER_CONNECTION_LIST, 203).

        Returns:
            The client, for `deliver_message`.

        Raises:
            NotFound: The client is not connected to that broker.
            NotApplied: The group has no push consumers, and only these accept a delivery.
            RocketMQError: The broker refused or did not answer.
        """
        broker_addr = self._tracks.find_broker_addr(located_message)
        group_connections = read_consumers(self._caller, [group], [broker_addr])[group]
        error = group_connections.errors.get(broker_addr)
        if error is not None:
            raise error
        client_ids = [connected_client.client_id for connected_client in group_connections.clients]
        if not client_ids:
            raise NotFound(f'no client of group "{group}" is connected to {broker_addr}')
        if client_id not in client_ids:
            raise NotFound(
                f'no client "{client_id}" of group "{group}" is connected to {broker_addr}: use one of '
                f"{', '.join(client_ids)}"
            )
        if group_connections.consume_type != "CONSUME_PASSIVELY":
            raise NotApplied(f'group "{group}" accepts no pushed message: it has no push consumers')
        return MessageReceiver(located_message, broker_addr, group, client_id)

    def deliver_message(self, receiver: MessageReceiver) -> DeliveryOutcome:
        """Make the client consume the message now (CONSUME_MESSAGE_DIRECTLY, 309). No offset changes.

        Returns:
            The outcome that the client reports.

        Raises:
            RocketMQError: The broker or the client refused or did not answer.
        """
        message = receiver.located_message.message
        ext_fields = broker_headers.ConsumeDirectly(
            receiver.group, receiver.client_id, message.offset_msg_id, message.topic
        )
        command = make_request(RequestCode.CONSUME_MESSAGE_DIRECTLY, ext_fields)
        timeout_seconds = max(CLIENT_TIMEOUT_SECONDS, self._caller.access.timeout)
        [answer] = self._caller.send_requests([(receiver.broker_addr, command)], timeout_seconds)
        return decode_answer(answer, _parse_outcome).value()

    def choose_resend_queue(self, located_message: LocatedMessage) -> SendQueue:
        """Choose the queue for a resend: the message's own queue if it is writable, else any queue.

        Raises:
            NotFound: The topic has no writable queue.
            TopicNotExist: The topic has no route.
        """
        topic, queue_id = located_message.message.topic, located_message.message.queue_id
        try:
            return self._message_sender.choose_queue(topic, located_message.broker_name, queue_id)
        except NotFound:
            return self._message_sender.choose_queue(topic)

    def resend_message(self, send_queue: SendQueue, message: StoredMessage) -> SentMessage:
        """Send a message again (SEND_MESSAGE_V2, 310), with its body, keys, tag, properties and unique key.

        Returns:
            The stored copy, with its own place in the queue.

        Raises:
            NotApplied: The body could not be decompressed.
            RocketMQError: The broker refused or did not answer.
        """
        if message.body_error is not None:
            raise NotApplied(f"the body of the message is malformed: {message.body_error}")
        own_properties = drop_fate_properties(message.properties)
        return self._message_sender.send_message(send_queue, message.body, properties=own_properties)


def drop_fate_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the producer set, without those that record the fate of the message."""
    return {n: v for n, v in properties.items() if n not in _FATE_PROPERTIES and not n.startswith("TIMER_")}


def _parse_outcome(response: RemotingCommand) -> DeliveryOutcome:
    body = parse_json_object(response)
    return DeliveryOutcome(
        body.text("consumeResult"), body.integer("spentTimeMills", None), body.text("remark", None)
    )
