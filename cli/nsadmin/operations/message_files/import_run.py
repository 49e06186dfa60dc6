"""ImportRun: sends the messages of a file to a cluster, in order per queue, and remembers how far it is."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from nsadmin.client import AdminClient, ClientClosed, NotApplied, ServerResult
from nsadmin.client.messages.message_copies import build_copy, send_in_order
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue, SentMessage, is_stored_unsafely
from nsadmin.operations.copy_source import keep_first_source
from nsadmin.operations.message_files.file_messages import FileMessage
from nsadmin.operations.message_files.import_memory import ImportMemory
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK, ProcedureClock

BATCH_MESSAGES, BATCH_BYTES = 256, 4 << 20
MAX_REFUSED = 100
"""A run stops after this many messages that brokers refuse."""
END_READS, END_PAUSE_SECONDS = 50, 0.2
"""A busy broker stores messages before its queues show them, so the end of a queue is read repeatedly."""


class TopicImport(NamedTuple):
    """What a run did with the messages of a topic of the file.

    An earlier run sent `sent_before` of its messages. The broker refused those that `failed`. `error` is the
    first one.
    """

    topic: str
    target_topic: str
    message_count: int = 0
    sent_before: int = 0
    sent: int = 0
    failed: int = 0
    error: RocketMQError | None = None


class QueueChooser:
    """Chooses the queue for each message: its own broker and queue, or always the same other one.

    `target_topics` has target topics by the topics in the file. Others stay in their topic.
    """

    def __init__(self, admin: AdminClient, target_topics: Mapping[str, str]) -> None:
        self._admin, self._target_topics = admin, target_topics
        self._queues_by_topic: dict[str, dict[str, list[SendQueue]]] = {}
        self._turn = 0

    def get_target_topic(self, topic: str) -> str:
        """Return the topic that messages of a topic are sent to."""
        return self._target_topics.get(topic, topic)

    def find_queues(self, topic: str) -> dict[str, list[SendQueue]]:
        """Return the writable queues for messages of a topic by broker name.

        Raises NotFound if there is none, and TopicNotExist if the target topic has no route.
        """
        target_topic = self.get_target_topic(topic)
        if target_topic not in self._queues_by_topic:
            queues: dict[str, list[SendQueue]] = {}
            for queue in self._admin.message_sender.list_queues(target_topic):
                queues.setdefault(queue.broker_name, []).append(queue)
            self._queues_by_topic[target_topic] = queues
        return self._queues_by_topic[target_topic]

    def choose_queue(self, message: FileMessage) -> SendQueue:
        """Choose the queue. All messages of a queue in the file go to one queue, in their order."""
        queues_by_broker = self.find_queues(message.message.topic)
        broker, queue_id = message.broker_name, message.queue_id
        if queue_id is None:
            self._turn += 1
            all_queues = [queue for queues in queues_by_broker.values() for queue in queues]
            return all_queues[self._turn % len(all_queues)]
        if broker not in queues_by_broker:
            # Not `hash`: a resumed run must choose the same broker.
            broker_names = sorted(queues_by_broker)
            broker = broker_names[zlib.crc32((broker or "").encode()) % len(broker_names)]
        queues = queues_by_broker[broker]
        same_queue = next((queue for queue in queues if queue.queue_id == queue_id), None)
        return same_queue or queues[queue_id % len(queues)]


class ImportRun:
    """One run of an import of one file.

    `memory` has what earlier runs sent, and is saved after each batch.
    """

    def __init__(
        self,
        admin: AdminClient,
        queue_chooser: QueueChooser,
        memory: ImportMemory,
        messages_per_second: float | None = None,
    ) -> None:
        self._admin, self._queue_chooser, self._memory = admin, queue_chooser, memory
        self._rate = messages_per_second
        self._attempted_count = self._refused_count = 0
        self._last_offsets: dict[SendQueue, int] = {}
        self.topics: dict[str, TopicImport] = {}

    def count_messages(self, file_messages: Iterable[FileMessage]) -> int:
        """Read a file before it is sent: count its messages by topic. Return how many are to be sent."""
        due_count = 0
        for message in file_messages:
            is_sent = self._memory.is_sent(message.row_number)
            self._count(message.message.topic, message_count=1, sent_before=int(is_sent))
            due_count += not is_sent
        return due_count

    def send_messages(
        self, file_messages: Iterable[FileMessage], clock: ProcedureClock = SYSTEM_CLOCK
    ) -> Iterator[int]:
        """Send the messages of the file that were not sent yet. Yield the size of each batch.

        What a pause of the clock raises ends the run between two batches.

        Raises:
            NotFound: A topic has no writable queue.
            TopicNotExist: A topic has no route.
        """
        began_at = clock.read_seconds()
        for batch in self._split_batches(file_messages):
            due_at = began_at + self._attempted_count / self._rate if self._rate else began_at
            clock.pause_seconds(max(0.0, due_at - clock.read_seconds()))
            self._attempted_count += len(batch)
            must_stop = self._send_batch(batch)
            yield len(batch)
            if must_stop:
                return
        for queue, last_offset in self._last_offsets.items():
            error = self._check_end(queue, last_offset, clock)
            for topic, counts in self.topics.items():
                if error is not None and counts.target_topic == queue.topic:
                    self.topics[topic] = counts._replace(error=counts.error or error)

    def _split_batches(self, file_messages: Iterable[FileMessage]) -> Iterator[list[FileMessage]]:
        # Small batches if a rate is set, so that they spread evenly.
        max_messages = BATCH_MESSAGES
        if self._rate is not None:
            max_messages = max(1, min(BATCH_MESSAGES, int(self._rate / 5)))
        batch: list[FileMessage] = []
        batch_bytes = 0
        for message in file_messages:
            if self._memory.is_sent(message.row_number):
                continue
            body_bytes = len(message.message.body)
            if batch and (len(batch) >= max_messages or batch_bytes + body_bytes > BATCH_BYTES):
                yield batch
                batch, batch_bytes = [], 0
            batch.append(message)
            batch_bytes += body_bytes
        if batch:
            yield batch

    def _send_batch(self, batch: Sequence[FileMessage]) -> bool:
        """Send a batch, save what was sent, and return whether to stop."""
        waiting = {message.row_number: (message, self._build_copy(message)) for message in batch}
        unsent_rows: set[int] = set()
        must_stop = False
        while waiting and not must_stop:
            results = send_in_order(self._admin.message_sender, [copy for _, copy in waiting.values()])
            for row_number, result in zip(list(waiting), results, strict=True):
                if result is None:
                    continue
                message, copy = waiting.pop(row_number)
                if not self._note_result(message, copy, result):
                    unsent_rows.add(row_number)
                    must_stop = must_stop or not _is_refused(result.error)
            must_stop = must_stop or self._refused_count >= MAX_REFUSED
        rows = [message.row_number for message in batch]
        self._memory.note_batch(rows, unsent_rows | set(waiting))
        return must_stop

    def _note_result(
        self, message: FileMessage, copy: OutgoingMessage, result: ServerResult[SentMessage]
    ) -> bool:
        """Count the message, and return whether it was sent."""
        topic = message.message.topic
        if result.error is not None and not is_stored_unsafely(result.error):
            self._count(topic, failed=1)
            counts = self.topics[topic]
            self.topics[topic] = counts._replace(error=counts.error or result.error)
            self._refused_count += _is_refused(result.error)
            return False
        self._count(topic, sent=1)
        if result.result is not None and result.result.queue_offset is not None:
            last_offset = self._last_offsets.get(copy.send_queue, -1)
            self._last_offsets[copy.send_queue] = max(last_offset, result.result.queue_offset)
        return True

    def _build_copy(self, file_message: FileMessage) -> OutgoingMessage:
        message = file_message.message
        queue = self._queue_chooser.choose_queue(file_message)
        return build_copy(message, queue, keep_first_source(message, file_message.broker_name))

    def _check_end(self, queue: SendQueue, last_offset: int, clock: ProcedureClock) -> RocketMQError | None:
        """Compare the end of a queue with the last message that the broker acknowledged in it."""
        for _ in range(END_READS):
            try:
                end = self._admin.queue_reader.get_end_offset(queue.broker_addr, queue.topic, queue.queue_id)
            except ClientClosed:
                raise
            except RocketMQError as error:
                return error
            if end > last_offset:
                return None
            clock.pause_seconds(END_PAUSE_SECONDS)
        return NotApplied(
            f"messages may be lost: queue {queue.queue_id} on {queue.broker_name} ends at offset {end}, and "
            f"the broker acknowledged a message at offset {last_offset}"
        )

    def _count(self, topic: str, **increments: int) -> None:
        counts = self.topics.get(topic) or TopicImport(topic, self._queue_chooser.get_target_topic(topic))
        self.topics[topic] = counts._replace(
            **{name: getattr(counts, name) + increment for name, increment in increments.items()}
        )


def _is_refused(error: RocketMQError | None) -> bool:
    """Whether the broker refuses this message, and may accept others."""
    return isinstance(error, RequestError) and error.code == ResponseCode.MESSAGE_ILLEGAL
