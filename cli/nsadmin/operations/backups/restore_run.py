"""Restores a selected backup into a cluster, and reads every change back.

Rule: nothing is deleted, and an item that is as in the backup gets no request. So a restore that was
interrupted is run again.
"""

from collections.abc import Iterator, Mapping, Sequence, Set, Sized
from functools import partial

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.consumers.consume_modes import AssignedMode, ModeChange
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotApplied
from nsadmin.operations.backups.access_restore import AccessRestore
from nsadmin.operations.backups.offset_restore import (
    HAS_LEFT_OFFSET,
    HAS_OTHER_OFFSET,
    OffsetOutcome,
    apply_offsets,
    plan_offsets,
)
from nsadmin.operations.backups.records import BrokerBackup, ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import IS_KEPT, RestoreOutcome, change_item
from nsadmin.operations.backups.restore_scope import describe_desired_cluster
from nsadmin.operations.backups.static_restore import StaticTopicRestore
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, compute_diff
from nsadmin.operations.plans.executor import StepOutcome, execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.records import ClusterState

_SECTIONS_BY_KIND: Mapping[str | None, Section] = {
    "topic": Section.TOPICS,
    "route": Section.TOPICS,
    "group": Section.GROUPS,
    "orderConf": Section.ORDER_CONF,
    "kv": Section.KV,
}


class RestoreRun:
    """One restore. `selected_backup` has the items, with the names of the cluster's brokers.

    `only_missing` keeps topics, groups, KV config, consume modes, users and accounts that exist.
    `other_option` is what helps beside --map if the cluster does not have a broker.

    Raises NotFound if the cluster does not exist.
    """

    def __init__(
        self,
        admin: AdminClient,
        selected_backup: ClusterBackup,
        *,
        is_dry_run: bool,
        overwrites_offsets: bool,
        only_missing: bool = False,
        other_option: str = "",
    ) -> None:
        self._admin, self._other_option = admin, other_option
        self._selected = selected_backup
        self._is_dry_run, self._only_missing = is_dry_run, only_missing
        self._overwrites_offsets = overwrites_offsets
        desired_cluster = describe_desired_cluster(selected_backup)
        namespaces = [namespace for namespace in selected_backup.kv if namespace != ORDER_CONF_NAMESPACE]
        self._cluster_state: ClusterState = observe_cluster(admin, selected_backup.cluster_name, namespaces)
        self.planned_diff: ClusterDiff = compute_diff(desired_cluster, self._cluster_state, prune=False)
        self._created_items = {
            (step.server_name, step.kind, step.item_name)
            for step in self.planned_diff.steps
            if step.before is None
        }

    def restore_all(self) -> Iterator[RestoreOutcome]:
        """Restore every section in order, and yield the outcome of each item."""
        yield from self._restore_planned()
        addrs_by_name = {state.broker_name: state.master_addr for state in self._cluster_state.broker_states}
        yield from self._restore_static_topics(addrs_by_name)
        access_restore = AccessRestore(
            self._admin, is_dry_run=self._is_dry_run, only_missing=self._only_missing
        )
        for name, broker in self._selected.brokers.items():
            addr = addrs_by_name.get(name)
            if addr is None:
                error = NotApplied(self._describe_missing(name, addrs_by_name))
                for section in _list_sections(broker)[:1]:
                    yield RestoreOutcome(section, name, "", None, None, "failed", error=error)
                continue
            for restore_section in (
                self._restore_consume_modes,
                self._restore_offsets,
                access_restore.restore_users,
                access_restore.restore_acls,
                access_restore.restore_accounts,
            ):
                yield from restore_section(addr, broker)

    def _describe_missing(self, broker: str, addrs_by_name: dict[str, str | None]) -> str:
        if broker in addrs_by_name:
            return f"{broker} has no master now"
        return (
            f'the cluster has no broker "{broker}": pass --map OLD=NEW{self._other_option} (it has '
            f"{', '.join(sorted(addrs_by_name)) or 'none'})"
        )

    def _restore_planned(self) -> Iterator[RestoreOutcome]:
        kept, steps = list[StepOutcome](), list[PlanStep]()
        for step in self.planned_diff.steps:
            if self._only_missing and step.before is not None:
                kept.append(StepOutcome(step, "kept", None))
            else:
                steps.append(step)
        if self._is_dry_run:
            outcomes = [StepOutcome(step, "dry-run", None) for step in steps]
        else:
            outcomes = execute_steps(self._admin, self._cluster_state, steps)
        for outcome in (*kept, *outcomes):
            step = outcome.step
            item_name = f"{step.namespace} {step.item_name}" if step.namespace else step.item_name
            yield RestoreOutcome(
                _SECTIONS_BY_KIND[step.kind],
                step.server_name,
                item_name,
                step.before,
                step.after,
                outcome.result,
                IS_KEPT if outcome.result == "kept" else "",
                outcome.error,
            )
        for trouble in self.planned_diff.troubles:
            section = _SECTIONS_BY_KIND.get(trouble.kind, Section.TOPICS)
            if not trouble.item_name:
                # A broker of the backup without a master is reported once, with its other sections.
                if trouble.server_name not in self._silent_servers:
                    continue
                section = self._silent_servers[trouble.server_name]
            yield RestoreOutcome(
                section, trouble.server_name, trouble.item_name, None, None, "failed", error=trouble.error
            )

    @property
    def _silent_servers(self) -> dict[str, Section]:
        """The servers that did not say what they have, and the first section that they should get."""
        silent = {
            state.namesrv_addr: Section.ORDER_CONF
            if self._selected.kv.get(ORDER_CONF_NAMESPACE)
            else Section.KV
            for state in self._cluster_state.server_states
            if state.error is not None and any(self._selected.kv.values())
        }
        for state in self._cluster_state.broker_states:
            broker = self._selected.brokers.get(state.broker_name)
            if state.error is not None and state.master_addr and broker and (broker.topics or broker.groups):
                silent[state.broker_name] = Section.TOPICS if broker.topics else Section.GROUPS
        return silent

    def _restore_static_topics(self, addrs_by_name: Mapping[str, str | None]) -> Iterator[RestoreOutcome]:
        master_addrs = {name: addr for name, addr in addrs_by_name.items() if addr is not None}
        static_restore = StaticTopicRestore(self._admin, master_addrs, is_dry_run=self._is_dry_run)
        for outcome in static_restore.restore_topics(self._selected.brokers.values()):
            if outcome.before is None:
                self._created_items.add((outcome.server_name, "topic", outcome.item_name))
            yield outcome

    def _restore_consume_modes(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        for mode in broker.consume_modes:
            if self._is_dry_run and self._is_created(broker.broker_name, mode.topic, mode.group):
                name = f"{mode.topic} {mode.group}"
                after = mode.mode._asdict()
                yield RestoreOutcome(Section.CONSUME_MODES, broker.broker_name, name, None, after, "dry-run")
                continue
            [plan] = self._admin.consume_modes.plan_change([addr], mode.topic, mode.group, mode.mode)
            change: ModeChange | None = plan.result
            before = None if change is None or change.mode_before is None else change.mode_before._asdict()
            yield change_item(
                Section.CONSUME_MODES,
                broker.broker_name,
                f"{mode.topic} {mode.group}",
                (before, mode.mode._asdict()),
                plan.error,
                partial(self._set_mode, addr, mode),
                is_dry_run=self._is_dry_run,
                only_missing=self._only_missing,
            )

    def _set_mode(self, addr: str, mode: AssignedMode) -> RocketMQError | None:
        [result] = self._admin.consume_modes.set_mode([addr], mode.topic, mode.group, mode.mode)
        return result.error

    def _restore_offsets(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        if not broker.offsets:
            return
        static_topics = {*broker.static_topics, *self._list_static_topics(broker.broker_name)}
        try:
            targets = plan_offsets(
                self._admin,
                addr,
                broker,
                static_topics,
                overwrites=self._overwrites_offsets,
                queue_counts_now=self._list_queue_counts(broker.broker_name) if self._is_dry_run else {},
            )
        except RocketMQError as error:
            for topic, group in broker.offsets:
                name = f"{topic} {group}"
                yield RestoreOutcome(
                    Section.OFFSETS, broker.broker_name, name, None, None, "failed", error=error
                )
            return
        targets = [
            target._replace(reason=HAS_LEFT_OFFSET)
            if target.reason == HAS_OTHER_OFFSET
            and self._is_created(broker.broker_name, target.topic, target.group)
            else target
            for target in targets
        ]
        outcomes = (
            [
                OffsetOutcome(target, target.method if target.new_offset is None else "dry-run")
                for target in targets
            ]
            if self._is_dry_run
            else apply_offsets(self._admin, addr, broker.broker_name, targets, static_topics)
        )
        yield from _merge_queues(broker.broker_name, outcomes)

    def _list_queue_counts(self, broker_name: str) -> dict[str, int]:
        """The read queues that the topics which the restore creates or changes have before it."""
        created = {
            name: 0 for server, kind, name in self._created_items if (server, kind) == (broker_name, "topic")
        }
        changed = {
            step.item_name: step.before["readQueueNums"]
            for step in self.planned_diff.steps
            if (step.server_name, step.kind) == (broker_name, "topic") and step.before is not None
        }
        return created | changed

    def _list_static_topics(self, broker_name: str) -> Set[str]:
        """Return the static topics that the broker had before the restore."""
        states = self._cluster_state.broker_states
        return next((state.static for state in states if state.broker_name == broker_name), frozenset())

    def _is_created(self, broker: str, topic: str, group: str | None = None) -> bool:
        """Whether the restore creates the topic or the group on the broker."""
        return not self._created_items.isdisjoint({(broker, "topic", topic), (broker, "group", group)})


def _list_sections(broker: BrokerBackup) -> list[Section]:
    """The sections that the broker should get."""
    items_by_section: Mapping[Section, Sized] = {
        Section.TOPICS: broker.topics,
        Section.STATIC_TOPICS: broker.static_topics,
        Section.GROUPS: broker.groups,
        Section.CONSUME_MODES: broker.consume_modes,
        Section.OFFSETS: broker.offsets,
        Section.USERS: broker.users,
        Section.ACLS: broker.acls,
        Section.ACCOUNTS: (*broker.accounts, *broker.white_addrs),
    }
    return [section for section, items in items_by_section.items() if items]


def _merge_queues(broker: str, outcomes: Sequence[OffsetOutcome]) -> Iterator[RestoreOutcome]:
    """Yield one outcome for the queues of a group on a topic that have the same result and reason."""
    outcomes_by_group: dict[tuple[str, str, str, str, str], list[OffsetOutcome]] = {}
    for outcome in outcomes:
        target = outcome.target
        reason = target.reason or target.method
        outcomes_by_group.setdefault(
            (target.topic, target.group, outcome.result, reason, str(outcome.error)), []
        ).append(outcome)
    for (topic, group, result, reason, _), queue_outcomes in outcomes_by_group.items():
        yield RestoreOutcome(
            Section.OFFSETS,
            broker,
            f"{topic} {group}",
            {str(outcome.target.queue_id): outcome.target.old_offset for outcome in queue_outcomes},
            {str(outcome.target.queue_id): outcome.target.new_offset for outcome in queue_outcomes},
            result,
            reason,
            queue_outcomes[0].error,
        )
