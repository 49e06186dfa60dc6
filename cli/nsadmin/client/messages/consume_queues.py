"""`admin.consume_queues`: the entries of a broker's consume queue, which point into its commit log."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol.broker_headers import QueueOffset
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object, parse_offset
from nsadmin.client.message_queues import describe_offsets
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute


class NoSuchQueue(NotFound):
    """The broker has no consume queue of this topic and id."""


class ConsumeQueueEntry(NamedTuple):
    """One entry of a consume queue.

    Attributes:
        offset: The queue offset.
        physic_offset: The position of the message in the commit log, in bytes.
        physic_size: The size of the message in bytes.
        tags_code: The hash of the tag; the delivery time in ms for a delayed message.
        extend_data: Further data as JSON, if the broker computes filters in advance; else None.
        bit_map: The bit map of filters, if the broker computes them in advance; else None.
        is_match: Whether the filter of the given group accepts the message.
        mismatch_reason: Why the filter does not accept the message; None otherwise.
    """

    offset: int
    physic_offset: int
    physic_size: int
    tags_code: int
    extend_data: str | None
    bit_map: str | None
    is_match: bool
    mismatch_reason: str | None


class QueueEntries(NamedTuple):
    """Some entries of a consume queue.

    Attributes:
        min_index: The first queue offset that exists.
        max_index: The queue offset after the last one.
        entries: The entries.
        filter_data: The subscription of the given group, as the broker knows it; None without a subscription.
    """

    min_index: int
    max_index: int
    entries: tuple[ConsumeQueueEntry, ...]
    filter_data: str | None


class ConsumeQueues:
    """`admin.consume_queues`: the consume queue entries of brokers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def read_entries(
        self,
        queue_routes: Sequence[QueueRoute],
        topic: str,
        queue_id: int,
        begin_index: int,
        entry_count: int,
        group: str | None = None,
    ) -> list[ServerResult[QueueEntries]]:
        """Read consume queue entries from brokers (QUERY_CONSUME_QUEUE, 321).

        Asks the master of each broker, or a slave if the master does not answer.

        Args:
            queue_routes: The brokers.
            topic: The topic.
            queue_id: The queue.
            begin_index: The first queue offset.
            entry_count: The maximum number of entries.
            group: Evaluate the filter of this group. Default: no filter.

        Returns:
            One ServerResult per broker, in order. The error is NotFound without an entry at `begin_index`.
        """
        command = _build_request(topic, queue_id, begin_index, entry_count, group)
        answers = ask_replicas(self._caller, [(route, command) for route in queue_routes])
        return self._decode_answers(answers, topic, queue_id, begin_index)

    def read_entries_at(
        self,
        broker_addr: str,
        topic: str,
        queue_id: int,
        begin_index: int,
        entry_count: int,
        group: str | None = None,
    ) -> ServerResult[QueueEntries]:
        """Read consume queue entries from one broker address; otherwise like `read_entries`."""
        answers = self._caller.send_requests(
            [(broker_addr, _build_request(topic, queue_id, begin_index, entry_count, group))]
        )
        return self._decode_answers(answers, topic, queue_id, begin_index)[0]

    def _decode_answers(
        self, answers: Iterable[ServerResult[RemotingCommand]], topic: str, queue_id: int, begin_index: int
    ) -> list[ServerResult[QueueEntries]]:
        results = [decode_answer(a, lambda response: _parse_entries(response, begin_index)) for a in answers]
        missing = f"{queue_id}@{topic} is not exist!"
        results = [
            r._replace(error=NoSuchQueue(f"{topic} has no queue {queue_id} on this broker"))
            if isinstance(r.error, RequestError) and r.error.remark == missing
            else r
            for r in results
        ]
        # An answer without entries does not say which offsets there are.
        addrs = [r.addr for r in results if type(r.error) is NotFound]
        begins, ends = (
            [
                r.result
                for r in self._caller.read_each(addrs, parse_offset, code, QueueOffset(topic, queue_id))
            ]
            for code in (RequestCode.GET_MIN_OFFSET, RequestCode.GET_MAX_OFFSET)
        )
        errors = {
            addr: NotFound(
                f"queue {queue_id} of {topic} has no entry at offset {begin_index}: "
                f"{describe_offsets(begin, end)}"
            )
            for addr, begin, end in zip(addrs, begins, ends, strict=True)
            if begin is not None and end is not None
        }
        return [r._replace(error=errors.get(r.addr, r.error)) for r in results]


def _build_request(
    topic: str, queue_id: int, begin_index: int, entry_count: int, group: str | None
) -> RemotingCommand:
    fields = {"topic": topic, "queueId": str(queue_id), "index": str(begin_index), "count": str(entry_count)}
    return make_request(RequestCode.QUERY_CONSUME_QUEUE, fields | ({"consumerGroup": group} if group else {}))


def _parse_entries(response: RemotingCommand, begin_index: int) -> QueueEntries:
    if not response.body:
        raise NotFound(response.remark or f"the queue has no entry {begin_index}")
    json_body = parse_json_object(response)
    return QueueEntries(
        json_body.integer("minQueueIndex"),
        json_body.integer("maxQueueIndex"),
        tuple(_parse_entry(index, e) for index, e in enumerate(json_body.children("queueData"), begin_index)),
        _parse_text(json_body, "filterData"),
    )


def _parse_entry(entry_index: int, entry: JsonObject) -> ConsumeQueueEntry:
    return ConsumeQueueEntry(
        entry_index,
        entry.integer("physicOffset"),
        entry.integer("physicSize"),
        entry.integer("tagsCode"),
        _parse_text(entry, "extendDataJson"),
        _parse_text(entry, "bitMap"),
        entry.flag("eval"),
        _parse_text(entry, "msg"),
    )


def _parse_text(json_object: JsonObject, key: str) -> str | None:
    """Parse a text. Brokers write the text "null" for a missing value."""
    text = json_object.text(key, "")
    return None if text in ("null", "") else text
