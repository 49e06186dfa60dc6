"""Reads the data to export from the masters of a cluster or from one broker."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotFound
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.targets import NO_MASTER
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.consumers.groups import select_user_groups
from nsadmin.client.messages.delayed_messages import HALF_TOPIC, LEVEL_TOPIC
from nsadmin.operations.exports.configs import ConfigTexts
from nsadmin.operations.exports.metadata import BrokerMetadata, select_user_topics
from nsadmin.operations.exports.metrics import BrokerMetrics

ErrorsByBroker = dict[str, RocketMQError | None]
"""The error of each broker, by name; None if it answered."""


class ExportedBroker(NamedTuple):
    """A broker to ask; `master_addr` is None if it has no master now."""

    broker_name: str
    master_addr: str | None


def list_exported_masters(addr_groups: Sequence[BrokerAddrGroup]) -> list[ExportedBroker]:
    return [ExportedBroker(addr_group.broker_name, addr_group.master_addr) for addr_group in addr_groups]


def read_configs(
    admin: AdminClient, exported_brokers: Sequence[ExportedBroker]
) -> tuple[dict[str, ConfigTexts], ErrorsByBroker]:
    """The settings by broker name, for brokers that answered, and the errors."""
    addrs_by_name, errors_by_name = _select_reachable(exported_brokers)
    configs_by_name: dict[str, ConfigTexts] = {}
    for broker_name, (_, broker_config, error) in zip(
        addrs_by_name, admin.broker_configs.get_each(addrs_by_name.values()), strict=True
    ):
        errors_by_name[broker_name] = error
        if broker_config is not None:
            configs_by_name[broker_name] = broker_config
    return configs_by_name, errors_by_name


def read_metadata(
    admin: AdminClient, exported_brokers: Sequence[ExportedBroker], *, include_special: bool
) -> tuple[list[BrokerMetadata], ErrorsByBroker]:
    """The user topics and groups of each broker that answered for both, and the errors."""
    addrs_by_name, errors_by_name = _select_reachable(exported_brokers)
    master_addrs, metadata_list = list(addrs_by_name.values()), []
    broker_answers = zip(
        admin.bulk.list_topics(master_addrs),
        admin.bulk.list_system_topics(master_addrs),
        admin.bulk.list_groups(master_addrs),
        strict=True,
    )
    for broker_name, (topics_answer, system_answer, groups_answer) in zip(
        addrs_by_name, broker_answers, strict=True
    ):
        errors_by_name[broker_name] = topics_answer.error or system_answer.error or groups_answer.error
        if (
            topics_answer.result is not None
            and system_answer.result is not None
            and groups_answer.result is not None
        ):
            user_topics = select_user_topics(
                topics_answer.result.configs_by_topic, system_answer.result, include_special=include_special
            )
            metadata_list.append(
                BrokerMetadata(broker_name, user_topics, select_user_groups(groups_answer.result))
            )
    return metadata_list, errors_by_name


def read_metrics(
    admin: AdminClient, exported_brokers: Sequence[ExportedBroker]
) -> tuple[list[BrokerMetrics], ErrorsByBroker]:
    """The metrics of each broker that answered with runtime info and settings, and the errors."""
    addrs_by_name, errors_by_name = _select_reachable(exported_brokers)
    master_addrs, metrics_list = list(addrs_by_name.values()), []
    metadata_list, _ = read_metadata(admin, exported_brokers, include_special=False)
    counts_by_name = {m.broker_name: (len(m.topic_configs), len(m.group_configs)) for m in metadata_list}
    online_groups, _ = admin.consumers.list_online_groups(master_addrs)
    broker_answers = zip(
        admin.brokers.get_runtime_info(master_addrs),
        admin.broker_configs.get_each(master_addrs),
        admin.put_counts.get_topic_counts(master_addrs, HALF_TOPIC),
        admin.put_counts.get_topic_counts(master_addrs, LEVEL_TOPIC),
        strict=True,
    )
    for broker_name, (runtime_answer, config_answer, half_answer, delayed_answer) in zip(
        addrs_by_name, broker_answers, strict=True
    ):
        errors_by_name[broker_name] = (
            runtime_answer.error or config_answer.error or half_answer.error or delayed_answer.error
        )
        if runtime_answer.result is None or config_answer.result is None:
            continue
        topic_count, group_count = counts_by_name.get(broker_name, (None, None))
        clients = _collect_clients(online_groups, addrs_by_name[broker_name])
        metrics_list.append(
            BrokerMetrics(
                broker_name,
                runtime_answer.result,
                config_answer.result,
                topic_count,
                group_count,
                half_answer.result,
                delayed_answer.result,
                clients,
            )
        )
    return metrics_list, errors_by_name


def _select_reachable(exported_brokers: Sequence[ExportedBroker]) -> tuple[dict[str, str], ErrorsByBroker]:
    """Addresses by broker name, and an error entry for each broker, in the order given."""
    errors: ErrorsByBroker = {
        b.broker_name: NotFound(NO_MASTER) if b.master_addr is None else None for b in exported_brokers
    }
    return {b.broker_name: b.master_addr for b in exported_brokers if b.master_addr is not None}, errors


def _collect_clients(online_groups: dict[str, GroupConnections], broker_addr: str) -> frozenset[str] | None:
    """Language and version of the clients of this broker; None if it did not answer for all groups."""
    if any(connections.errors.get(broker_addr) is not None for connections in online_groups.values()):
        return None
    return frozenset(
        f"{client.language}%{client.version}"
        for group_connections in online_groups.values()
        for client in group_connections.clients
        if broker_addr in client.broker_addrs
    )
