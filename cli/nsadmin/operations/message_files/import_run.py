"""ImportRun: sends the messages of a file to a cluster, in order per queue, and remembers how far it is."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic, sleep
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from nsadmin.client import AdminClient, ClientClosed, NotApplied, ServerResult
from nsadmin.client.messages.message_copies import build_copy, send_in_order
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue, SentMessage, is_stored_unsafely
from nsadmin.operations.copy_source import keep_first_source
from nsadmin.operations.message_files.file_messages import FileMessage
from nsadmin.operations.message_files.import_memory import ImportMemory

BATCH_MESSAGES, BATCH_BYTES = 256, 4 << 20
MAX_REFUSED = 100
"""A run stops after this many messages that brokers refuse."""
END_READS, END_PAUSE_SECONDS = 50, 0.2
"""A busy broker stores messages before its queues show them, so the end of a queue is read repeatedly."""


class TopicImport(NamedTuple):
    """What a run did with the messages of a topic of the file.

    Attributes:
        topic: The topic in the file.
        target_topic: The topic that they were sent to.
        message_count: The messages in the file.
        sent_before: Those that an earlier run sent.
        sent: Those that this run sent.
        failed: Those that the broker refused.
        error: The first error; None after a success.
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

    Args:
        admin: The client of the target.
        target_topics: Target topics by the topics in the file. Default: the same topic.
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

        Raises:
            NotFound: No queue of the target topic is writable.
            TopicNotExist: The target topic has no route.
        """
        target_topic = self.get_target_topic(topic)
        if target_topic not in self._queues_by_topic:
            queues_by_broker: dict[str, list[SendQueue]] = {}
            for send_queue in self._admin.message_sender.list_queues(target_topic):
                queues_by_broker.setdefault(send_queue.broker_name, []).append(send_queue)
            self._queues_by_topic[target_topic] = queues_by_broker
        return self._queues_by_topic[target_topic]

    def choose_queue(self, file_message: FileMessage) -> SendQueue:
        """Choose the queue. All messages of a queue in the file go to one queue, in their order."""
        queues_by_broker = self.find_queues(file_message.message.topic)
        broker_name, queue_id = file_message.broker_name, file_message.queue_id
        if queue_id is None:
            self._turn += 1
            all_queues = [queue for queues in queues_by_broker.values() for queue in queues]
            return all_queues[self._turn % len(all_queues)]
        if broker_name not in queues_by_broker:
            # Not `hash`: a resumed run must choose the same broker.
            broker_names = sorted(queues_by_broker)
            broker_name = broker_names[zlib.crc32((broker_name or "").encode()) % len(broker_names)]
        send_queues = queues_by_broker[broker_name]
        same_queue = next((queue for queue in send_queues if queue.queue_id == queue_id), None)
        return same_queue or send_queues[queue_id % len(send_queues)]


class ImportRun:
    """One run of an import of one file.

    Args:
        admin: The client of the target.
        queue_chooser: Chooses queues.
        memory: What earlier runs sent. It is saved after each batch.
        messages_per_second: The maximum rate; None for none.
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
        self._began_at, self._attempted_count, self._refused_count = monotonic(), 0, 0
        self._last_offsets: dict[SendQueue, int] = {}
        self.topics: dict[str, TopicImport] = {}

    def count_messages(self, file_messages: Iterable[FileMessage]) -> int:
        """Read a file before it is sent: count its messages by topic. Return how many are to be sent."""
        due_count = 0
        for file_message in file_messages:
            is_sent = self._memory.is_sent(file_message.row_number)
            self._count(file_message.message.topic, message_count=1, sent_before=int(is_sent))
            due_count += not is_sent
        return due_count

    def send_messages(
        self, file_messages: Iterable[FileMessage], pause_seconds: Callable[[float], None] = sleep
    ) -> Iterator[int]:
        """Send the messages that were not sent yet. Yield the number of messages after each batch.

        Args:
            file_messages: All messages of the file.
            pause_seconds: Waits before each batch. What it raises ends the run between two batches.

        Raises:
            NotFound: A topic has no writable queue.
            TopicNotExist: A topic has no route.
        """
        for batch in self._split_batches(file_messages):
            pause_seconds(self._find_wait_seconds())
            self._attempted_count += len(batch)
            must_stop = self._send_batch(batch)
            yield len(batch)
            if must_stop:
                return
        self._check_ends(pause_seconds)

    @property
    def _max_messages(self) -> int:
        """Small batches if a rate is set, so that they spread evenly."""
        return BATCH_MESSAGES if self._rate is None else max(1, min(BATCH_MESSAGES, int(self._rate / 5)))

    def _split_batches(self, file_messages: Iterable[FileMessage]) -> Iterator[list[FileMessage]]:
        batch: list[FileMessage] = []
        batch_bytes = 0
        for file_message in file_messages:
            if self._memory.is_sent(file_message.row_number):
                continue
            body_bytes = len(file_message.message.body)
            if batch and (len(batch) >= self._max_messages or batch_bytes + body_bytes > BATCH_BYTES):
                yield batch
                batch, batch_bytes = [], 0
            batch.append(file_message)
            batch_bytes += body_bytes
        if batch:
            yield batch

    def _find_wait_seconds(self) -> float:
        if self._rate is None:
            return 0.0
        return max(0.0, self._began_at + self._attempted_count / self._rate - monotonic())

    def _send_batch(self, batch: Sequence[FileMessage]) -> bool:
        """Send a batch, save what was sent, and return whether to stop."""
        waiting_messages = {message.row_number: (message, self._build_copy(message)) for message in batch}
        unsent_rows: set[int] = set()
        must_stop = False
        while waiting_messages and not must_stop:
            results = send_in_order(
                self._admin.message_sender, [copy for _, copy in waiting_messages.values()]
            )
            for row_number, result in zip(list(waiting_messages), results, strict=True):
                if result is None:
                    continue
                file_message, copy = waiting_messages.pop(row_number)
                if not self._note_result(file_message, copy, result):
                    unsent_rows.add(row_number)
                    must_stop = must_stop or not _is_refused(result.error)
            must_stop = must_stop or self._refused_count >= MAX_REFUSED
        row_numbers = [message.row_number for message in batch]
        self._memory.note_batch(row_numbers, unsent_rows | set(waiting_messages))
        return must_stop

    def _note_result(
        self, file_message: FileMessage, copy: OutgoingMessage, result: ServerResult[SentMessage]
    ) -> bool:
        """Count the message, and return whether it was sent."""
        topic = file_message.message.topic
        if result.error is not None and not is_stored_unsafely(result.error):
            self._count(topic, failed=1)
            topic_import = self.topics[topic]
            self.topics[topic] = topic_import._replace(error=topic_import.error or result.error)
            self._refused_count += _is_refused(result.error)
            return False
        self._count(topic, sent=1)
        if result.result is not None and result.result.queue_offset is not None:
            last_offset = self._last_offsets.get(copy.send_queue, -1)
            self._last_offsets[copy.send_queue] = max(last_offset, result.result.queue_offset)
        return True

    def _build_copy(self, file_message: FileMessage) -> OutgoingMessage:
        message = file_message.message
        send_queue = self._queue_chooser.choose_queue(file_message)
        return build_copy(message, send_queue, keep_first_source(message, file_message.broker_name))

    def _check_ends(self, pause_seconds: Callable[[float], None]) -> None:
        """Compare the end of each queue with the last message that the broker acknowledged in it."""
        for send_queue, last_offset in self._last_offsets.items():
            error = self._check_end(send_queue, last_offset, pause_seconds)
            for topic, topic_import in self.topics.items():
                if error is not None and topic_import.target_topic == send_queue.topic:
                    self.topics[topic] = topic_import._replace(error=topic_import.error or error)

    def _check_end(
        self, send_queue: SendQueue, last_offset: int, pause_seconds: Callable[[float], None]
    ) -> RocketMQError | None:
        for _ in range(END_READS):
            try:
                end_offset = self._admin.queue_reader.get_end_offset(
                    send_queue.broker_addr, send_queue.topic, send_queue.queue_id
                )
            except ClientClosed:
                raise
            except RocketMQError as error:
                return error
            if end_offset > last_offset:
                return None
            pause_seconds(END_PAUSE_SECONDS)
        return NotApplied(
            f"queue {send_queue.queue_id} on {send_queue.broker_name} ends at {end_offset}, and the broker "
            f"acknowledged a message at {last_offset}"
        )

    def _count(self, topic: str, **increments: int) -> None:
        topic_import = self.topics.get(topic) or TopicImport(
            topic, self._queue_chooser.get_target_topic(topic)
        )
        self.topics[topic] = topic_import._replace(
            **{name: getattr(topic_import, name) + increment for name, increment in increments.items()}
        )


def _is_refused(error: RocketMQError | None) -> bool:
    """Whether the broker refuses this message, and may accept others."""
    return isinstance(error, RequestError) and error.code == ResponseCode.MESSAGE_ILLEGAL
