"""ReplayedLetters: finds dead letters whose replay is in a retry topic, also those of other accounts."""

from collections.abc import Sequence

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client.messages.dead_letter_selection import REPLAY_ID_PROPERTY, DeadLetter
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topics import TopicAdmin


class ReplayedLetters:
    """Reads each retry topic once, when the first dead letter of it comes."""

    def __init__(
        self,
        queue_reader: QueueReader,
        topics: TopicAdmin,
        letter_routes: Sequence[QueueRoute],
        oldest_ms: int | None,
    ) -> None:
        self._queue_reader, self._topics = queue_reader, topics
        self._letter_routes, self._oldest_ms = letter_routes, oldest_ms or 0
        self._ids_by_topic: dict[str, set[str]] = {}

    def has_replay(self, letter: DeadLetter) -> bool:
        """Return whether the replay of a dead letter is in its retry topic."""
        topic = letter.retry_topic
        if topic not in self._ids_by_topic:
            self._ids_by_topic[topic] = self._read_ids(topic)
        return letter.message.offset_msg_id in self._ids_by_topic[topic]

    def _read_ids(self, topic: str) -> set[str]:
        queue_spans: list[QueueSpan] = []
        for result in self._queue_reader.get_spans(topic, self._find_routes(topic), begin_ms=self._oldest_ms):
            if result.queue_span is not None:
                queue_spans.append(result.queue_span)
            elif not isinstance(result.error, TopicNotExist):
                raise result.error or RocketMQError(f"{topic} is unreadable")
        replayed_ids: set[str] = set()
        for message_page in self._queue_reader.read_pages(topic, queue_spans):
            if message_page.error is not None:
                raise message_page.error
            replayed_ids.update(m.properties.get(REPLAY_ID_PROPERTY, "") for m in message_page.messages)
        return replayed_ids

    def _find_routes(self, topic: str) -> list[QueueRoute]:
        """The brokers of a retry topic. A broker registers a new one, of one queue, up to 30 seconds late."""
        try:
            known_routes = {r.broker_name: r for r in self._topics.get_route(topic).queues}
        except TopicNotExist:
            known_routes = {}
        return [known_routes.get(route.broker_name, route) for route in self._letter_routes]
