"""`admin.queue_progress`: offsets of single queues and groups, also of queues that are not in a route."""

from collections.abc import Iterable, Mapping, Sequence
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
from nsadmin.client.results import NotFound, ServerResult

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


class OffsetCommit(NamedTuple):
    """An offset to commit.

    Attributes:
        broker_addr: The broker address.
        group: The consumer group.
        queue: The queue.
        offset: The next message to consume.
    """

    broker_addr: str
    group: str
    queue: MessageQueue
    offset: int


class QueueProgress:
    """`admin.queue_progress`: offsets of single queues and groups."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_end_offsets(self, queue_places: Sequence[tuple[str, MessageQueue]]) -> list[int | RocketMQError]:
        """Return the offset after the last message of each queue (GET_MAX_OFFSET, 30).

        Args:
            queue_places: Pairs of (broker address, queue). The topic may have fewer queues now.

        Returns:
            The offset or the error of each queue, in order.
        """
        return read_queue_offsets(self._caller, queue_places, RequestCode.GET_MAX_OFFSET)

    def get_committed_offsets(
        self, group_queues: Sequence[tuple[str, str, MessageQueue]]
    ) -> list[CommittedOffset]:
        """Return the consumer offset of each group on each queue (QUERY_CONSUMER_OFFSET, 14).

        Args:
            group_queues: Triples of (broker address, group, queue).

        Returns:
            One CommittedOffset per triple, in order.
        """
        return read_committed_offsets(self._caller, group_queues)

    def commit_offsets(self, offset_commits: Sequence[OffsetCommit]) -> list[ServerResult[RemotingCommand]]:
        """Commit offsets (UPDATE_CONSUMER_OFFSET, 15). Connected consumers overwrite them.

        Returns:
            One ServerResult per offset, in order: the broker's answer.
        """
        headers = [
            broker_headers.ConsumerOffset(c.group, c.queue.topic, c.queue.queue_id, commit_offset=c.offset)
            for c in offset_commits
        ]
        return self._caller.send_requests(
            (commit.broker_addr, make_request(RequestCode.UPDATE_CONSUMER_OFFSET, header))
            for commit, header in zip(offset_commits, headers, strict=True)
        )


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
    code = RequestCode.GET_ALL_CONSUMER_OFFSET
    tables_by_addr = {r.addr: r for r in caller.read_each(sorted(doubtful_addrs), parse_all_committed, code)}
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


def find_topics_with_offsets(committed_offsets: CommittedOffsets, group: str) -> list[str]:
    """The topics of which the group has offsets, without those of clients that broadcast."""
    places = (key.split("@") for key in committed_offsets)
    return sorted(topic for topic, *groups in places if groups == [group])


def parse_all_committed(response: RemotingCommand) -> CommittedOffsets:
    """Parse a ConsumerOffsetSerializeWrapper body."""
    return {
        topic_and_group: {
            to_integer(queue_id, "a queue id"): to_integer(offset, topic_and_group)
            for queue_id, offset in offsets.members.items()
        }
        for topic_and_group, offsets in parse_json_object(response).child("offsetTable").sorted_children()
    }
