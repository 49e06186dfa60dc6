"""The consumer offsets of groups. Brokers before 5.0 need a second request to distinguish 0 from "never"."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import to_integer
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object, parse_offset
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import NotFound

CommittedOffsets = Mapping[str, Mapping[int, int]]
""" "topic@group" to queue id to offset. A missing entry was never committed."""


class CommittedOffset(NamedTuple):
    """The consumer offset of a group on a queue.

    Attributes:
        offset: The offset; None without an error means that the group never committed one.
        error: The error; None after a success.
    """

    offset: int | None
    error: RocketMQError | None


def read_committed_offsets(
    caller: Caller, wanted_queues: Iterable[tuple[str, str, MessageQueue]]
) -> list[CommittedOffset]:
    """Read consumer offsets (QUERY_CONSUMER_OFFSET, 14).

    A broker before 5.0 answers 0 for "never" while it still has the first message of the queue. Such a 0 is
    checked against the table of all its offsets (GET_ALL_CONSUMER_OFFSET, 43).
    """
    wanted_queues = list(wanted_queues)
    answers = caller.send_requests((addr, _build_query(group, queue)) for addr, group, queue in wanted_queues)
    offset_results = [decode_answer(answer, parse_offset) for answer in answers]
    doubtful_addrs = {
        answer.addr
        for answer, offset_value in zip(answers, offset_results, strict=True)
        if offset_value.result == 0 and answer.result is not None and answer.result.version < V5_0_0
    }
    tables_by_addr = {
        answer.addr: decode_answer(answer, parse_all_committed)
        for answer in caller.send_to_each(sorted(doubtful_addrs), RequestCode.GET_ALL_CONSUMER_OFFSET)
    }
    offsets = []
    for (broker_addr, group, queue), (_, offset_value, error) in zip(
        wanted_queues, offset_results, strict=True
    ):
        if offset_value == 0 and broker_addr in tables_by_addr:
            _, offset_table, error = tables_by_addr[broker_addr]
            offset_value = (
                None
                if offset_table is None
                else offset_table.get(f"{queue.topic}@{group}", {}).get(queue.queue_id)
            )
        offsets.append(CommittedOffset(offset_value, None if isinstance(error, QueryNotFound) else error))
    return offsets


def read_queue_offsets(
    caller: Caller,
    queue_places: Iterable[tuple[str, MessageQueue]],
    request_code: RequestCode,
    timestamp_ms: int | None = None,
) -> list[int | RocketMQError]:
    """Read one offset of each queue."""
    answers = caller.send_requests(
        (a, make_request(request_code, broker_headers.QueueOffset(queue.topic, queue.queue_id, timestamp_ms)))
        for a, queue in queue_places
    )
    offset_results = [decode_answer(answer, parse_offset) for answer in answers]
    return [r.result if r.result is not None else r.error or NotFound("") for r in offset_results]


def _build_query(group: str, queue: MessageQueue) -> RemotingCommand:
    fields = broker_headers.ConsumerOffset(group, queue.topic, queue.queue_id, set_zero_if_not_found=False)
    return make_request(RequestCode.QUERY_CONSUMER_OFFSET, fields)


def parse_all_committed(response: RemotingCommand) -> CommittedOffsets:
    """Parse a ConsumerOffsetSerializeWrapper body."""
    return {
        topic_and_group: {
            to_integer(queue_id, "a queue id"): to_integer(offset, topic_and_group)
            for queue_id, offset in offsets.members.items()
        }
        for topic_and_group, offsets in parse_json_object(response).child("offsetTable").sorted_children()
    }
