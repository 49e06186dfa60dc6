"""Dead letters, their counts, and the rules that select some of them. Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import DLQ_PREFIX, GROUP_TOPIC_PREFIXES, RETRY_PREFIX
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.messages.replay_memory import ReplayPlace

REPLAY_ID_PROPERTY = "NSADMIN_REPLAY_OF"
"""The property of a replayed message that has the offset id of the dead letter."""
REPLAY_COUNT_PROPERTY = "NSADMIN_REPLAYS"
"""The property of a replayed message that counts its replays. Brokers keep it if the message dies again."""
REPLAY_RUN_PROPERTY = "NSADMIN_REPLAY_RUN"
"""The property of a replayed message that has the id of the run."""


class DeadLetter(NamedTuple):
    """A message that a consumer group failed to consume.

    Attributes:
        broker_name: The broker.
        message: The message in the dead-letter topic.
    """

    broker_name: str
    message: StoredMessage

    @property
    def group(self) -> str:
        """The consumer group."""
        return self.message.topic.removeprefix(DLQ_PREFIX)

    @property
    def retry_topic(self) -> str:
        """The topic from which consumers of the group got the message again, before it died.

        Consumers behind a proxy pop messages. For them, a broker has a retry topic per origin topic
        (KeyBuilder.buildPopRetryTopic).
        """
        return self.message.properties["RETRY_TOPIC"] if self.is_popped else RETRY_PREFIX + self.group

    @property
    def is_popped(self) -> bool:
        """Whether the consumers of the group pop messages."""
        return self.message.properties.get("RETRY_TOPIC", "").startswith(self._pop_retry_prefixes)

    @property
    def origin_topic(self) -> str | None:
        """The topic that the producer sent the message to; None if the dead letter does not name it."""
        for property_name in ("RETRY_TOPIC", "DLQ_ORIGIN_TOPIC"):
            topic = self.message.properties.get(property_name) or ""
            for pop_retry_prefix in self._pop_retry_prefixes:
                topic = topic.removeprefix(pop_retry_prefix)
            if topic and not topic.startswith(GROUP_TOPIC_PREFIXES):
                return topic
        return None

    @property
    def _pop_retry_prefixes(self) -> tuple[str, str]:
        """The beginnings of retry topics of popped messages; brokers since 5.3 can write the second."""
        return f"{RETRY_PREFIX}{self.group}_", f"{RETRY_PREFIX}{self.group}+"

    @property
    def origin_id(self) -> str | None:
        """The offset id of the message in its origin topic; None if the dead letter does not name it."""
        properties = self.message.properties
        return properties.get("ORIGIN_MESSAGE_ID") or properties.get("DLQ_ORIGIN_MESSAGE_ID")

    @property
    def attempts(self) -> int:
        """How often the group got the message before it became a dead letter."""
        return self.message.reconsume_times

    @property
    def replay_count(self) -> int:
        """How often nsadmin replayed the message before it died again."""
        count_text = self.message.properties.get(REPLAY_COUNT_PROPERTY, "0")
        return int(count_text) if count_text.isascii() and count_text.isdigit() else 0


class DeadLetterCounts(NamedTuple):
    """The dead letters of a group.

    Attributes:
        group: The consumer group.
        broker_names: The brokers that have its dead-letter topic.
        message_count: The number of dead letters on the brokers that answered.
        oldest_ms: When the oldest one was stored, in ms since 1970; None without messages.
        newest_ms: When the newest one was stored.
        last_hour_count: The number of those that were stored in the last hour.
        origin_topics: The origin topics of a sample: the oldest 32 of each queue, and its newest.
        errors: The error of each queue; None after a success.
        queue_bounds: The first offset of each queue that answered, and the offset after its last one.
    """

    group: str
    broker_names: tuple[str, ...]
    message_count: int
    oldest_ms: int | None
    newest_ms: int | None
    last_hour_count: int
    origin_topics: tuple[str, ...]
    errors: tuple[RocketMQError | None, ...]
    queue_bounds: Mapping[ReplayPlace, tuple[int, int]] = {}


class DeadLetterSelection(NamedTuple):
    """The dead letters to read. A dead letter must meet every condition.

    Attributes:
        begin_ms: The earliest store time in the dead-letter topic, in ms since 1970.
        end_ms: The latest store time.
        origin_topics: Only messages from these topics; empty for all.
        keys: Only messages with one of these keys; empty for all.
        tags: Only messages with one of these tags; empty for all.
        body_pattern: Only messages whose body, read as UTF-8, matches somewhere; None for all.
        max_messages: At most this many messages; None for all.
        offset_ids: Only dead letters with one of these offset ids; empty for all.
    """

    begin_ms: int = 0
    end_ms: int = END_OF_TIME_MS
    origin_topics: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    body_pattern: re.Pattern[str] | None = None
    max_messages: int | None = None
    offset_ids: frozenset[str] = frozenset()

    def is_match(self, dead_letter: DeadLetter) -> bool:
        """Return whether a dead letter meets the conditions other than `max_messages`."""
        if self.origin_topics and dead_letter.origin_topic not in self.origin_topics:
            return False
        if self.offset_ids and dead_letter.message.offset_msg_id not in self.offset_ids:
            return False
        message_filter = MessageFilter(
            self.tags, self.keys, {}, self.body_pattern, {}, self.begin_ms, self.end_ms
        )
        return message_filter.is_match(dead_letter.message)

    def describe_rules(self) -> dict[str, object]:
        """Return the conditions as values that JSON has, to compare two selections."""
        return {
            "beginMs": self.begin_ms,
            "endMs": self.end_ms,
            "originTopics": sorted(self.origin_topics),
            "keys": sorted(self.keys),
            "tags": sorted(self.tags),
            "bodyPattern": self.body_pattern and self.body_pattern.pattern,
            "maxMessages": self.max_messages,
            "offsetIds": sorted(self.offset_ids),
        }


EVERY_LETTER = DeadLetterSelection()
