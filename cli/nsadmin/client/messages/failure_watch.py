"""FailureWatch: counts the replayed messages that their group failed to consume again."""

from collections.abc import Mapping, Sequence

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.dead_letter_selection import (
    DEAD_LETTER_PREFIX,
    REPLAY_ID_PROPERTY,
    REPLAY_RUN_PROPERTY,
    RETRY_PREFIX,
)
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.results import ClientClosed

_DELAY_TOPIC, _FIRST_RETRY_QUEUE = "SCHEDULE_TOPIC_XXXX", 2
"""Where brokers keep a message between the first failure and the retry: the queue of delay level 3."""


class FailureWatch:
    """Reads the messages that brokers store after a failure: dead letters, and delayed messages."""

    def __init__(
        self, queue_reader: QueueReader, group: str, run_id: str, brokers: Sequence[tuple[str, str]]
    ) -> None:
        self._queue_reader, self._group, self._run_id = queue_reader, group, run_id
        self._failed_ids: dict[str, set[str]] = {broker_name: set() for broker_name, _ in brokers}
        watched_queues = (
            (broker_name, broker_addr, *topic_and_queue)
            for broker_name, broker_addr in brokers
            for topic_and_queue in ((_DELAY_TOPIC, _FIRST_RETRY_QUEUE), (DEAD_LETTER_PREFIX + group, 0))
        )
        self._next_offsets = {queue: self._find_end(*queue[1:]) for queue in watched_queues}

    def add_retry_queue(self, send_queue: SendQueue) -> None:
        """Watch a queue that replayed messages go to, whose consumers pop them.

        A broker puts a popped message there again if it is not acknowledged (PopReviveService upstream).
        """
        topic, broker_name, broker_addr, queue_id = send_queue
        watched_queue = (broker_name, broker_addr, topic, queue_id)
        if watched_queue not in self._next_offsets:
            self._next_offsets[watched_queue] = self._find_end(broker_addr, topic, queue_id) or 0

    def count_failures(self) -> Mapping[str, int]:
        """Return the number of different messages that failed again until now, by broker name."""
        for watched_queue, next_offset in list(self._next_offsets.items()):
            broker_name, broker_addr, topic, queue_id = watched_queue
            end_offset = self._find_end(broker_addr, topic, queue_id)
            if next_offset is not None and end_offset is not None and end_offset > next_offset:
                queue_span = QueueSpan(broker_name, broker_addr, queue_id, next_offset, end_offset)
                self._read_failures(topic, queue_span)
            self._next_offsets[watched_queue] = end_offset if end_offset is not None else next_offset
        return {broker_name: len(failed_ids) for broker_name, failed_ids in self._failed_ids.items()}

    def _read_failures(self, topic: str, queue_span: QueueSpan) -> None:
        for message_page in self._queue_reader.read_pages(topic, [queue_span]):
            for message in message_page.messages:
                properties = message.properties
                if topic == _DELAY_TOPIC:
                    is_failure = properties.get("REAL_TOPIC") in (
                        RETRY_PREFIX + self._group,
                        DEAD_LETTER_PREFIX + self._group,
                    )
                else:
                    is_failure = topic.startswith(DEAD_LETTER_PREFIX) or message.reconsume_times > 0
                if is_failure and properties.get(REPLAY_RUN_PROPERTY) == self._run_id:
                    self._failed_ids[queue_span.broker_name].add(properties.get(REPLAY_ID_PROPERTY, ""))

    def _find_end(self, broker_addr: str, topic: str, queue_id: int) -> int | None:
        """Return the end of a queue; None if the broker does not say, because then it is not watched."""
        try:
            return self._queue_reader.get_end_offset(broker_addr, topic, queue_id)
        except ClientClosed:
            raise
        except RocketMQError:
            return None
