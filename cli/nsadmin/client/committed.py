"""Committed: the offsets that groups have committed, of which brokers before 5.0 do not tell all at once."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import QueryNotFound, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.queues import MessageQueue
from nsadmin.client.retry import decoded

CommittedOffsets = Mapping[str, Mapping[int, int]]
"""Offsets by queue id, by "topic@group"; what is not there was never committed."""


class Offset(NamedTuple):
    """What a broker has committed for a group on a queue: `result` None without an error is "never"."""

    result: int | None
    error: RocketMQError | None


def committed(caller: Caller, wanted: Iterable[tuple[str, str, MessageQueue]]) -> list[Offset]:
    """The committed offset of each (broker address, group, queue), in that order.

    Before 5.0 a broker says 0 for "never" as long as it has the first message of the queue: such a 0 is
    looked up in the table of all its offsets.
    """
    wanted = list(wanted)
    answers = caller.ask((addr, _query(group, queue)) for addr, group, queue in wanted)
    offsets = [decoded(answer, offset_of) for answer in answers]
    doubtful = {
        answer.addr
        for answer, offset in zip(answers, offsets, strict=True)
        if offset.result == 0 and answer.result is not None and answer.result.version < V5_0_0
    }
    tables = {
        answer.addr: decoded(answer, all_committed)
        for answer in caller.ask_each(sorted(doubtful), RequestCode.GET_ALL_CONSUMER_OFFSET)
    }
    found = []
    for (addr, group, queue), (_, offset, error) in zip(wanted, offsets, strict=True):
        if offset == 0 and addr in tables:
            _, table, error = tables[addr]
            offset = None if table is None else table.get(f"{queue.topic}@{group}", {}).get(queue.queue_id)
        found.append(Offset(offset, None if isinstance(error, QueryNotFound) else error))
    return found


def offset_of(command: Command) -> int:
    """The ext field `offset`."""
    return int((command.ext or {})["offset"] or "")


def _query(group: str, queue: MessageQueue) -> Command:
    ext = broker_headers.ConsumerOffset(group, queue.topic, queue.queue_id, set_zero_if_not_found=False)
    return request(RequestCode.QUERY_CONSUMER_OFFSET, headers.write(ext))


def all_committed(command: Command) -> CommittedOffsets:
    """ConsumerOffsetSerializeWrapper."""
    table: Mapping[str, Any] = json_object(command).get("offsetTable") or {}
    return {key: {int(queue): int(offset) for queue, offset in item.items()} for key, item in table.items()}
