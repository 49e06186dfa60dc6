"""The document of exportMetadata: topics and groups of brokers, as in mqadmin's metadata.json."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.operations.topic_kinds import is_user_topic

ConfigFields = Mapping[str, Any]

# TopicValidator upstream. Brokers list most of these as system topics; 4.x brokers do not list all.
_SYSTEM_TOPICS = frozenset(
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
_SUMMED_SETTINGS = {
    "topicConfigTable": ("writeQueueNums", "readQueueNums"),
    "subscriptionGroupTable": ("retryQueueNums",),
}


class BrokerMetadata(NamedTuple):
    """The topics and groups of one broker, by name; their settings have the protocol's names."""

    broker_name: str
    topic_configs: Mapping[str, ConfigFields]
    group_configs: Mapping[str, ConfigFields]

    def tables_by_name(self) -> dict[str, Mapping[str, ConfigFields]]:
        return {"topicConfigTable": self.topic_configs, "subscriptionGroupTable": self.group_configs}


def select_user_topics(
    topic_configs: Mapping[str, ConfigFields], own_topics: frozenset[str], *, include_special: bool
) -> dict[str, ConfigFields]:
    """The user topics; `include_special` adds retry and dead letter topics. `own_topics` are the broker's."""
    return {
        topic_name: topic_config
        for topic_name, topic_config in topic_configs.items()
        if (
            is_user_topic(topic_name, own_topics | _SYSTEM_TOPICS)
            or (include_special and topic_name.startswith(GROUP_TOPIC_PREFIXES))
        )
        and 0 <= topic_config.get("perm", 0) <= _HIGHEST_PERM
    }


def build_metadata_document(
    broker_metadata: Iterable[BrokerMetadata],
    table_names: Iterable[str],
    *,
    export_time: int,
    sum_queues: bool,
) -> dict[str, Any]:
    """The document: these tables over all brokers, each name once; `export_time` is in ms.

    Configs that differ between brokers are also in `perBroker`, by table, name and broker, with None for a
    broker without the item. The table itself then holds the first broker's config. With `sum_queues`, queues
    are added up over brokers, as in mqadmin's file, and there is no `perBroker`.
    """
    broker_metadata, document_tables = list(broker_metadata), dict[str, Any]()
    differing_tables: dict[str, dict[str, dict[str, ConfigFields | None]]] = {}
    for table_name in table_names:
        configs_by_broker = {b.broker_name: b.tables_by_name()[table_name] for b in broker_metadata}
        item_names = sorted({item_name for configs in configs_by_broker.values() for item_name in configs})
        configs_by_item = {
            n: [configs[n] for configs in configs_by_broker.values() if n in configs] for n in item_names
        }
        if sum_queues:
            document_tables[table_name] = {
                item_name: _sum_configs(configs, _SUMMED_SETTINGS[table_name])
                for item_name, configs in configs_by_item.items()
            }
            continue
        document_tables[table_name] = {n: configs[0] for n, configs in configs_by_item.items()}
        differing_items = {
            n: {broker: configs.get(n) for broker, configs in configs_by_broker.items()}
            for n in item_names
            if any(configs.get(n) != configs_by_item[n][0] for configs in configs_by_broker.values())
        }
        if differing_items:
            differing_tables[table_name] = differing_items
    if differing_tables:
        document_tables["perBroker"] = differing_tables
    return {**document_tables, "exportTime": export_time}


def list_differing_names(document: Mapping[str, Any]) -> list[str]:
    """The names in a document whose config differs between brokers."""
    return sorted({n for items in document.get("perBroker", {}).values() for n in items})


def _sum_configs(item_configs: list[ConfigFields], summed_settings: Iterable[str]) -> ConfigFields:
    """The last broker's config, as in mqadmin's file, with sums over all brokers."""
    summed_values = {
        setting_name: sum(item_config.get(setting_name, 0) for item_config in item_configs)
        for setting_name in summed_settings
        if setting_name in item_configs[-1]
    }
    return {**item_configs[-1], **summed_values}
