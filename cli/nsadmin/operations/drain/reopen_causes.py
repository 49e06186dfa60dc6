"""Why a registration restored the write permission of topics: compares the broker's topics. Pure.

A name server takes topics from a registration only if their DataVersion changed, or after it lost the
broker. 5.5.0 changes the version whenever a consumer's retry topic gets another `order` flag: heartbeats of
an orderly consumer set it, messages that such a consumer sends back remove it (TopicConfigManager).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from namesrv_core.protocol.codes import perm_text
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.drain.facts import NameServerFacts, OwnTopics

_MAX_CHANGES = 3
_ALL_TOPICS = "the broker registered all its topics"


class ReopenExplainer:
    """Remembers the broker's topics, and explains each reopening by the changes since the previous one."""

    def __init__(self) -> None:
        self._first_topics: OwnTopics | None = None
        self._topics_by_server: dict[str, OwnTopics] = {}

    @property
    def has_topics(self) -> bool:
        """Whether the broker's topics could be read."""
        return self._first_topics is not None

    def remember_topics(self, own_topics: OwnTopics | None, addr: str | None = None) -> None:
        """Remember the first topics that were read, and those of the last reopening at each name server."""
        self._first_topics = self._first_topics or own_topics
        if own_topics is not None and addr is not None:
            self._topics_by_server[addr] = own_topics

    def explain_reopening(
        self, server: NameServerFacts, saved_topics: Collection[str], own_now: OwnTopics | None
    ) -> str:
        """Explain why topics are open again at a name server, `saved_topics` being those before the drain."""
        own_before = self._topics_by_server.get(server.namesrv_addr, self._first_topics)
        return _explain_reopening(server, saved_topics, own_before, own_now)


def _explain_reopening(
    server: NameServerFacts,
    saved_topics: Collection[str],
    own_before: OwnTopics | None,
    own_now: OwnTopics | None,
) -> str:
    open_topics = server.open_topics
    if all(topic not in saved_topics for topic in open_topics):
        return "created during the drain"
    is_partial = len(open_topics) * 2 < len(server.topics)
    if own_before is None or own_now is None:
        return (
            "changed or created on the broker"
            if is_partial
            else f"{_ALL_TOPICS}: a topic changed, or the connection was lost"
        )
    topic_changes = list(_describe_topic_changes(own_before, own_now))
    if topic_changes:
        changes = abbreviate_names(topic_changes, _MAX_CHANGES)
        return (
            f"changed on the broker: {changes}" if is_partial else f"{_ALL_TOPICS} after a change: {changes}"
        )
    if own_before.data_version != own_now.data_version:
        return f"{_ALL_TOPICS} after changes that were reverted, such as the order flag of a retry topic"
    return f"{_ALL_TOPICS}, without a change: the connection was lost, or a client sent addWritePerm"


def _describe_topic_changes(own_before: OwnTopics, own_now: OwnTopics) -> Iterator[str]:
    """Describe each difference: "T created", "T deleted", or "T order true -> false and perm rw- -> r--"."""
    configs_before, configs_now = own_before.configs, own_now.configs
    for topic in sorted({*configs_before, *configs_now}):
        config_before, config_now = configs_before.get(topic), configs_now.get(topic)
        if config_before is None or config_now is None:
            yield f"{topic} {'created' if config_before is None else 'deleted'}"
        elif config_before != config_now:
            yield f"{topic} {' and '.join(_describe_field_changes(config_before, config_now))}"


def _describe_field_changes(config_before: Mapping[str, Any], config_now: Mapping[str, Any]) -> Iterator[str]:
    for field_name in sorted({*config_before, *config_now}):
        value_before, value_now = config_before.get(field_name), config_now.get(field_name)
        if value_before != value_now:
            before_text, now_text = (_format_value(field_name, value) for value in (value_before, value_now))
            yield f"{field_name} {before_text} -> {now_text}"


def _format_value(field_name: str, field_value: Any) -> str:
    if field_name == "perm" and isinstance(field_value, int):
        return perm_text(field_value)
    return field_value if isinstance(field_value, str) else json.dumps(field_value, separators=(",", ":"))
