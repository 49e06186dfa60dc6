"""Transfers topics, groups or access rules: reads the source cluster, and restores into the target."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.brokers import targets
from nsadmin.client.results import NotFound
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from nsadmin.operations.transfer.metadata_plan import prepare_metadata, spread_to_all


class MetadataScope(NamedTuple):
    """The items to transfer, and their places.

    Attributes:
        sections: The sections of a backup.
        topics: Only these topics; empty for all.
        groups: Only these groups; empty for all.
        source_cluster: The cluster; None if the source has one.
        target_cluster: The cluster; None if the target has one.
        broker_names: The target broker for a source broker. Default: the same name.
        on_all_brokers: Every target broker gets all items.
    """

    sections: frozenset[Section]
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    source_cluster: str | None = None
    target_cluster: str | None = None
    broker_names: Mapping[str, str] = {}
    on_all_brokers: bool = False


class MetadataTransfer:
    """One transfer: `source_backup` has the items as they are, `losses` the ones that the target cannot have.

    Raises:
        NotFound: A cluster, a topic or a group does not exist.
    """

    def __init__(
        self,
        source: AdminClient,
        target: AdminClient,
        scope: MetadataScope,
        now_ms: Callable[[], int] = SYSTEM_CLOCK.now_ms,
    ) -> None:
        self._target = target
        source_cluster = find_cluster(source, scope.source_cluster, "--from-cluster")
        target_cluster = find_cluster(target, scope.target_cluster, "--to-cluster")
        self.source_backup: ClusterBackup = observe_backup(
            source, source_cluster, now_ms(), with_secrets=True, sections=scope.sections
        )
        _require_known_names(self.source_backup, scope)
        target_addrs = {
            str(master.broker_name): master.broker_addr
            for master in targets.list_master_targets(target.clusters.get_info(), target_cluster)
        }
        backup = select_backup(
            self.source_backup,
            RestoreScope(target_cluster, scope.sections, scope.topics, scope.groups, scope.broker_names),
        )
        if scope.on_all_brokers:
            backup = spread_to_all(backup, sorted(target_addrs))
        known_addrs = {name: addr for name, addr in target_addrs.items() if addr is not None}
        runtime_infos = target.brokers.get_runtime_info(list(known_addrs.values()))
        releases = {
            broker: None if result.result is None else result.result.release
            for broker, result in zip(known_addrs, runtime_infos, strict=True)
        }
        self.selected, self.losses = prepare_metadata(backup, releases)

    def run(self, *, is_dry_run: bool) -> Iterator[RestoreOutcome]:
        """Create and change the items in the target, and yield the outcome of each."""
        restore_run = RestoreRun(self._target, self.selected, is_dry_run=is_dry_run, overwrites_offsets=False)
        return restore_run.restore_all()


def find_cluster(admin: AdminClient, cluster: str | None, option_flag: str) -> str:
    """Return the name of the cluster.

    Raises:
        NotFound: There is none, or there are several and none is named.
    """
    if cluster is not None:
        return cluster
    cluster_names = admin.clusters.get_info().cluster_names
    if len(cluster_names) == 1:
        return cluster_names[0]
    known_text = (
        f"the name servers have {', '.join(cluster_names)}" if cluster_names else "they have no cluster"
    )
    raise NotFound(f"no cluster: pass {option_flag} CLUSTER ({known_text})")


def _require_known_names(backup: ClusterBackup, scope: MetadataScope) -> None:
    for kind, wanted_names, tables in (
        ("topic", scope.topics, [broker.topics for broker in backup.brokers.values()]),
        ("group", scope.groups, [broker.groups for broker in backup.brokers.values()]),
    ):
        unknown_names = sorted(wanted_names - {name for table in tables for name in table})
        if unknown_names:
            raise NotFound(f'the source has no {kind} "{unknown_names[0]}" that a user created')
    unknown_brokers = sorted(scope.broker_names.keys() - backup.brokers.keys())
    if unknown_brokers:
        raise NotFound(
            f'the source has no broker "{unknown_brokers[0]}" (--map): it has '
            f"{', '.join(sorted(backup.brokers)) or 'none'}"
        )
