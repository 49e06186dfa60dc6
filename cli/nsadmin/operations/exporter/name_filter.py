"""Which topics and groups the exporter reads: --include, --exclude and --system."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX, SYSTEM_TOPICS


class NameFilter(NamedTuple):
    """Patterns of names, such as "orders*". A name must match an included pattern, and no excluded one.

    The retry and dead-letter topics of a group are accepted with their group.
    """

    included_patterns: tuple[str, ...] = ()
    excluded_patterns: tuple[str, ...] = ()
    shows_system: bool = False

    def accepts_group(self, group: str) -> bool:
        return (self.shows_system or not is_system_group(group)) and self._matches(group)

    def accepts_topic(self, topic: str, broker_topics: Iterable[str] = ()) -> bool:
        """Whether the topic is read. `broker_topics` are named after brokers and clusters."""
        for prefix in GROUP_TOPIC_PREFIXES:
            if topic.startswith(prefix):
                return self.accepts_group(topic[len(prefix) :])
        is_system = (
            topic in SYSTEM_TOPICS or topic.lower().startswith(SYSTEM_TOPIC_PREFIX) or topic in broker_topics
        )
        return (self.shows_system or not is_system) and self._matches(topic)

    def _matches(self, name: str) -> bool:
        return _matches_patterns(name, self.included_patterns, self.excluded_patterns)


@lru_cache(20_000)
def _matches_patterns(
    name: str, included_patterns: tuple[str, ...], excluded_patterns: tuple[str, ...]
) -> bool:
    return (
        not included_patterns or any(fnmatchcase(name, pattern) for pattern in included_patterns)
    ) and not any(fnmatchcase(name, pattern) for pattern in excluded_patterns)
