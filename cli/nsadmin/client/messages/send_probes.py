"""`admin.send_probes`: probe messages that measure how long brokers take to store a message."""

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client.messages.message_sender import MessageSender, SendQueue, SentMessage
from nsadmin.client.results import ClientClosed, NotFound

PROBE_TAG = "PROBE"


class SendProbe(NamedTuple):
    """One probe message.

    Attributes:
        send_queue: The queue.
        elapsed_ms: Milliseconds until the answer or the failure.
        sent_message: The stored message; None after an error.
        error: The error; None after a success.
    """

    send_queue: SendQueue
    elapsed_ms: float
    sent_message: SentMessage | None
    error: RocketMQError | None


class SendProbes:
    """`admin.send_probes`: probe messages that measure the send latency of brokers."""

    def __init__(self, message_sender: MessageSender) -> None:
        self._message_sender = message_sender

    def choose_queue(self, broker_name: str) -> SendQueue:
        """Choose a queue of the topic that a broker creates under its own name, which no group consumes.

        Args:
            broker_name: The broker; also the name of the topic.

        Raises:
            NotFound: The topic has no route, or no queue is writable.
        """
        try:
            return self._message_sender.choose_queue(broker_name, broker_name)
        except TopicNotExist:
            raise NotFound(
                f'no name server has the topic "{broker_name}", which a broker of this name creates when it '
                "starts"
            ) from None

    def list_queues(self, topic: str) -> list[SendQueue]:
        """Return all writable queues of a topic, broker by broker.

        Raises:
            NotFound: No queue is writable.
            TopicNotExist: The topic has no route.
        """
        return self._message_sender.list_queues(topic)

    def send_probes(self, send_queue: SendQueue, body_bytes: int, message_count: int) -> Iterator[SendProbe]:
        """Send probe messages with the tag PROBE, one after another (SEND_MESSAGE_V2, 310).

        The messages stay in the queue. The first one takes longer if it opens the connection.

        Args:
            send_queue: The queue.
            body_bytes: The size of each body in bytes.
            message_count: The number of messages.

        Yields:
            One SendProbe per message, also after an error.
        """
        message_body = b"x" * body_bytes
        for _ in range(message_count):
            sent_message, error, started_at = None, None, perf_counter()
            try:
                sent_message = self._message_sender.send_message(send_queue, message_body, tags=PROBE_TAG)
            except ClientClosed:
                raise
            except RocketMQError as send_error:
                error = send_error
            yield SendProbe(send_queue, (perf_counter() - started_at) * 1000, sent_message, error)
