"""Static topics: queues with numbers that stay while brokers change; each is put together of brokers' own.

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
    """A part of a logical queue: the messages that a broker's own queue has from `start_offset` on.

    In the logical queue that one is at `logic_offset`, which is below 0 as long as it is not decided.
    """

    broker_name: str
    queue_id: int
    logic_offset: int
    start_offset: int

    def logical(self, own_offset: int) -> int:
        """An offset of the broker's own queue as the logical one counts."""
        return self.logic_offset + max(0, own_offset - self.start_offset)


Mappings = dict[int, tuple[Part, ...]]
"""Logical queue id to its parts, the oldest first."""


def hosted(caller: Caller, topic: str, addrs: Iterable[str]) -> dict[str, ServerResult[Mappings]]:
    """The logical queues that each of these brokers takes messages for (GET_TOPIC_CONFIG), by address."""
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
