"""The runs of a benchmark: throughput of sends and reads, and latency from the send to the consumer."""

import threading
from collections.abc import Callable, Iterator
from time import perf_counter, sleep
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.messages.bulk_sender import MessageDraft
from nsadmin.client.messages.message_sender import SendQueue

_READ_WAIT_MS = 1000
_LATE_SECONDS = 10.0


class BrokerLoad(NamedTuple):
    """The figures of one broker: `seconds` is the duration of the run, latencies are in ms."""

    broker_name: str
    message_count: int = 0
    body_bytes: int = 0
    seconds: float = 0.0
    ack_latencies: tuple[float, ...] = ()
    end_latencies: tuple[float, ...] = ()
    failed_count: int = 0
    error: RocketMQError | None = None


def run_produce(
    admin: AdminClient,
    topic: str,
    message_count: int,
    body_bytes: int,
    rate: float | None,
    advance_progress: Callable[[int], None],
) -> list[BrokerLoad]:
    """Send messages to all queues, up to 64 at once; return the figures by broker name."""
    loads: dict[str, BrokerLoad] = {}
    drafts = _make_drafts(message_count, body_bytes)
    began_at = perf_counter()
    for batch in admin.message_streams.send_drafts(topic, drafts, messages_per_second=rate):
        for sent_draft in batch:
            broker_name, error = sent_draft.send_queue.broker_name, sent_draft.result.error
            load = loads.get(broker_name) or BrokerLoad(broker_name)
            loads[broker_name] = (
                load._replace(message_count=load.message_count + 1, body_bytes=load.body_bytes + body_bytes)
                if error is None
                else load._replace(failed_count=load.failed_count + 1, error=load.error or error)
            )
        advance_progress(len(batch))
    seconds = perf_counter() - began_at
    return [loads[broker_name]._replace(seconds=seconds) for broker_name in sorted(loads)]


def run_consume(
    admin: AdminClient, topic: str, message_count: int, advance_progress: Callable[[int], None]
) -> list[BrokerLoad]:
    """Read the messages of all queues from the beginning; return the figures by broker name."""
    loads: dict[str, BrokerLoad] = {}
    follower = admin.message_streams.open_follower(topic)
    began_at, read_count = perf_counter(), 0
    while read_count < message_count:
        new_count = 0
        for page in follower.read_pages():
            new_count += len(page.messages)
            load = loads.get(page.broker_name) or BrokerLoad(page.broker_name)
            loads[page.broker_name] = load._replace(
                message_count=load.message_count + len(page.messages),
                body_bytes=load.body_bytes + sum(len(message.body) for message in page.messages),
                error=load.error or page.error,
            )
        if not new_count:
            # Nothing is left, or a broker failed.
            break
        read_count += new_count
        advance_progress(new_count)
    seconds = perf_counter() - began_at
    return [loads[broker_name]._replace(seconds=seconds) for broker_name in sorted(loads)]


def run_latency(
    admin: AdminClient,
    send_queue: SendQueue,
    message_count: int,
    body_bytes: int,
    rate: float,
    advance_progress: Callable[[int], None],
) -> BrokerLoad:
    """Send messages to one queue one after another, while a thread waits for each at its end."""
    load, body, ack_latencies = BrokerLoad(send_queue.broker_name), b"x" * body_bytes, list[float]()
    # The first message opens the connection, and creates the queue: it is not measured.
    try:
        first_message = admin.message_sender.send_message(send_queue, body)
    except RocketMQError as error:
        return load._replace(failed_count=1, error=error)
    reader = _LatencyReader(admin, send_queue, (first_message.queue_offset or 0) + 1, message_count)
    began_at = perf_counter()
    reader.start()
    try:
        for number in range(message_count):
            sleep(max(0.0, began_at + number / rate - perf_counter()))
            sent_at = perf_counter()
            try:
                sent_message = admin.message_sender.send_message(send_queue, body)
            except RocketMQError as error:
                load = load._replace(failed_count=load.failed_count + 1, error=load.error or error)
                continue
            ack_latencies.append((perf_counter() - sent_at) * 1000)
            reader.note_send(sent_message.msg_id, sent_at)
            advance_progress(1)
        end_latencies = reader.collect_latencies(len(ack_latencies))
    finally:
        reader.stop()
    return load._replace(
        message_count=len(ack_latencies),
        body_bytes=len(ack_latencies) * body_bytes,
        seconds=perf_counter() - began_at,
        ack_latencies=tuple(ack_latencies),
        end_latencies=tuple(end_latencies),
        error=load.error or reader.error,
    )


class _LatencyReader(threading.Thread):
    """Reads a queue with long polling, as consumers do, and notes when each message came."""

    def __init__(
        self, admin: AdminClient, send_queue: SendQueue, begin_offset: int, message_count: int
    ) -> None:
        super().__init__(daemon=True)
        self._admin, self._send_queue, self._message_count = admin, send_queue, message_count
        self._next_offset = begin_offset
        self._received_at: dict[str, float] = {}
        self._sent_at: dict[str, float] = {}
        self._stop_requested = threading.Event()
        self.error: RocketMQError | None = None

    def note_send(self, msg_id: str, sent_at: float) -> None:
        self._sent_at[msg_id] = sent_at

    def collect_latencies(self, sent_count: int) -> list[float]:
        """Wait until all messages came, at most 10 seconds; return the latencies in ms."""
        deadline = perf_counter() + _LATE_SECONDS
        while self.is_alive() and len(self._received_at) < sent_count and perf_counter() < deadline:
            sleep(0.01)
        return [
            (self._received_at[msg_id] - sent_at) * 1000
            for msg_id, sent_at in self._sent_at.items()
            if msg_id in self._received_at
        ]

    def stop(self) -> None:
        self._stop_requested.set()
        self.join(_LATE_SECONDS)

    def run(self) -> None:
        topic, _, broker_addr, queue_id = self._send_queue
        try:
            while not self._stop_requested.is_set() and len(self._received_at) < self._message_count:
                messages, self._next_offset = self._admin.queue_reader.wait_for_messages(
                    broker_addr, topic, queue_id, self._next_offset, _READ_WAIT_MS
                )
                now_seconds = perf_counter()
                self._received_at.update((message.msg_id, now_seconds) for message in messages)
        except RocketMQError as error:
            self.error = error


def _make_drafts(message_count: int, body_bytes: int) -> Iterator[MessageDraft]:
    draft = MessageDraft(b"x" * body_bytes)
    for _ in range(message_count):
        yield draft
