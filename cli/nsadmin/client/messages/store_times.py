"""Store times of single messages, to recognise the messages of a queue again."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import decode_answer
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.message_queries import PULL_RESPONSE_CODES, decode_pulled_messages
from nsadmin.client.results import ServerResult


class MessagePlace(NamedTuple):
    """The place of a message: a broker, a queue and an offset."""

    broker_addr: str
    queue: MessageQueue
    offset: int


def read_store_times(
    caller: Caller, message_places: Iterable[MessagePlace]
) -> list[ServerResult[int | None]]:
    """Return when messages were stored, in ms since 1970 (PULL_MESSAGE, 11).

    Args:
        caller: The connections.
        message_places: The places of the messages.

    Returns:
        One ServerResult per place, in order; None if the queue has no message at this offset.
    """
    message_places = list(message_places)
    calls = [
        (
            place.broker_addr,
            build_request(
                RequestCode.PULL_MESSAGE,
                headers.write_header(
                    broker_headers.PullMessage(
                        topic=place.queue.topic,
                        queue_id=place.queue.queue_id,
                        queue_offset=place.offset,
                        max_msg_nums=1,
                    )
                ),
            ),
        )
        for place in message_places
    ]
    answers = caller.send_requests(calls, accepted_codes=PULL_RESPONSE_CODES)
    return [
        decode_answer(
            answer,
            lambda response, place=place: next(  # type: ignore[misc]
                (
                    message.store_timestamp
                    for message in decode_pulled_messages(response)
                    if message.queue_offset == place.offset
                ),
                None,
            ),
        )
        for place, answer in zip(message_places, answers, strict=True)
    ]
