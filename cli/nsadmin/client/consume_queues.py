"""Consume queues: the entries of a queue as a broker has them, which lead to messages in its commit log."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.replicas import Inquiry, addrs_of, ask_replicas
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import QueueRoute


class Entry(NamedTuple):
    """One entry: the message's place in the commit log and its size (bytes), and the hash of its tag.

    Of a message that waits for its time, `tags_code` is when that is, in ms. `bit_map` and `extend_data` are
    there where filters are calculated in advance. `eval` is whether the filter of the group that was named
    takes the message, of which `msg` says why not.
    """

    offset: int
    physic_offset: int
    physic_size: int
    tags_code: int
    extend_data: str | None
    bit_map: str | None
    eval: bool
    msg: str | None


class QueueEntries(NamedTuple):
    """Some entries of a queue that has those from `min_index` to before `max_index`.

    `filter_data` is what the broker says of the subscription of the group that was named.
    """

    min_index: int
    max_index: int
    entries: tuple[Entry, ...]
    filter_data: str | None


class ConsumeQueues:
    """`admin.consume_queues`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def entries(
        self,
        brokers: Sequence[QueueRoute],
        topic: str,
        queue_id: int,
        index: int,
        count: int,
        group: str | None = None,
    ) -> list[ServerResult[QueueEntries]]:
        """Up to `count` entries from `index` on, as each of these brokers has them (QUERY_CONSUME_QUEUE).

        NotFound where a broker has none at `index`.
        """
        asked = _request(topic, queue_id, index, count, group)
        inquiries = [Inquiry(item.broker_name, addrs_of(item), asked) for item in brokers]
        answers = ask_replicas(self._caller, inquiries)
        return [decoded(answer, lambda command: _entries(command, index)) for answer in answers]

    def entries_at(
        self, addr: str, topic: str, queue_id: int, index: int, count: int, group: str | None = None
    ) -> ServerResult[QueueEntries]:
        """The same of the broker at this address."""
        [answer] = self._caller.ask([(addr, _request(topic, queue_id, index, count, group))])
        return decoded(answer, lambda command: _entries(command, index))


def _request(topic: str, queue_id: int, index: int, count: int, group: str | None) -> Command:
    ext = {"topic": topic, "queueId": str(queue_id), "index": str(index), "count": str(count)}
    return request(RequestCode.QUERY_CONSUME_QUEUE, ext | ({"consumerGroup": group} if group else {}))


def _entries(command: Command, index: int) -> QueueEntries:
    if not command.body:
        raise NotFound(command.remark or f"it has no entry {index}")
    body = json_object(command)
    listed = body.get("queueData") or ()
    return QueueEntries(
        int(body["minQueueIndex"]),
        int(body["maxQueueIndex"]),
        tuple(_entry(at, item) for at, item in enumerate(listed, index)),
        _text(body.get("filterData")),
    )


def _entry(at: int, item: Mapping[str, Any]) -> Entry:
    return Entry(
        at,
        int(item["physicOffset"]),
        int(item["physicSize"]),
        int(item["tagsCode"]),
        _text(item.get("extendDataJson")),
        _text(item.get("bitMap")),
        bool(item.get("eval")),
        _text(item.get("msg")),
    )


def _text(value: Any) -> str | None:
    """Brokers write "null" for what is not there."""
    return None if value in (None, "null", "") else str(value)
