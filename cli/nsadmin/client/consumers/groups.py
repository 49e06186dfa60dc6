"""`admin.groups`: the subscription groups of brokers: read, create, update, delete."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.resource_attributes import apply_changes, find_refusal, sign_changes
from namesrv_core.protocol.resource_names import find_group_name_problem
from nsadmin.client.brokers import targets
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.brokers.list_deletions import send_group_deletions
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_config_items, parse_json_object
from nsadmin.client.consumers.committed_offsets import find_topics_with_offsets, parse_all_committed
from nsadmin.client.results import AlreadyRecreated, NotApplied, NotFound, ServerResult, error_text
from nsadmin.client.wire_configs import read_configs

# The groups that brokers (SubscriptionGroupManager upstream) and proxies create for themselves.
SYSTEM_GROUPS = frozenset(
    {
        "CID_DefaultHeartBeatSyncerTopic",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_PULL",
        "FILTERSRV_CONSUMER",
        "SELF_TEST_C_GROUP",
        "TOOLS_CONSUMER",
    }
)
SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_"

_FORBIDDEN_READ_BIT = 1 << 2
"""PermName.INDEX_PERM_READ upstream. Brokers set no other bit."""

T = TypeVar("T")

# The defaults of mqadmin. The defaults of a broker would allow broadcasting.
NEW_GROUP_SETTINGS: Mapping[str, Any] = {
    "consumeEnable": True,
    "consumeFromMinEnable": False,
    "consumeBroadcastEnable": False,
    "consumeMessageOrderly": False,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "notifyConsumerIdsChangedEnable": True,
}

GroupConfigFields = Mapping[str, Any]
"""A SubscriptionGroupConfig: wire name to value. The broker's release decides which names exist."""

AttributeChanges = Mapping[str, str]
"""Changes of attributes: "+key" maps to the new value; "-key" deletes, its value is ignored."""


class GroupSettings(NamedTuple):
    """The settings of a group on one broker.

    Attributes:
        target: The broker process.
        settings: The settings; None if the broker does not know the group, or after an error.
        error: The error; None after a success.
    """

    target: BrokerTarget
    settings: GroupConfigFields | None
    error: RocketMQError | None


class GroupChange(NamedTuple):
    """A change of a group on one master.

    Attributes:
        target: The master.
        before: The settings before; {} if the group did not exist.
        after: The settings after.
        error: The reason why the change failed or is impossible; None otherwise.
    """

    target: BrokerTarget
    before: GroupConfigFields
    after: GroupConfigFields
    error: RocketMQError | None


class GroupAdmin:
    """`admin.groups`: the subscription groups of brokers."""

    def __init__(self, caller: Caller, clusters: ClusterAdmin) -> None:
        self._caller, self._clusters = caller, clusters

    def list_targets(self, cluster_name: str | None = None) -> list[BrokerTarget]:
        """Return one process per broker group: the master, else the slave with the lowest id.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Args:
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        return [
            BrokerTarget(broker_group.broker_name, broker_id, broker_addr)
            for broker_group in self._clusters.get_info().processes_in_cluster(cluster_name)
            for broker_id, broker_addr in list(broker_group.broker_addrs.items())[:1]
        ]

    def list_masters(self, cluster_name: str) -> list[BrokerTarget]:
        """Return the master of each broker group of a cluster; its address is None without a master.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Raises:
            NotFound: No such cluster, or it has no brokers.
        """
        return targets.list_master_targets(self._clusters.get_info(), cluster_name)

    def get_tables(
        self, broker_targets: Iterable[BrokerTarget]
    ) -> list[ServerResult[dict[str, GroupConfigFields]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        This request, unlike one for a single group, does not create a missing group.

        Returns:
            One ServerResult per target, in order: group name to settings. The error is NotApplied for a
            target without an address.
        """
        broker_targets = list(broker_targets)
        addrs = [target.broker_addr for target in broker_targets if target.broker_addr]
        tables = iter(
            self._caller.read_each(addrs, parse_group_table, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        )
        return [
            next(tables) if target.broker_addr else ServerResult("", None, NotApplied(targets.NO_MASTER))
            for target in broker_targets
        ]

    def list_forbidden_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[dict[str, list[str]]]]:
        """Return the topics that groups may not read (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        UPDATE_AND_GET_GROUP_FORBIDDEN (353) forbids them.

        Returns:
            One ServerResult per address, in order: group to its forbidden topics.
        """
        request_code = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        return self._caller.read_each(broker_addrs, _parse_forbidden_topics, request_code)

    def list_names(
        self, cluster_name: str | None = None, *, include_system: bool = False
    ) -> list[ServerResult[list[str]]]:
        """Return the group names of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            cluster_name: The cluster. Default: all clusters.
            include_system: Include the groups that brokers create for themselves.

        Returns:
            One ServerResult per broker group: names in order.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        return [
            table_result.then(lambda table: [n for n in table if include_system or not is_system_group(n)])
            for table_result in self.get_tables(self.list_targets(cluster_name))
        ]

    def get_settings(self, group: str, cluster_name: str | None = None) -> list[GroupSettings]:
        """Return the settings of a group on each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            group: The group.
            cluster_name: The cluster. Default: all clusters.

        Returns:
            One GroupSettings per broker group, in order.

        Raises:
            NotFound: All brokers answered, and none of them knows the group.
        """
        broker_targets = self.list_targets(cluster_name)
        group_settings = [
            GroupSettings(target, (table or {}).get(group), error)
            for target, (_, table, error) in zip(broker_targets, self.get_tables(broker_targets), strict=True)
        ]
        if all(s.settings is None and s.error is None for s in group_settings):
            unknown = f'no broker has the consumer group "{group}"'
            raise NotFound(unknown if broker_targets else "no broker is registered")
        return group_settings

    def check_exists(self, group: str, cluster_name: str | None = None) -> None:
        """Check that at least one broker knows a group.

        Args:
            group: The consumer group.
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: All brokers answered, and none of them knows the group.
        """
        self.get_settings(group, cluster_name)

    def plan_update(
        self,
        group: str,
        master_targets: Iterable[BrokerTarget],
        setting_changes: GroupConfigFields,
        attribute_changes: AttributeChanges,
    ) -> list[GroupChange]:
        """Plan `update_group` without changing anything.

        Args:
            group: The group.
            master_targets: The masters to change.
            setting_changes: Wire name to new value; other settings stay. A new group starts from
                NEW_GROUP_SETTINGS.
            attribute_changes: Changes of attributes, by "+key" or "-key".

        Returns:
            One GroupChange per master, in order. Its error is NotApplied for a slave, for a new group whose
            name brokers of 5.4 and later refuse, and for attributes that brokers refuse.
        """
        master_targets = list(master_targets)
        slave_errors = self._find_slaves(master_targets)
        planned_changes = []
        for target, (_, group_table, error) in zip(
            master_targets, self.get_tables(master_targets), strict=True
        ):
            settings_before = (group_table or {}).get(group) or {}
            attributes_before = settings_before.get("attributes") or {}
            settings_after = {
                **(settings_before or NEW_GROUP_SETTINGS),
                **setting_changes,
                "groupName": group,
            }
            if attribute_changes:
                settings_after["attributes"] = apply_changes(attributes_before, attribute_changes)
            # A group that does not exist is created, if its name is valid.
            name_problem = None if settings_before else find_group_name_problem(group)
            refusal = name_problem or find_refusal(
                "group", attributes_before, settings_after.get("attributes") or {}
            )
            planned_changes.append(
                GroupChange(
                    target,
                    settings_before,
                    settings_after,
                    error
                    or slave_errors.get(target.broker_addr or "")
                    or (None if refusal is None else NotApplied(refusal)),
                )
            )
        return planned_changes

    def update_group(
        self,
        group: str,
        master_targets: Iterable[BrokerTarget],
        setting_changes: GroupConfigFields,
        attribute_changes: AttributeChanges,
    ) -> list[GroupChange]:
        """Create or update a group on masters, and read it back.

        Sends UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200) with the merged settings of `plan_update`, which has
        the same arguments.

        Returns:
            One GroupChange per master, in order. Its error is NotApplied if the broker answered success but
            has other values afterwards.
        """
        planned_changes = self.plan_update(group, master_targets, setting_changes, attribute_changes)
        sendable_changes = [change for change in planned_changes if change.error is None]

        def build_request(change: GroupChange) -> RemotingCommand:
            # A broker merges attributes itself, so send only the signed changes. It replaces everything else.
            signed_changes = sign_changes(
                change.before.get("attributes") or {}, change.after.get("attributes") or {}
            )
            body = fastjson.encode_json({**change.after, "attributes": signed_changes})
            return make_request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, body)

        answers = self._caller.send_requests(
            (change.target.broker_addr or "", build_request(change)) for change in sendable_changes
        )
        table_results = self.get_tables(planned_change.target for planned_change in sendable_changes)
        changes_by_target = {
            planned_change.target: planned_change._replace(
                error=answer.error or result.error or _find_ignored_settings(group, planned_change, result)
            )
            for planned_change, answer, result in zip(sendable_changes, answers, table_results, strict=True)
        }
        return [
            changes_by_target.get(planned_change.target, planned_change) for planned_change in planned_changes
        ]

    def find_holders(
        self, group: str, broker_targets: Iterable[BrokerTarget], *, includes_offsets: bool = False
    ) -> list[ServerResult[GroupConfigFields]]:
        """Return the settings of a group on each target (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            group: The group.
            broker_targets: The brokers to ask.
            includes_offsets: Whether a broker that only has offsets of the group holds it, with {} as its
                settings (GET_ALL_CONSUMER_OFFSET, 43).

        Returns:
            One ServerResult per target, in order. The error is NotFound for an unknown group.
        """

        def require_group(group_table: dict[str, GroupConfigFields]) -> GroupConfigFields:
            if group not in group_table:
                raise NotFound(f'this broker does not have the consumer group "{group}"')
            return group_table[group]

        holders = [table_result.then(require_group) for table_result in self.get_tables(broker_targets)]
        others = [r.addr for r in holders if includes_offsets and isinstance(r.error, NotFound)]
        offset_tables = self._caller.read_each(
            others, parse_all_committed, RequestCode.GET_ALL_CONSUMER_OFFSET
        )
        with_offsets = {r.addr for r in offset_tables if find_topics_with_offsets(r.result or {}, group)}
        return [ServerResult(r.addr, {}, None) if r.addr in with_offsets else r for r in holders]

    def delete_group(
        self, group: str, master_targets: Iterable[BrokerTarget], *, clean_offset: bool = False
    ) -> list[ServerResult[GroupConfigFields]]:
        """Delete a group on masters (DELETE_SUBSCRIPTIONGROUP, 207), and verify it.

        If a broker creates the group again, the method restores its settings (200) and the topics that it
        may not read (UPDATE_AND_GET_GROUP_FORBIDDEN, 353).

        Args:
            group: The group.
            master_targets: The masters to change.
            clean_offset: Also delete the consumer offsets of the group, even if its settings are gone.

        Returns:
            One ServerResult per master, in order: the settings before; {} if only offsets were left. The
            error is NotFound for an unknown group (brokers answer success), NotApplied for a slave,
            AlreadyRecreated if the group is back.
        """
        return self.delete_groups([group], master_targets, clean_offset=clean_offset)[0]

    def delete_groups(
        self, groups: Sequence[str], master_targets: Iterable[BrokerTarget], *, clean_offset: bool = False
    ) -> list[list[ServerResult[GroupConfigFields]]]:
        """Delete groups on masters, and verify it; return for each group the results of `delete_group`.

        Brokers since 5.5.1 get lists of groups (DELETE_SUBSCRIPTION_GROUP_LIST, 5003).
        """
        master_targets = list(master_targets)
        slave_errors = self._find_slaves(master_targets)
        results_by_group = {
            group: {
                r.addr: ServerResult(r.addr, None, slave_errors[r.addr]) if r.addr in slave_errors else r
                for r in self.find_holders(group, master_targets, includes_offsets=clean_offset)
            }
            for group in groups
        }
        held = {
            (r.addr, group): r
            for group, results in results_by_group.items()
            for r in results.values()
            if r.error is None
        }
        forbidden_topics = {
            (addr, group): topics
            for addr, topics_by_group, _ in self.list_forbidden_topics(dict.fromkeys(a for a, _ in held))
            for group, topics in (topics_by_group or {}).items()
        }
        answers = send_group_deletions(self._caller, held, clean_offset=clean_offset)
        holder_addrs = list(dict.fromkeys(addr for addr, _ in held))
        tables_after = {r.addr: r for r in self.get_tables(map(targets.target_at_addr, holder_addrs))}
        for ((addr, group), result), answer in zip(held.items(), answers, strict=True):
            results_by_group[group][addr] = self._verify_deletion(
                result, answer.error, tables_after[addr], group, forbidden_topics.get((addr, group), [])
            )
        return [list(results_by_group[group].values()) for group in groups]

    def _verify_deletion(
        self,
        result: ServerResult[GroupConfigFields],
        error: RocketMQError | None,
        table_after: ServerResult[dict[str, GroupConfigFields]],
        group: str,
        forbidden_topics: list[str],
    ) -> ServerResult[GroupConfigFields]:
        error = error or table_after.error
        if error is None and group in (table_after.result or {}):
            error = self._restore_group(group, result.addr, result.result or {}, forbidden_topics)
        return result if error is None else ServerResult(result.addr, None, error)

    def _restore_group(
        self, group: str, broker_addr: str, settings_before: GroupConfigFields, forbidden_topics: list[str]
    ) -> AlreadyRecreated:
        """Give a recreated group its settings back, and forbid the topics again (353).

        Returns the error that says what happened.
        """
        attributes = settings_before.get("attributes") or {}
        [restored_group] = self.update_group(
            group,
            [targets.target_at_addr(broker_addr)],
            {key: value for key, value in settings_before.items() if key not in ("attributes", "groupName")},
            {f"+{attribute_key}": attribute_value for attribute_key, attribute_value in attributes.items()},
        )
        errors = [restored_group.error]
        if restored_group.error is None:
            code = RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN
            answers = self._caller.send_requests(
                (broker_addr, make_request(code, broker_headers.ForbidTopic(group, topic, False)))
                for topic in forbidden_topics
            )
            errors += [answer.error for answer in answers]
        first_error = next(filter(None, errors), None)
        restore_text = (
            "its settings are restored"
            if first_error is None
            else f"its settings are not restored: {error_text(first_error)}"
        )
        # After the deletion, 5.5.0 looks up the type of the group, and this lookup creates the group again.
        return AlreadyRecreated(
            f"the broker created the group again, and {restore_text}. 5.5 does so unless you delete its "
            "offsets with it (-r true), and so do connected clients."
        )

    def _find_slaves(self, broker_targets: Iterable[BrokerTarget]) -> dict[str, RocketMQError]:
        """Ask the targets without a broker id whether they are slaves: address to the error for each slave.

        A slave since 5.1.4 accepts a change and answers success, but loses the change within a minute.
        """
        addrs = [
            target.broker_addr for target in broker_targets if target.broker_id is None and target.broker_addr
        ]
        config_results = self._caller.read_each(addrs, parse_config_items, RequestCode.GET_BROKER_CONFIG)
        return {
            broker_addr: NotApplied("this broker is a slave, which would lose the change: pass its master")
            for broker_addr, broker_config, _ in config_results
            if broker_config is not None and broker_config.get("brokerId", "0") != "0"
        }


def is_system_group(group: str) -> bool:
    """Return whether brokers or proxies create the group for themselves."""
    return group in SYSTEM_GROUPS or group.startswith(SYSTEM_GROUP_PREFIX)


def _parse_forbidden_topics(response: RemotingCommand) -> dict[str, list[str]]:
    table = parse_json_object(response).child("forbiddenTable")
    bits_by_group = {group: table.child(group) for group in table.members}
    return {
        group: sorted(topic for topic in bits.members if bits.integer(topic, 0) & _FORBIDDEN_READ_BIT)
        for group, bits in bits_by_group.items()
    }


def select_user_groups(by_group: Mapping[str, T]) -> dict[str, T]:
    """The values of all groups that are not RocketMQ's own."""
    return {group: value for group, value in by_group.items() if not is_system_group(group)}


def parse_group_table(response: RemotingCommand) -> dict[str, GroupConfigFields]:
    """Parse the answer to GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)."""
    group_configs = read_configs(parse_json_object(response).child("subscriptionGroupTable"))
    return dict(sorted(group_configs.items()))


def _find_ignored_settings(
    group: str, planned_change: GroupChange, table_result: ServerResult[dict[str, GroupConfigFields]]
) -> RocketMQError | None:
    """Compare a change with the settings that a broker has afterwards."""
    current_settings = (table_result.result or {}).get(group, {})
    ignored_keys = [
        key for key, v in planned_change.after.items() if (v or None) != (current_settings.get(key) or None)
    ]
    if not ignored_keys:
        return None
    return NotApplied(f"the broker reported success, but kept the old {', '.join(sorted(ignored_keys))}")
