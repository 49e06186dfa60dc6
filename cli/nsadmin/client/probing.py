"""Probing: how long brokers take to store a message, measured by writing some."""

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.sending import Place, Sending, Sent

TAG = "PROBE"


class Probe(NamedTuple):
    """One message: `millis` went by until the broker answered, or did not."""

    place: Place
    millis: float
    sent: Sent | None
    error: RocketMQError | None


class Probing:
    """`admin.probing`."""

    def __init__(self, sending: Sending) -> None:
        self._sending = sending

    def place(self, broker_name: str) -> Place:
        """A queue of the topic that each broker has under its own name, which nobody reads.

        TopicNotExist if there is none, NotFound if nothing can be written to it.
        """
        return self._sending.place(broker_name, broker_name)

    def places(self, topic: str) -> list[Place]:
        """All queues of a topic that can be written to, broker by broker; NotFound for none."""
        return self._sending.places(topic)

    def send(self, place: Place, size: int, count: int) -> Iterator[Probe]:
        """`count` messages of `size` bytes with the tag PROBE, one after another; they stay there.

        The first one takes longer where a connection has to be opened for it.
        """
        body = b"x" * size
        for _ in range(count):
            sent, error, began = None, None, perf_counter()
            try:
                sent = self._sending.send(place, body, tags=TAG)
            except RocketMQError as failure:
                error = failure
            yield Probe(place, (perf_counter() - began) * 1000, sent, error)
