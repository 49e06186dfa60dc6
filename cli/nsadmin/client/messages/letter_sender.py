"""LetterSender: sends dead letters to their group or topic, and looks for them where they were sent."""

from collections.abc import Sequence

from namesrv_core.errors import TopicNotExist
from nsadmin.client.brokers.brokers import BrokerAdmin
from nsadmin.client.brokers.dispatch_wait import wait_for_dispatch
from nsadmin.client.messages.dead_letter_selection import (
    REPLAY_COUNT_PROPERTY,
    REPLAY_ID_PROPERTY,
    REPLAY_RUN_PROPERTY,
    RETRY_PREFIX,
    DeadLetter,
)
from nsadmin.client.messages.message_copies import build_copy
from nsadmin.client.messages.message_sender import MessageSender, OutgoingMessage, SendQueue, SentMessage
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.messages.replay_memory import PendingBatch
from nsadmin.client.results import NotFound, ServerResult


class LetterSender:
    """Sends the dead letters of one run."""

    def __init__(
        self,
        queue_reader: QueueReader,
        message_sender: MessageSender,
        brokers: BrokerAdmin,
        run_id: str,
        *,
        to_origin: bool,
    ) -> None:
        self._queue_reader, self._message_sender, self._brokers = queue_reader, message_sender, brokers
        self._run_id, self._to_origin = run_id, to_origin

    def choose_queue(self, letter: DeadLetter) -> SendQueue:
        """Choose a queue on the broker of a dead letter; in an origin topic also on another broker."""
        if not self._to_origin:
            try:
                return self._message_sender.choose_queue(letter.retry_topic, letter.broker_name)
            except TopicNotExist:
                # A broker creates retry topics, and registers a new one up to 30 seconds later.
                send_queue = self._message_sender.choose_queue(letter.message.topic, letter.broker_name)
                return send_queue._replace(topic=letter.retry_topic, queue_id=0)
        try:
            return self._message_sender.choose_queue(letter.origin_topic or "", letter.broker_name)
        except NotFound:
            return self._message_sender.choose_queue(letter.origin_topic or "")

    def find_end(self, send_queue: SendQueue) -> int:
        """Return the end of a queue; 0 if its topic does not exist yet."""
        try:
            return self._queue_reader.get_end_offset(
                send_queue.broker_addr, send_queue.topic, send_queue.queue_id
            )
        except TopicNotExist:
            return 0

    def send_letters(
        self, send_queue: SendQueue, letters: Sequence[DeadLetter]
    ) -> list[ServerResult[SentMessage]]:
        """Send dead letters at once; send again the messages that a busy broker refused."""
        return self._message_sender.send_patiently(
            [self._build_message(send_queue, letter) for letter in letters]
        )

    def find_arrived_offsets(self, pending_batch: PendingBatch) -> list[int]:
        """Read the queue that a batch was sent to; return the offsets of the dead letters that arrived."""
        topic, broker_name, broker_addr, queue_id = pending_batch.send_queue
        wait_for_dispatch(self._brokers, broker_addr)
        end_offset = self._queue_reader.get_end_offset(broker_addr, topic, queue_id)
        queue_span = QueueSpan(broker_name, broker_addr, queue_id, pending_batch.begin_offset, end_offset)
        arrived_ids = set()
        for message_page in self._queue_reader.read_pages(topic, [queue_span]):
            if message_page.error is not None:
                raise message_page.error
            arrived_ids |= {message.properties.get(REPLAY_ID_PROPERTY) for message in message_page.messages}
        return [
            offset for offset, letter_id in pending_batch.ids_by_offset.items() if letter_id in arrived_ids
        ]

    def _build_message(self, send_queue: SendQueue, letter: DeadLetter) -> OutgoingMessage:
        message = letter.message
        properties = {
            REPLAY_ID_PROPERTY: message.offset_msg_id,
            REPLAY_COUNT_PROPERTY: str(letter.replay_count + 1),
            REPLAY_RUN_PROPERTY: self._run_id,
        }
        if not self._to_origin:
            properties["ORIGIN_MESSAGE_ID"] = letter.origin_id or ""
            if letter.retry_topic == RETRY_PREFIX + letter.group:
                # Consumers show this topic (DefaultMQPushConsumerImpl.resetRetryAndNamespace).
                properties["RETRY_TOPIC"] = letter.origin_topic or ""
        return build_copy(message, send_queue, properties)
