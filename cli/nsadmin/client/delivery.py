"""Delivery: a stored message handed to one consumer, or sent again."""

from typing import Any, NamedTuple

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from namesrv_core.protocol.messages import Message
from nsadmin.client import connections
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.messages import Located
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.retry import decoded
from nsadmin.client.running import CLIENT_TIMEOUT
from nsadmin.client.sending import Place, Sending, Sent
from nsadmin.client.tracks import Tracks

# Of RocketMQ's own properties (MessageConst upstream) those that tell what became of a message: they could
# turn a new one into half a transaction, a delayed one or a retry.
_FATE = frozenset(
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


class Receiver(NamedTuple):
    """A client that a message can be handed to, through the broker that stored the message."""

    item: Located
    broker_addr: str
    group: str
    client_id: str


class Handed(NamedTuple):
    """What a client made of a message: CR_SUCCESS, CR_LATER ...; `spent` is in ms."""

    consume_result: str
    spent: int | None
    remark: str | None


class Delivery:
    """`admin.delivery`."""

    def __init__(self, caller: Caller, tracks: Tracks, sending: Sending) -> None:
        self._caller = caller
        self._tracks = tracks
        self._sending = sending

    def receiver(self, item: Located, group: str, client_id: str) -> Receiver:
        """That client; NotFound if it is not connected to the broker of the message.

        NotApplied if it is no push consumer: others cannot be handed anything.
        """
        addr = self._tracks.addr_of(item)
        online = connections.consumers_of(self._caller, [group], [addr])[group]
        error = online.errors.get(addr)
        if error is not None:
            raise error
        there = [client.client_id for client in online.clients]
        if client_id not in there:
            known = f"there are {', '.join(there)}" if there else "nobody of it is"
            raise NotFound(f"no client {client_id!r} of {group!r} is connected to {addr}: {known}")
        if online.consume_type != "CONSUME_PASSIVELY":
            raise NotApplied(f"{group!r} takes nothing that is handed to it: it has no push consumers")
        return Receiver(item, addr, group, client_id)

    def hand(self, receiver: Receiver) -> Handed:
        """Have the client consume the message now (CONSUME_MESSAGE_DIRECTLY); no offset is moved by it."""
        message = receiver.item.message
        ext = broker_headers.ConsumeDirectly(
            receiver.group, receiver.client_id, message.offset_msg_id, message.topic
        )
        asked = request(RequestCode.CONSUME_MESSAGE_DIRECTLY, headers.write(ext))
        patience = max(CLIENT_TIMEOUT, self._caller.access.timeout)
        [answer] = self._caller.ask([(receiver.broker_addr, asked)], patience)
        _, handed, error = decoded(answer, _handed)
        if handed is None:
            raise error or RuntimeError(receiver.broker_addr)
        return handed

    def place_again(self, item: Located) -> Place:
        """Where to send a message once more: to the queue that it is in, if that takes any, else to any."""
        topic, queue_id = item.message.topic, item.message.queue_id
        try:
            return self._sending.place(topic, item.broker_name, queue_id)
        except NotFound:
            return self._sending.place(topic)

    def send_again(self, place: Place, message: Message) -> Sent:
        """The same body, keys, tags and the sender's own properties under the same unique key.

        NotApplied for a body that could not be inflated.
        """
        if message.body_error is not None:
            raise NotApplied(f"its body cannot be read: {message.body_error}")
        table = {
            name: value
            for name, value in message.properties.items()
            if name not in _FATE and not name.startswith("TIMER_")
        }
        return self._sending.send(place, message.body, properties=table)


def _handed(command: Command) -> Handed:
    body: dict[str, Any] = json_object(command)
    return Handed(str(body.get("consumeResult")), body.get("spentTimeMills"), body.get("remark"))
