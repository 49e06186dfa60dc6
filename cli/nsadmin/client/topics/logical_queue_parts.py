"""The parts of a static topic's logical queues. A logical queue keeps its id while its parts change brokers.

Upstream: TopicQueueMappingDetail, TopicQueueMappingUtils, TopicStatusSubCommand.
"""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import to_integer
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.results import ServerResult


class QueuePart(NamedTuple):
    """A part of a logical queue.

    Attributes:
        broker_name: The broker.
        queue_id: The broker's own queue.
        logic_offset: The first offset in the logical queue; negative while undecided.
        start_offset: The first offset in the broker's own queue.
    """

    broker_name: str
    queue_id: int
    logic_offset: int
    start_offset: int

    def to_logical_offset(self, own_offset: int) -> int:
        """Convert an offset of the broker's own queue to an offset of the logical queue."""
        return self.logic_offset + max(0, own_offset - self.start_offset)


PartsByLogicalId = dict[int, tuple[QueuePart, ...]]
"""Logical queue id to its parts, the oldest first."""


def read_hosted_queues(
    caller: Caller, topic: str, broker_addrs: Iterable[str]
) -> dict[str, ServerResult[PartsByLogicalId]]:
    """Read the logical queues for which brokers receive messages (GET_TOPIC_CONFIG, 351)."""
    ext_fields = broker_headers.LogicalTopic(topic)
    answers = caller.send_to_each(dict.fromkeys(broker_addrs), RequestCode.GET_TOPIC_CONFIG, ext_fields)
    return {answer.addr: decode_answer(answer, _parse_hosted_queues) for answer in answers}


def _parse_hosted_queues(response: RemotingCommand) -> PartsByLogicalId:
    hosted_queues = parse_json_object(response).child("mappingDetail").child("hostedQueues")
    return {
        to_integer(logical_id, "a logical queue"): tuple(
            QueuePart(
                item.text("bname"),
                item.integer("queueId"),
                item.integer("logicOffset"),
                item.integer("startOffset"),
            )
            for item in sorted(hosted_queues.children(logical_id), key=lambda item: item.integer("gen"))
        )
        for logical_id in hosted_queues.members
    }
