"""Spread of topics and groups over the brokers of a cluster, and the changes that make it even. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.consumers.groups import select_user_groups
from nsadmin.client.results import NotFound
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.settings import ItemSettings, complete_settings
from nsadmin.operations.topic_kinds import is_user_topic

TopicFields = Mapping[str, Any]
_QUEUE_SETTINGS = ("readQueueNums", "writeQueueNums")


class TopicSpread(NamedTuple):
    """A topic in a cluster: its complete config by broker, and the brokers that do not have it.

    `differing_settings` are the settings that differ between brokers. Static topics follow their own rules.
    """

    topic: str
    configs_by_broker: Mapping[str, TopicFields]
    missing_brokers: tuple[str, ...]
    differing_settings: tuple[str, ...]
    is_static: bool = False

    @property
    def has_other_queues(self) -> bool:
        """Whether the brokers that have the topic have different numbers of queues."""
        return any(name in self.differing_settings for name in _QUEUE_SETTINGS)

    @property
    def is_even(self) -> bool:
        """Whether every broker has the topic, with the same number of queues."""
        return not self.missing_brokers and not self.has_other_queues

    @property
    def order_kind(self) -> str | None:
        """Why messages of a key keep their order: "ordered", or "FIFO" for the message type."""
        configs = self.configs_by_broker.values()
        if any(config["order"] for config in configs):
            return "ordered"
        is_fifo = any(config["attributes"].get("message.type") == "FIFO" for config in configs)
        return "FIFO" if is_fifo else None

    @property
    def even_configs(self) -> dict[str, TopicFields]:
        """The config by broker with equal queues on all brokers. Other settings stay as they are."""
        largest_counts = {
            name: max(config[name] for config in self.configs_by_broker.values()) for name in _QUEUE_SETTINGS
        }
        evened_configs = {
            name: {**config, **largest_counts} for name, config in self.configs_by_broker.items()
        }
        return {
            **evened_configs,
            **dict.fromkeys(self.missing_brokers, _most_common_config(list(evened_configs.values()))),
        }


def find_spreads(
    brokers: Sequence[BrokerRegistrant], own_topics: frozenset[str], topics: Collection[str] | None = None
) -> Iterator[TopicSpread]:
    """The spread of the given topics, or of every user topic, on the masters of one cluster, sorted by name.

    `own_topics` are the topics of RocketMQ and its brokers.

    Raises:
        NotFound: no broker has one of the given topics.
    """
    broker_names = [broker.broker_name for broker in brokers]
    tables_by_broker = {broker.broker_name: broker.topics for broker in brokers}
    static_topics = {topic for broker in brokers for topic in broker.mappings}
    known_topics = {topic for table in tables_by_broker.values() for topic in table}
    wanted_topics = (
        sorted(topic for topic in known_topics if is_user_topic(topic, own_topics))
        if topics is None
        else sorted(topics)
    )
    for topic in wanted_topics:
        if topic not in known_topics:
            raise NotFound(f'no broker has the topic "{topic}"')
        configs_by_broker = {
            name: complete_settings("topic", table[topic])
            for name, table in tables_by_broker.items()
            if topic in table
        }
        missing_brokers = tuple(name for name in broker_names if name not in configs_by_broker)
        yield TopicSpread(
            topic,
            configs_by_broker,
            missing_brokers,
            _find_differing_settings(list(configs_by_broker.values())),
            topic in static_topics,
        )


class GroupSpread(NamedTuple):
    """A consumer group in a cluster: like TopicSpread."""

    group: str
    configs_by_broker: Mapping[str, ItemSettings]
    missing_brokers: tuple[str, ...]
    differing_settings: tuple[str, ...]

    @property
    def is_even(self) -> bool:
        """Whether every broker has the group, with the same settings."""
        return not self.missing_brokers and not self.differing_settings


def find_group_spreads(
    groups_by_broker: Mapping[str, Mapping[str, ItemSettings]],
) -> Iterator[GroupSpread]:
    """The spread of every user group on the masters of one cluster, sorted by name."""
    tables = {name: select_user_groups(groups) for name, groups in groups_by_broker.items()}
    for group in sorted({group for table in tables.values() for group in table}):
        configs = {
            name: complete_settings("group", table[group]) for name, table in tables.items() if group in table
        }
        missing = tuple(name for name in tables if name not in configs)
        yield GroupSpread(group, configs, missing, _find_differing_settings(list(configs.values())))


def plan_even_groups(
    cluster_name: str, spreads: Iterable[GroupSpread], broker_names: Sequence[str]
) -> DesiredCluster:
    """The desired cluster: each missing group on every broker. Other settings stay as they are."""
    return DesiredCluster(
        cluster_name,
        group_specs={
            spread.group: ItemSpec.from_brokers(
                "group",
                {
                    **spread.configs_by_broker,
                    **dict.fromkeys(
                        spread.missing_brokers, _most_common_config(list(spread.configs_by_broker.values()))
                    ),
                },
                broker_names,
            )
            for spread in spreads
            if spread.missing_brokers
        },
    )


def plan_even_spread(
    cluster_name: str, topic_spreads: Sequence[TopicSpread], broker_names: Sequence[str]
) -> DesiredCluster:
    """The desired cluster: each uneven topic on every broker, with its largest number of queues."""
    topic_specs = {
        spread.topic: ItemSpec.from_brokers("topic", spread.even_configs, broker_names)
        for spread in topic_spreads
        if not spread.is_even and not spread.is_static
    }
    return DesiredCluster(cluster_name, topic_specs)


def _find_differing_settings(topic_configs: Sequence[TopicFields]) -> tuple[str, ...]:
    first_config, *other_configs = topic_configs
    return tuple(
        name for name in first_config if any(config[name] != first_config[name] for config in other_configs)
    )


def _most_common_config(topic_configs: Sequence[TopicFields]) -> TopicFields:
    counts = Counter(map(repr, topic_configs))
    return max(topic_configs, key=lambda config: counts[repr(config)])
