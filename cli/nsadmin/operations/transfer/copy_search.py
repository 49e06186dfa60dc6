"""Searches the target queues for copies, to find out how far a transfer came."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.operations.copy_source import SourcePlace, SourceQueue, find_source

BACKWARD_SCAN = 10_000
"""How many messages at the end of a target queue are searched if no record of a transfer exists."""


class LastCopy(NamedTuple):
    """The last copy of a source queue in a range of its target queue.

    Attributes:
        source: The message with the highest source offset.
        target_offset: The offset of the last copy in the target queue.
        copy_count: The number of copies in the range, repeated ones too.
    """

    source: SourcePlace
    target_offset: int
    copy_count: int


def read_messages(
    admin: AdminClient, topic: str, spans: Sequence[QueueSpan]
) -> Iterator[tuple[QueueSpan, StoredMessage]]:
    """Yield the messages of parts of queues, in order within each queue. Raises RocketMQError."""
    spans_by_queue = {(span.broker_name, span.queue_id): span for span in spans}
    for page in admin.queue_reader.read_pages(topic, spans):
        if page.error is not None:
            raise page.error
        for message in page.messages:
            yield spans_by_queue[page.broker_name, page.queue_id], message


def find_last_copies(
    admin: AdminClient, topic: str, spans: Sequence[QueueSpan]
) -> Mapping[SourceQueue, LastCopy]:
    """Return the last copy of each source queue in parts of target queues. Raises RocketMQError."""
    copies: dict[SourceQueue, LastCopy] = {}
    for _, message in read_messages(admin, topic, spans):
        source = find_source(message)
        if source is None:
            continue
        before = copies.get(source.queue)
        newest = source if before is None or source.offset > before.source.offset else before.source
        copies[source.queue] = LastCopy(
            newest, message.queue_offset, 1 if before is None else before.copy_count + 1
        )
    return copies


def is_copy_replaced(admin: AdminClient, topic: str, span: QueueSpan, source_queue: SourceQueue) -> bool:
    """Return whether the message of this span, which was a copy, is another one now. Raises RocketMQError.

    So it is if the target lost its last messages, and other producers filled their place.
    """
    sources = [find_source(message) for _, message in read_messages(admin, topic, [span])]
    return bool(sources) and all(source is None or source.queue != source_queue for source in sources)
