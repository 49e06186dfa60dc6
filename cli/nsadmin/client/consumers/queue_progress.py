"""`admin.queue_progress`: offsets of single queues and groups, also of queues that are not in a route."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.consumers.committed_offsets import (
    CommittedOffset,
    read_committed_offsets,
    read_queue_offsets,
)
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import ServerResult


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

        Args:
            offset_commits: The offsets.

        Returns:
            One ServerResult per offset, in order: the broker's answer.
        """
        return self._caller.send_requests(
            (
                c.broker_addr,
                make_request(
                    RequestCode.UPDATE_CONSUMER_OFFSET,
                    broker_headers.ConsumerOffset(
                        c.group, c.queue.topic, c.queue.queue_id, commit_offset=c.offset
                    ),
                ),
            )
            for c in offset_commits
        )
