"""Probing: how long brokers take to store a message, measured by writing some."""

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.message_sender import MessageSender, SendQueue, SentMessage

PROBE_TAG = "PROBE"


class SendProbe(NamedTuple):
    """One message: `millis` went by until the broker answered, or did not."""

    send_queue: SendQueue
    elapsed_ms: float
    sent_message: SentMessage | None
    error: RocketMQError | None


class SendProbes:
    """`admin.probing`."""

    def __init__(self, message_sender: MessageSender) -> None:
        self._message_sender = message_sender

    def choose_queue(self, broker_name: str) -> SendQueue:
        """A queue of the topic that each broker has under its own name, which nobody reads.

        TopicNotExist if there is none, NotFound if nothing can be written to it.
        """
        return self._message_sender.choose_queue(broker_name, broker_name)

    def list_queues(self, topic: str) -> list[SendQueue]:
        """All queues of a topic that can be written to, broker by broker; NotFound for none."""
        return self._message_sender.list_queues(topic)

    def send_probes(self, send_queue: SendQueue, body_bytes: int, message_count: int) -> Iterator[SendProbe]:
        """`count` messages of `size` bytes with the tag PROBE, one after another; they stay there.

        The first one takes longer where a connection has to be opened for it.
        """
        message_body = b"x" * body_bytes
        for _ in range(message_count):
            sent_message, error, started_at = None, None, perf_counter()
            try:
                sent_message = self._message_sender.send_message(send_queue, message_body, tags=PROBE_TAG)
            except RocketMQError as send_error:
                error = send_error
            yield SendProbe(send_queue, (perf_counter() - started_at) * 1000, sent_message, error)
