"""Selects the part of a backup to restore, and turns it into a desired cluster. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.topics.lite_topics import parse_parent_name
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.operations.backups.records import BackupSettings, BrokerBackup, ClusterBackup, Section
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.settings import SpreadKind


class RestoreScope(NamedTuple):
    """What to restore, and where.

    Attributes:
        cluster_name: The cluster that gets the items.
        sections: The sections.
        topics: Only these topics; empty for all. Offsets and consume modes follow them.
        groups: Only these groups; empty for all, likewise.
        broker_names: The name in the cluster for a broker name in the backup. Default: the same name.
        overwrites_offsets: Move a group that has another offset already.
    """

    cluster_name: str
    sections: frozenset[Section] = frozenset(Section)
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    broker_names: Mapping[str, str] = {}
    overwrites_offsets: bool = False


def select_backup(backup: ClusterBackup, scope: RestoreScope) -> ClusterBackup:
    """Return the backup with the selected items only, and with the names of the cluster's brokers."""
    brokers = [_select_broker(broker, scope) for broker in backup.brokers.values()]
    return backup._replace(
        cluster_name=scope.cluster_name,
        brokers={broker.broker_name: broker for broker in brokers},
        kv=_select_kv(backup, scope),
    )


def _select_broker(broker: BrokerBackup, scope: RestoreScope) -> BrokerBackup:
    def is_selected(topic: str, group: str) -> bool:
        # The offsets of a lite topic follow its parent topic.
        return _is_wanted(parse_parent_name(topic), scope.topics) and _is_wanted(group, scope.groups)

    # A name of a topic or a group selects that, and no users or settings.
    is_whole = not scope.topics and not scope.groups
    sections = scope.sections
    return broker._replace(
        broker_name=scope.broker_names.get(broker.broker_name, broker.broker_name),
        topics=_select_items(broker.topics, scope.topics)
        if Section.TOPICS in sections and (is_whole or scope.topics)
        else {},
        static_topics={
            topic: None if share is None else _rename_brokers(share, scope.broker_names)
            for topic, share in broker.static_topics.items()
            if _is_wanted(topic, scope.topics)
        }
        if Section.STATIC_TOPICS in sections and (is_whole or scope.topics)
        else {},
        groups=_select_items(broker.groups, scope.groups)
        if Section.GROUPS in sections and (is_whole or scope.groups)
        else {},
        offsets={key: offset for key, offset in broker.offsets.items() if is_selected(*key)}
        if Section.OFFSETS in sections
        else {},
        consume_modes=[mode for mode in broker.consume_modes if is_selected(mode.topic, mode.group)]
        if Section.CONSUME_MODES in sections
        else [],
        users=broker.users if Section.USERS in sections and is_whole else [],
        acls=broker.acls if Section.ACLS in sections and is_whole else {},
        accounts=broker.accounts if Section.ACCOUNTS in sections and is_whole else [],
        white_addrs=broker.white_addrs if Section.ACCOUNTS in sections and is_whole else [],
        settings=broker.settings if Section.SETTINGS in sections and is_whole else {},
    )


def _rename_brokers(share: BrokerQueueShare, broker_names: Mapping[str, str]) -> BrokerQueueShare:
    return share._replace(
        hosted_queues={
            queue: tuple(part._replace(bname=broker_names.get(part.bname, part.bname)) for part in parts)
            for queue, parts in share.hosted_queues.items()
        }
    )


def _select_kv(backup: ClusterBackup, scope: RestoreScope) -> dict[str, Mapping[str, str]]:
    """Return the order configurations with the new broker names, and the other namespaces."""
    selected: dict[str, Mapping[str, str]] = {}
    confs = backup.kv.get(ORDER_CONF_NAMESPACE, {})
    if Section.ORDER_CONF in scope.sections and (scope.topics or not scope.groups):
        selected[ORDER_CONF_NAMESPACE] = {
            topic: _rename_order_conf(text, scope.broker_names)
            for topic, text in confs.items()
            if _is_wanted(topic, scope.topics)
        }
    if Section.KV in scope.sections and not scope.topics and not scope.groups:
        selected.update({n: values for n, values in backup.kv.items() if n != ORDER_CONF_NAMESPACE})
    return selected


def _rename_order_conf(conf_text: str, broker_names: Mapping[str, str]) -> str:
    entries = [entry.partition(":") for entry in conf_text.split(";")]
    return ";".join(f"{broker_names.get(name, name)}{colon}{queues}" for name, colon, queues in entries)


def _is_wanted(item_name: str, wanted_names: frozenset[str]) -> bool:
    return not wanted_names or item_name in wanted_names


def _select_items(
    items: Mapping[str, BackupSettings], wanted_names: frozenset[str]
) -> dict[str, BackupSettings]:
    return {name: settings for name, settings in items.items() if _is_wanted(name, wanted_names)}


def describe_desired_cluster(selected: ClusterBackup) -> DesiredCluster:
    """Return the topics, groups, order configurations and KV config as a file of `nsadmin apply` has them.

    Every item names its brokers, so that a broker that is not in the backup gets nothing.
    """
    return DesiredCluster(
        selected.cluster_name,
        _describe_items("topic", {name: broker.topics for name, broker in selected.brokers.items()}),
        _describe_items("group", {name: broker.groups for name, broker in selected.brokers.items()}),
        selected.kv.get(ORDER_CONF_NAMESPACE),
        {namespace: values for namespace, values in selected.kv.items() if namespace != ORDER_CONF_NAMESPACE}
        or None,
    )


def _describe_items(
    spread_kind: SpreadKind, items_by_broker: Mapping[str, Mapping[str, BackupSettings]]
) -> dict[str, ItemSpec]:
    settings_by_item: dict[str, dict[str, BackupSettings]] = {}
    for broker, items in items_by_broker.items():
        for item_name, settings in items.items():
            settings_by_item.setdefault(item_name, {})[broker] = settings
    return {
        name: ItemSpec.from_brokers(spread_kind, settings, list(settings))._replace(
            only_on=tuple(settings), not_on=()
        )
        for name, settings in sorted(settings_by_item.items())
    }
