"""Transfers topics, groups or access rules: reads the source cluster, and restores into the target."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.brokers import targets
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import Ambiguous, NotFound
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup
from nsadmin.operations.name_patterns import expand_patterns
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from nsadmin.operations.transfer.metadata_plan import (
    prepare_metadata,
    spread_to_all,
    translate_order_confs,
)


class MetadataScope(NamedTuple):
    """The items to transfer, and their places.

    Attributes:
        sections: The sections of a backup.
        topics: Only these topics, also by patterns; empty for all.
        groups: Only these groups, also by patterns; empty for all.
        source_cluster: The cluster; None if the source has one.
        target_cluster: The cluster; None if the target has one.
        broker_names: The target broker for a source broker. Default: the same name.
        on_all_brokers: Every target broker gets all items. This is also so if the target has no broker of
            the source, and `broker_names` is empty.
        only_missing: Leave items as they are that the target has with other settings.
    """

    sections: frozenset[Section]
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    source_cluster: str | None = None
    target_cluster: str | None = None
    broker_names: Mapping[str, str] = {}
    on_all_brokers: bool = False
    only_missing: bool = False


class MetadataTransfer:
    """One transfer: `source_backup` has the items as they are, `losses` the ones that the target
    cannot have, `scope` the names that patterns mean, and whether all brokers get the items.

    Raises:
        NotFound: A cluster, a topic or a group does not exist.
        Ambiguous: A cluster has several candidates, or two source brokers go to the same one.
    """

    def __init__(
        self,
        source: AdminClient,
        target: AdminClient,
        scope: MetadataScope,
        now_ms: Callable[[], int] = SYSTEM_CLOCK.now_ms,
    ) -> None:
        self._target = target
        source_cluster, target_cluster = _find_clusters(source, target, scope)
        self.source_backup: ClusterBackup = observe_backup(
            source, source_cluster, now_ms(), with_secrets=True, sections=scope.sections
        )
        _require_known_brokers(self.source_backup, scope)
        brokers = self.source_backup.brokers.values()
        target_addrs = {
            str(master.broker_name): master.broker_addr
            for master in targets.list_master_targets(target.clusters.get_info(), target_cluster)
        }
        has_other_brokers = not scope.broker_names and target_addrs.keys().isdisjoint(
            self.source_backup.brokers
        )
        self.scope = scope = scope._replace(
            on_all_brokers=scope.on_all_brokers or has_other_brokers,
            topics=_expand_names("topic", scope.topics, (broker.topics for broker in brokers)),
            groups=_expand_names("group", scope.groups, (broker.groups for broker in brokers)),
        )
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
        hosts_by_broker = {
            source: [
                name
                for name in (
                    sorted(target_addrs) if scope.on_all_brokers else [scope.broker_names.get(source, source)]
                )
                if name in target_addrs
            ]
            for source in self.source_backup.brokers
        }
        source_confs = self.source_backup.kv[ORDER_CONF_NAMESPACE]
        confs, losses = translate_order_confs(
            {topic: source_confs[topic] for topic in backup.kv.get(ORDER_CONF_NAMESPACE, {})},
            hosts_by_broker,
            self.selected,
        )
        self.losses += losses
        # The name servers of the target keep the entries of its other brokers.
        conf_texts = {topic: target.order_confs.merge_conf(topic, queues) for topic, queues in confs.items()}
        self.selected = self.selected._replace(kv={ORDER_CONF_NAMESPACE: conf_texts} if conf_texts else {})

    def run(self, *, is_dry_run: bool) -> Iterator[RestoreOutcome]:
        """Create and change the items in the target, and yield the outcome of each."""
        restore_run = RestoreRun(
            self._target,
            self.selected,
            is_dry_run=is_dry_run,
            overwrites_offsets=False,
            only_missing=self.scope.only_missing,
            other_option=", or --all-brokers",
        )
        return restore_run.restore_all()


def _find_clusters(source: AdminClient, target: AdminClient, scope: MetadataScope) -> tuple[str, str]:
    """The names of the clusters of the source and the target.

    Raises:
        NotFound: A side has none.
        Ambiguous: A side has several, and none is named.
    """
    found, choices = [], []
    for admin, cluster, option_flag in (
        (source, scope.source_cluster, "--from-cluster"),
        (target, scope.target_cluster, "--to-cluster"),
    ):
        cluster_names = [cluster] if cluster is not None else admin.clusters.get_info().cluster_names
        if not cluster_names:
            raise NotFound(f"the name servers list no cluster (for {option_flag})")
        if len(cluster_names) > 1:
            choices.append(f"one of {', '.join(cluster_names)} with {option_flag}")
        found.append(cluster_names[0])
    if choices:
        raise Ambiguous(f"several clusters: choose {', and '.join(choices)}")
    return found[0], found[1]


def _require_known_brokers(backup: ClusterBackup, scope: MetadataScope) -> None:
    sources_by_target: dict[str, list[str]] = {}
    for source in sorted({*backup.brokers, *scope.broker_names}):
        sources_by_target.setdefault(scope.broker_names.get(source, source), []).append(source)
    for broker, sources in sources_by_target.items():
        if len(sources) > 1:
            raise Ambiguous(
                f"{' and '.join(sources)} go to {broker}: pass another --map, or --all-brokers in place of it"
            )
    unknown_brokers = sorted(scope.broker_names.keys() - backup.brokers.keys())
    if unknown_brokers:
        raise NotFound(
            f'the source has no broker "{unknown_brokers[0]}" (--map): it has '
            f"{', '.join(sorted(backup.brokers)) or 'none'}"
        )


def _expand_names(kind: str, words: Iterable[str], by_broker: Iterable[Iterable[str]]) -> frozenset[str]:
    """The names that patterns mean. NotFound for one that the source does not have."""
    known_names = {name for names in by_broker for name in names}
    wanted_names = frozenset(expand_patterns(kind, words, lambda: known_names))
    for unknown_name in sorted(wanted_names - known_names):
        near_names = find_similar_names(unknown_name, known_names)
        hint = f": {did_you_mean(near_names)}" if near_names else ""
        raise NotFound(f'the source has no {kind} "{unknown_name}" that a user created{hint}')
    return wanted_names
