"""CopyQueue: one source queue of a run, with what was read, and how far its copies came."""

from dataclasses import dataclass, field

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_copies import build_copy
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue
from nsadmin.operations.copy_source import SourceQueue, build_source_properties
from nsadmin.operations.transfer.source_reader import ReadPage, TopicQueue
from nsadmin.operations.transfer.topic_plan import PlannedQueue
from nsadmin.operations.transfer.transfer_record import QueueRecord

MAX_BATCH_MESSAGES, MAX_BATCH_BYTES = 64, 1 << 19


@dataclass
class CopyQueue:
    """The state of one source queue.

    Attributes:
        planned_queue: The plan of the queue.
        topic_queue: The queue, for the reader.
        send_queue: The target queue, with the present address of its broker.
        record: How far the confirmed copies came.
        copied_count: The copies that this run made.
        skipped_count: The messages that a filter of the client excluded.
        is_unsettled: Whether a request failed, so that the target queue decides what was stored.
        lost_from: The target offset from which on confirmed copies were lost; None if none were.
        retry_at: No request before this time, in seconds of a monotonic clock.
        failing_since: The time of the first failure after the last success; None after a success.
        error: The last failure; None after a success.
        is_failed: Whether the run gave the queue up.
    """

    planned_queue: PlannedQueue
    topic_queue: TopicQueue
    send_queue: SendQueue
    record: QueueRecord
    copied_count: int = 0
    skipped_count: int = 0
    is_unsettled: bool = False
    lost_from: int | None = None
    retry_at: float = 0.0
    failing_since: float | None = None
    error: RocketMQError | None = None
    is_failed: bool = False
    max_batch: int = MAX_BATCH_MESSAGES
    _messages: list[StoredMessage] = field(default_factory=list)
    _offset_after: int | None = None

    @property
    def source(self) -> SourceQueue:
        return self.planned_queue.source

    @property
    def is_empty(self) -> bool:
        """Whether nothing that was read waits to be sent."""
        return not self._messages

    @property
    def waiting_count(self) -> int:
        return len(self._messages)

    def add_page(self, page: ReadPage) -> None:
        """Add what was read. A page without messages moves the queue on."""
        self._messages += page.messages
        self._offset_after = page.next_offset
        self.skipped_count += page.skipped_count
        if page.lost_count:
            self.record = self.record._replace(lost_count=self.record.lost_count + page.lost_count)
        if not self._messages:
            self._move_on()

    def forget_read(self) -> None:
        """Forget what was read, because it is read again."""
        self._messages.clear()
        self._offset_after = None

    def choose_batch(self) -> list[OutgoingMessage]:
        """Return the next messages to send: those of one compression, up to the limits of a batch."""
        batch: list[OutgoingMessage] = []
        batch_bytes = 0
        for message in self._messages[: self.max_batch]:
            copy = build_copy(message, self.send_queue, build_source_properties(message, self.source))
            batch_bytes += len(copy.body)
            if batch and (copy.sys_flag != batch[0].sys_flag or batch_bytes > MAX_BATCH_BYTES):
                break
            batch.append(copy)
        return batch

    def confirm_batch(self, count: int, target_end: int) -> None:
        """Note that the next messages are stored in the target, up to this offset of the target queue."""
        last_offset = self._messages[count - 1].queue_offset
        del self._messages[:count]
        self.copied_count += count
        self.record = self.record._replace(next_offset=last_offset + 1, target_end=target_end)
        self.failing_since, self.error = None, None
        if not self._messages:
            self._move_on()

    def describe_next(self) -> str:
        """Name the message that is next."""
        return f"the message at source offset {self._messages[0].queue_offset}"

    def _move_on(self) -> None:
        if self._offset_after is not None:
            self.record = self.record._replace(next_offset=max(self.record.next_offset, self._offset_after))
