"""Groups: the subscription groups of brokers, their settings, changed by merging; and deleting them."""

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

# What brokers make for themselves (SubscriptionGroupManager upstream).
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

# What mqadmin gives a new group; a broker's own defaults would allow broadcasting.
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
"""A SubscriptionGroupConfig by the wire's own names, as the broker's release has them."""


Signed = Mapping[str, str]
"""Changes of attributes: "+key" to its new value, "-key" to anything."""


class GroupSettings(NamedTuple):
    """A group on one broker; `settings` is None where the broker does not know it, or did not tell."""

    target: Target
    settings: Settings | None
    error: RocketMQError | None


class GroupChange(NamedTuple):
    """A group's change on one master: its settings before ({}: not there) and after."""

    target: Target
    before: Settings
    after: Settings
    error: RocketMQError | None


class Groups:
    """`admin.groups`."""

    def __init__(self, caller: Caller, clusters: Clusters) -> None:
        self._caller = caller
        self._clusters = clusters

    def everywhere(self, cluster_name: str | None = None) -> list[Target]:
        """One process of every broker of a cluster, or of all: the master, else the slave of lowest id."""
        return [
            Target(group.broker_name, broker_id, addr)
            for group in self._clusters.info().in_cluster(cluster_name)
            for broker_id, addr in list(group.broker_addrs.items())[:1]
        ]

    def masters(self, cluster_name: str) -> list[Target]:
        """The master of each broker of a cluster, without an address where there is none now."""
        return targets.masters(self._clusters.info(), cluster_name)

    def tables(self, at: Iterable[Target]) -> list[ServerResult[dict[str, Settings]]]:
        """All groups of each broker by name (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, which creates none)."""
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
        """The groups that each broker knows, in order; those that brokers make for themselves if `system`."""
        return [
            table.then(lambda groups: [name for name in groups if system or not is_system(name)])
            for table in self.tables(self.everywhere(cluster_name))
        ]

    def settings(self, group: str, cluster_name: str | None = None) -> list[GroupSettings]:
        """The group on each broker; NotFound if all brokers answer and none knows it."""
        at = self.everywhere(cluster_name)
        found = [
            GroupSettings(target, (table or {}).get(group), error)
            for target, (_, table, error) in zip(at, self.tables(at), strict=True)
        ]
        if all(item.settings is None and item.error is None for item in found):
            raise NotFound(f"no broker knows the consumer group {group!r}")
        return found

    def check_exists(self, group: str, cluster_name: str | None = None) -> None:
        """NotFound if all brokers answer and none knows the group."""
        self.settings(group, cluster_name)

    def planned(
        self, group: str, masters: Iterable[Target], changes: Settings, attributes: Signed
    ) -> list[GroupChange]:
        """What `update` would do on these masters, and nothing of it done.

        What `changes` does not name stays as it is; a group that is not there is made of NEW_GROUP.
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
        """Create or change the group on these masters, merging as `planned` shows, and read it back.

        NotApplied where a broker said yes and has other values all the same.
        """
        plans = self.planned(group, masters, changes, attributes)
        ready = [plan for plan in plans if plan.error is None]
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        # Attributes are the one thing that a broker merges by itself, and it wants their signs.
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
        """How each broker has the group, NotFound for those that do not; in the order asked for."""

        def check(groups: dict[str, Settings]) -> Settings:
            if group not in groups:
                raise NotFound(f"this broker knows no consumer group {group!r}")
            return groups[group]

        return [table.then(check) for table in self.tables(at)]

    def delete(
        self, group: str, masters: Iterable[Target], *, clean_offset: bool = False
    ) -> list[ServerResult[Settings]]:
        """Delete the group on these masters, with its offsets if so wanted, and read that back.

        Results are the settings that it had. NotFound where a broker did not know it: brokers answer that
        with success.
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
        """Of brokers known by their address only, those that are slaves, by what they themselves say.

        A slave since 5.1.4 takes a change, says done, and loses it within a minute.
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
    """Whether brokers made the group for themselves."""
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
        # 5.5.0 looks whether the group is of a certain type after deleting it, and looking makes it anew.
        error = MadeAnew(
            "the broker has made the group anew: 5.5 does unless its offsets are deleted with it, and so do"
            " clients that are connected"
        )
    return had if error is None else ServerResult(had.addr, None, error)
