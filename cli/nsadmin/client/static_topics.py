"""The parts of a static topic's logical queues. A logical queue keeps its id while its parts change brokers.

Upstream: TopicQueueMappingDetail, TopicQueueMappingUtils, TopicStatusSubCommand.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded


class Part(NamedTuple):
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

    def logical(self, own_offset: int) -> int:
        """Convert an offset of the broker's own queue to an offset of the logical queue."""
        return self.logic_offset + max(0, own_offset - self.start_offset)


Mappings = dict[int, tuple[Part, ...]]
"""Logical queue id to its parts, the oldest first."""


def hosted(caller: Caller, topic: str, addrs: Iterable[str]) -> dict[str, ServerResult[Mappings]]:
    """Read the logical queues for which brokers receive messages (GET_TOPIC_CONFIG, 351).

    Returns:
        Broker address to a ServerResult: logical queue id to its parts, the oldest first.
    """
    ext = headers.write(broker_headers.LogicalTopic(topic))
    answers = caller.ask_each(dict.fromkeys(addrs), RequestCode.GET_TOPIC_CONFIG, ext)
    return {answer.addr: decoded(answer, _mappings) for answer in answers}


def _mappings(command: Command) -> Mappings:
    detail: Mapping[str, object] = json_object(command).get("mappingDetail") or {}
    queues = detail.get("hostedQueues")
    return {
        int(logical): tuple(
            Part(item["bname"], int(item["queueId"]), int(item["logicOffset"]), int(item["startOffset"]))
            for item in sorted(items, key=lambda item: int(item["gen"]))
        )
        for logical, items in (queues.items() if isinstance(queues, dict) else ())
    }
