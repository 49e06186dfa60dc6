"""`admin.groups`: the subscription groups of brokers: read, create, update, delete."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client import targets
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.results import MadeAnew, NotApplied, NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.targets import Target

# The groups that brokers create for themselves (SubscriptionGroupManager upstream).
SYSTEM_GROUPS = frozenset(
    {
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_PULL",
        "FILTERSRV_CONSUMER",
        "SELF_TEST_C_GROUP",
        "TOOLS_CONSUMER",
    }
)
SYSTEM_PREFIX = "CID_RMQ_SYS_"

# The defaults of mqadmin. The defaults of a broker would allow broadcasting.
NEW_GROUP: Mapping[str, Any] = {
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

Settings = Mapping[str, Any]
"""A SubscriptionGroupConfig: wire name to value. The broker's release decides which names exist."""


Signed = Mapping[str, str]
"""Changes of attributes: "+key" maps to the new value; "-key" deletes, its value is ignored."""


class GroupSettings(NamedTuple):
    """The settings of a group on one broker.

    Attributes:
        target: The broker process.
        settings: The settings; None if the broker does not know the group, or after an error.
        error: The error; None after a success.
    """

    target: Target
    settings: Settings | None
    error: RocketMQError | None


class GroupChange(NamedTuple):
    """A change of a group on one master.

    Attributes:
        target: The master.
        before: The settings before; {} if the group did not exist.
        after: The settings after.
        error: The reason why the change failed or is impossible; None otherwise.
    """

    target: Target
    before: Settings
    after: Settings
    error: RocketMQError | None


class Groups:
    """`admin.groups`: the subscription groups of brokers."""

    def __init__(self, caller: Caller, clusters: Clusters) -> None:
        self._caller = caller
        self._clusters = clusters

    def everywhere(self, cluster_name: str | None = None) -> list[Target]:
        """Return one process per broker group: the master, else the slave with the lowest id.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Args:
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        return [
            Target(group.broker_name, broker_id, addr)
            for group in self._clusters.info().in_cluster(cluster_name)
            for broker_id, addr in list(group.broker_addrs.items())[:1]
        ]

    def masters(self, cluster_name: str) -> list[Target]:
        """Return the master of each broker group of a cluster; its address is None without a master.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Raises:
            NotFound: No such cluster, or it has no brokers.
        """
        return targets.masters(self._clusters.info(), cluster_name)

    def tables(self, at: Iterable[Target]) -> list[ServerResult[dict[str, Settings]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        This request, unlike one for a single group, does not create a missing group.

        Returns:
            One ServerResult per target, in order: group name to settings. The error is NotApplied for a
            target without an address.
        """
        at = list(at)
        code = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        asked = self._caller.ask_each([target.broker_addr for target in at if target.broker_addr], code)
        answers = iter(asked)
        return [
            decoded(next(answers), _group_table)
            if target.broker_addr
            else ServerResult("", None, NotApplied(targets.NO_MASTER))
            for target in at
        ]

    def names(
        self, cluster_name: str | None = None, *, system: bool = False
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
            table.then(lambda groups: [name for name in groups if system or not is_system(name)])
            for table in self.tables(self.everywhere(cluster_name))
        ]

    def settings(self, group: str, cluster_name: str | None = None) -> list[GroupSettings]:
        """Return the settings of a group on each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            group: The group.
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: All brokers answered, and none of them knows the group.
        """
        at = self.everywhere(cluster_name)
        found = [
            GroupSettings(target, (table or {}).get(group), error)
            for target, (_, table, error) in zip(at, self.tables(at), strict=True)
        ]
        if all(item.settings is None and item.error is None for item in found):
            raise NotFound(f"no broker knows the consumer group {group!r}")
        return found

    def check_exists(self, group: str, cluster_name: str | None = None) -> None:
        """Check that at least one broker knows a group.

        Raises:
            NotFound: All brokers answered, and none of them knows the group.
        """
        self.settings(group, cluster_name)

    def planned(
        self, group: str, masters: Iterable[Target], changes: Settings, attributes: Signed
    ) -> list[GroupChange]:
        """Plan `update_group` without changing anything.

        Args:
            group: The group.
            master_targets: The masters to change.
            setting_changes: Wire name to new value; other settings stay. A new group starts from
                NEW_GROUP_SETTINGS.
            attribute_changes: Changes of attributes, by "+key" or "-key".

        Returns:
            One GroupChange per master, in order. Its error is NotApplied for a slave.
        """
        masters = list(masters)
        slaves = self._slaves(masters)
        plans = []
        for target, (_, table, error) in zip(masters, self.tables(masters), strict=True):
            before = (table or {}).get(group) or {}
            after = {**(before or NEW_GROUP), **changes, "groupName": group}
            if attributes:
                after["attributes"] = _altered(before.get("attributes") or {}, attributes)
            plans.append(GroupChange(target, before, after, error or slaves.get(target.broker_addr or "")))
        return plans

    def update(
        self, group: str, masters: Iterable[Target], changes: Settings, attributes: Signed
    ) -> list[GroupChange]:
        """Create or update a group on masters, and read it back.

        Sends UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200) with the merged settings of `plan_update`.

        Returns:
            One GroupChange per master, in order. Its error is NotApplied if the broker answered success but
            has other values afterwards.
        """
        plans = self.planned(group, masters, changes, attributes)
        ready = [plan for plan in plans if plan.error is None]
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        # A broker merges attributes itself, so send only the signed changes. It replaces everything else.
        bodies = [fastjson.dumps({**plan.after, "attributes": dict(attributes)}) for plan in ready]
        answers = self._caller.ask(
            (plan.target.broker_addr or "", request(code, None, body))
            for plan, body in zip(ready, bodies, strict=True)
        )
        tables = self.tables(plan.target for plan in ready)
        done = {
            plan.target: plan._replace(error=answer.error or table.error or _ignored(group, plan, table))
            for plan, answer, table in zip(ready, answers, tables, strict=True)
        }
        return [done.get(plan.target, plan) for plan in plans]

    def holders(self, group: str, at: Iterable[Target]) -> list[ServerResult[Settings]]:
        """Return the settings of a group on each target (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Returns:
            One ServerResult per target, in order. The error is NotFound for an unknown group.
        """

        def check(groups: dict[str, Settings]) -> Settings:
            if group not in groups:
                raise NotFound(f"this broker knows no consumer group {group!r}")
            return groups[group]

        return [table.then(check) for table in self.tables(at)]

    def delete(
        self, group: str, masters: Iterable[Target], *, clean_offset: bool = False
    ) -> list[ServerResult[Settings]]:
        """Delete a group on masters (DELETE_SUBSCRIPTIONGROUP, 207), and verify it.

        Args:
            group: The group.
            master_targets: The masters to change.
            clean_offset: Also delete the committed offsets of the group.

        Returns:
            One ServerResult per master, in order: the settings before. The error is NotFound for an unknown
            group (brokers answer success), NotApplied for a slave, AlreadyRecreated if the group is back.
        """
        masters = list(masters)
        slaves = self._slaves(masters)
        results = [
            ServerResult(held.addr, None, slaves[held.addr]) if held.addr in slaves else held
            for held in self.holders(group, masters)
        ]
        had = {held.addr: held for held in results if held.error is None}
        holding = list(had)
        ext = headers.write(broker_headers.DeleteGroup(group, clean_offset))
        deleted = self._caller.ask_each(holding, RequestCode.DELETE_SUBSCRIPTIONGROUP, ext)
        left = self.tables(targets.at(addr) for addr in holding)
        done = {
            answer.addr: _checked_gone(had[answer.addr], answer.error, table, group)
            for answer, table in zip(deleted, left, strict=True)
        }
        return [done.get(held.addr, held) for held in results]

    def _slaves(self, at: Iterable[Target]) -> dict[str, RocketMQError]:
        """Ask the targets without a broker id whether they are slaves: address to the error for each slave.

        A slave since 5.1.4 accepts a change and answers success, but loses the change within a minute.
        """
        unknown = [target.broker_addr for target in at if target.broker_id is None and target.broker_addr]
        answers = self._caller.ask_each(unknown, RequestCode.GET_BROKER_CONFIG)
        items = [decoded(answer, config_items) for answer in answers]
        return {
            addr: NotApplied("this broker is a slave, which would lose the change: name its master")
            for addr, config, _ in items
            if config is not None and config.get("brokerId", "0") != "0"
        }


def is_system(group: str) -> bool:
    """Return whether brokers create the group for themselves."""
    return group in SYSTEM_GROUPS or group.startswith(SYSTEM_PREFIX)


def _group_table(command: Command) -> dict[str, Settings]:
    table = json_object(command).get("subscriptionGroupTable") or {}
    return {name: config for name, config in sorted(table.items()) if isinstance(config, dict)}


def _altered(attributes: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    gone = {key[1:] for key in changes if key.startswith("-")}
    added = {key[1:]: value for key, value in changes.items() if key.startswith("+")}
    return {**{key: value for key, value in attributes.items() if key not in gone}, **added}


def _ignored(group: str, plan: GroupChange, table: ServerResult[dict[str, Settings]]) -> RocketMQError | None:
    found = (table.result or {}).get(group, {})
    ignored = [key for key, value in plan.after.items() if (value or None) != (found.get(key) or None)]
    if not ignored:
        return None
    return NotApplied(f"the broker answered success, but did not take over {', '.join(sorted(ignored))}")


def _checked_gone(
    had: ServerResult[Settings],
    error: RocketMQError | None,
    left: ServerResult[dict[str, Settings]],
    group: str,
) -> ServerResult[Settings]:
    error = error or left.error
    if error is None and group in (left.result or {}):
        # After the deletion, 5.5.0 looks up the type of the group, and this lookup creates the group again.
        error = MadeAnew(
            "the broker has made the group anew: 5.5 does unless its offsets are deleted with it, and so do"
            " clients that are connected"
        )
    return had if error is None else ServerResult(had.addr, None, error)
