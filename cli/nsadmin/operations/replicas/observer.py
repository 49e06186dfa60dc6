"""Reads what masters and slaves have. Only broker groups with slaves are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from namesrv_core.errors import NotSupported, RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.controllers import BrokerEpochs
from nsadmin.client.brokers.replicated_tables import ReplicatedTable
from nsadmin.client.brokers.replication import HaStatus
from nsadmin.client.results import ClientClosed, error_text, is_unreachable
from nsadmin.operations import access_tables
from nsadmin.operations.broker_items import list_acl_items, list_mode_items, user_fields
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.config_diff import is_own_setting
from nsadmin.operations.replicas.records import ItemKind, ItemTable, Replica, ReplicaGroup, ReplicaObservation

TableResults = Mapping[str, ServerResult[ItemTable]]


def read_replica_group(
    admin: AdminClient, group: BrokerAddrGroup, kinds: Iterable[ItemKind] = ItemKind
) -> ReplicaGroup:
    """Read these kinds of items of one broker's replicas, at addresses that are known already."""
    ids = {addr: broker_id for broker_id, addr in group.broker_addrs.items()}
    return _make_group(group, _read_replicas(admin, ids, kinds))


def observe_replicas(
    admin: AdminClient, now_ms: int, cluster_name: str | None = None, broker_name: str | None = None
) -> ReplicaObservation:
    """Read all broker groups with slaves, of one cluster or of one broker name if it is given."""
    listing = listed_brokers.observe_listing(admin, cluster_name)
    broker_groups = [
        group
        for group in listing.broker_groups
        if broker_name in (None, group.broker_name)
        and any(broker_id != MASTER_BROKER_ID for broker_id in group.broker_addrs)
    ]
    replicas_by_addr = _read_replicas(
        admin,
        {addr: broker_id for group in broker_groups for broker_id, addr in group.broker_addrs.items()},
        ItemKind,
    )
    return ReplicaObservation(
        now_ms, [_make_group(group, replicas_by_addr) for group in broker_groups], listing.failure_lines
    )


def _make_group(group: BrokerAddrGroup, replicas_by_addr: Mapping[str, Replica]) -> ReplicaGroup:
    members = {broker_id: replicas_by_addr[addr] for broker_id, addr in sorted(group.broker_addrs.items())}
    master = members.pop(MASTER_BROKER_ID, None)
    return ReplicaGroup(group.cluster_name, group.broker_name, master, list(members.values()))


def _read_replicas(
    admin: AdminClient, ids: Mapping[str, int], kinds: Iterable[ItemKind]
) -> dict[str, Replica]:
    # Slaves first: a master that moves on in the meantime is ahead, and never behind.
    addrs = sorted(ids, key=lambda addr: -ids[addr])
    runtime_results = {result.addr: result for result in admin.brokers.get_runtime_info(addrs)}
    answering_addrs = [addr for addr in addrs if runtime_results[addr].error is None]
    ha_statuses = {
        result.addr: result.result
        for result in admin.replication.get_status(answering_addrs)
        if result.result
    }
    results_by_kind = {
        kind: {result.addr: result for result in _TABLE_READERS[kind](admin, answering_addrs)}
        for kind in kinds
        if kind in _TABLE_READERS
    }
    return {
        addr: _make_replica(broker_id, addr, runtime_results[addr], results_by_kind, ha_statuses.get(addr))
        for addr, broker_id in ids.items()
    }


def _make_replica(
    broker_id: int,
    broker_addr: str,
    runtime_result: ServerResult[RuntimeInfo],
    results_by_kind: Mapping[ItemKind, TableResults],
    ha_status: HaStatus | None,
) -> Replica:
    runtime_info = runtime_result.result
    if runtime_info is None:
        assert runtime_result.error is not None
        return Replica(broker_id, broker_addr, error=error_text(runtime_result.error))
    table_results = {kind: results[broker_addr] for kind, results in results_by_kind.items()}
    failures = [
        f"{kind.value}: {error_text(result.error)}"
        for kind, result in table_results.items()
        if result.error is not None and _is_failure(kind, result.error)
    ]
    return Replica(
        broker_id,
        broker_addr,
        runtime_info.release,
        runtime_info.get_integer("commitLogMaxOffset"),
        {kind: result.result for kind, result in table_results.items() if result.result is not None},
        next(iter(failures), None),
        runtime_info.get_integer("bootTimestamp"),
        len(ha_status.slaves) if ha_status is not None and ha_status.is_master else None,
        ha_status.master.last_write_timestamp
        if ha_status is not None and ha_status.master is not None
        else None,
    )


def _is_failure(kind: ItemKind, error: RocketMQError) -> bool:
    """Whether a missing table makes the comparison incomplete.

    A release may lack a kind, a broker without a controller has no epochs, and one without authentication may
    have no users.
    """
    if isinstance(error, NotSupported):
        return False
    if isinstance(error, ClientClosed):
        raise error
    return is_unreachable(error) or kind in (
        ItemKind.TOPIC,
        ItemKind.GROUP,
        ItemKind.OFFSET,
        ItemKind.SETTING,
    )


def _convert_tables(
    results: Iterable[ServerResult[ReplicatedTable]], convert_key: Callable[[Any], Any] = str
) -> list[ServerResult[ItemTable]]:
    def convert_table(table: ReplicatedTable) -> ItemTable:
        return ItemTable(
            {
                name: {convert_key(field): value for field, value in item.items()}
                for name, item in table.items.items()
            },
            tuple(version for version in (table.version, table.mapping_version) if version is not None),
        )

    return [result.then(convert_table) for result in results]


def _read_topics(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return _convert_tables(admin.replication.tables.get_topics(addrs))


def _read_groups(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return _convert_tables(admin.replication.tables.get_groups(addrs))


def _read_offsets(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return _convert_tables(admin.replication.tables.get_offsets(addrs), int)


def _read_consume_modes(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return [
        result.then(lambda modes: ItemTable(list_mode_items(modes)))
        for result in admin.consume_modes.list_modes(addrs)
    ]


def _read_epochs(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    def convert_epochs(broker_epochs: BrokerEpochs) -> ItemTable:
        return ItemTable(
            {f"epoch {epoch.epoch}": {"startOffset": epoch.start_offset} for epoch in broker_epochs.epochs}
        )

    return [result.then(convert_epochs) for result in admin.controllers.get_epochs(addrs)]


def _read_users(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return [
        result.then(
            lambda users: ItemTable(
                {user.username: {"password": user.password, **user_fields(user)} for user in users}
            )
        )
        for result in access_tables.list_users(admin, addrs)
    ]


def _read_acls(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return [
        result.then(lambda entries: ItemTable(list_acl_items(entries)))
        for result in access_tables.list_acl_entries(admin, addrs)
    ]


def _read_settings(admin: AdminClient, addrs: Sequence[str]) -> list[ServerResult[ItemTable]]:
    return [
        result.then(
            lambda config: ItemTable(
                {name: {"": text.strip()} for name, text in config.items() if not is_own_setting(name)}
            )
        )
        for result in admin.broker_configs.get_each(addrs)
    ]


_TABLE_READERS = {
    ItemKind.TOPIC: _read_topics,
    ItemKind.GROUP: _read_groups,
    ItemKind.OFFSET: _read_offsets,
    ItemKind.CONSUME_MODE: _read_consume_modes,
    ItemKind.EPOCH: _read_epochs,
    ItemKind.USER: _read_users,
    ItemKind.ACL: _read_acls,
    ItemKind.SETTING: _read_settings,
}
