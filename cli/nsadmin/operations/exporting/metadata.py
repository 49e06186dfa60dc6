"""The document of exportMetadata: topics and groups of brokers, as in mqadmin's metadata.json."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.groups import is_system
from nsadmin.operations.topic_kinds import DLQ_PREFIX, RETRY_PREFIX, is_of_users

Config = Mapping[str, Any]

# TopicValidator upstream. Brokers list most of these as system topics; 4.x brokers do not list all.
_SYSTEM = frozenset(
    {
        "BenchmarkTest",
        "CHECKPOINT_TOPIC",
        "OFFSET_MOVED_EVENT",
        "RMQ_SYS_TRACE_TOPIC",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "SCHEDULE_TOPIC_XXXX",
        "SELF_TEST_TOPIC",
        "TBW102",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)
_HIGHEST_PERM = 7
_SUMMED = {
    "topicConfigTable": ("writeQueueNums", "readQueueNums"),
    "subscriptionGroupTable": ("retryQueueNums",),
}


class Metadata(NamedTuple):
    """The topics and groups of one broker, by name; their settings have the protocol's names."""

    broker_name: str
    topics: Mapping[str, Config]
    groups: Mapping[str, Config]

    def tables(self) -> dict[str, Mapping[str, Config]]:
        return {"topicConfigTable": self.topics, "subscriptionGroupTable": self.groups}


def topics_of_users(topics: Mapping[str, Config], own: frozenset[str], *, special: bool) -> dict[str, Config]:
    """The user topics; `include_special` adds retry and dead letter topics. `own_topics` are the broker's."""
    return {
        name: config
        for name, config in topics.items()
        if (is_of_users(name, own | _SYSTEM) or (special and name.startswith((RETRY_PREFIX, DLQ_PREFIX))))
        and 0 <= config.get("perm", 0) <= _HIGHEST_PERM
    }


def groups_of_users(groups: Mapping[str, Config]) -> dict[str, Config]:
    """The groups without system groups."""
    return {name: config for name, config in groups.items() if not is_system(name)}


def document(
    brokers: Iterable[Metadata], tables: Iterable[str], *, export_time: int, summed: bool
) -> dict[str, Any]:
    """The document: these tables over all brokers, each name once; `export_time` is in ms.

    Configs that differ between brokers are also in `perBroker`, by table, name and broker, with None for a
    broker without the item; the table itself then holds the first broker's config. With `sum_queues`, queues
    are added up over brokers, as in mqadmin's file, and there is no `perBroker`.
    """
    brokers, found = list(brokers), dict[str, Any]()
    differing: dict[str, dict[str, dict[str, Config | None]]] = {}
    for table in tables:
        by_broker = {broker.broker_name: broker.tables()[table] for broker in brokers}
        names = sorted({name for configs in by_broker.values() for name in configs})
        having = {
            name: [configs[name] for configs in by_broker.values() if name in configs] for name in names
        }
        if summed:
            found[table] = {name: _sum(configs, _SUMMED[table]) for name, configs in having.items()}
            continue
        found[table] = {name: configs[0] for name, configs in having.items()}
        unlike = {
            name: {broker: configs.get(name) for broker, configs in by_broker.items()}
            for name in names
            if any(configs.get(name) != having[name][0] for configs in by_broker.values())
        }
        if unlike:
            differing[table] = unlike
    if differing:
        found["perBroker"] = differing
    return {**found, "exportTime": export_time}


def differing(found: Mapping[str, Any]) -> list[str]:
    """The names in a document whose config differs between brokers."""
    return sorted({name for table in found.get("perBroker", {}).values() for name in table})


def _sum(configs: list[Config], keys: Iterable[str]) -> Config:
    """The last broker's config, as in mqadmin's file, with sums over all brokers."""
    sums = {key: sum(config.get(key, 0) for config in configs) for key in keys if key in configs[-1]}
    return {**configs[-1], **sums}
