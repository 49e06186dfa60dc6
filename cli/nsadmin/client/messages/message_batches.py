"""Batches: messages of one queue that a broker stores together and in order, with one request."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import encode_batch_message, require_short_properties
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, read_ext_fields
from nsadmin.client.messages.message_sender import STORED_UNSAFELY_CODES, OutgoingMessage, build_send_command
from nsadmin.client.results import ServerResult


class StoredBatch(NamedTuple):
    """A stored batch.

    Attributes:
        begin_offset: The queue offset of its first message. The others follow without a gap.
        is_safe: False if a flush or a slave was late.
    """

    begin_offset: int
    is_safe: bool


def send_batches(
    caller: Caller, batches: Sequence[Sequence[OutgoingMessage]]
) -> list[ServerResult[StoredBatch]]:
    """Send batches at once (SEND_BATCH_MESSAGE, 320). A batch of one is sent with SEND_MESSAGE_V2 (310).

    All messages of a batch have the queue and the sysFlag of the first, and its producer's time.
    """
    commands = [_build_command(batch) for batch in batches]
    answers = caller.send_requests(
        [(batch[0].send_queue.broker_addr, c) for batch, c in zip(batches, commands, strict=True)],
        accepted_codes=(0, *STORED_UNSAFELY_CODES),
    )
    return [decode_answer(answer, _parse_answer) for answer in answers]


def _build_command(batch: Sequence[OutgoingMessage]) -> RemotingCommand:
    first_command = build_send_command(batch[0])
    if len(batch) == 1:
        require_short_properties(((first_command.ext or {})["i"] or "").encode())
        return first_command
    # The broker adds the properties of the header to each message (MessageExtEncoder).
    ext_fields = {**(first_command.ext or {}), "h": "0", "i": "", "m": "true"}
    batch_body = b"".join(encode_batch_message(m.body, m.properties, m.flag) for m in batch)
    return make_request(RequestCode.SEND_BATCH_MESSAGE, ext_fields, batch_body)


def _parse_answer(response: RemotingCommand) -> StoredBatch:
    return StoredBatch(read_ext_fields(response).integer("queueOffset"), response.code == 0)
