"""Finds the probable cause of a difference from the state of name servers and brokers. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client.advised_command import quote_command
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.divergence.comparison import ComparedValue, ItemDifference

NEW_LIST_MS = 150_000
"""Longest time from a change of a broker's namesrvAddr to its registration with the new name servers.

A broker reads its list every 2 minutes and registers every 30 seconds (BrokerController#initialize, #start).
"""


class DivergenceCause(NamedTuple):
    """The probable cause of a difference: a word for programs, a sentence, and the remedy."""

    kind: str
    text: str
    advice: str


class BrokerFacts(NamedTuple):
    """The broker's own view.

    `registered_servers` are the name servers that it registers with, none if unknown. `own_topics` has its
    own values of the topics that were requested, None for a topic that it does not have. `settings_age_ms` is
    the time since a request last changed its settings, None if it is unknown or none did.
    """

    is_answering: bool
    registered_servers: tuple[str, ...] = ()
    own_topics: Mapping[str, ComparedValue | None] = {}
    settings_age_ms: int | None = None


NO_FACTS = BrokerFacts(False)


KvPattern = tuple[int | None, ...]


def find_pattern(values: Sequence[ComparedValue | None]) -> KvPattern:
    """Return for each value where it is first; None for no value."""
    return tuple(None if value is None else values.index(value) for value in values)


@dataclass(frozen=True)
class CauseEvidence:
    """The evidence for causes: the snapshot of each name server, and the facts that brokers report."""

    server_snapshots: Sequence[ClusterSnapshot]
    facts_by_addr: Mapping[str, BrokerFacts]

    @cached_property
    def kv_keys_by_pattern(self) -> Mapping[str, Mapping[KvPattern, Sequence[str]]]:
        """The KV keys that differ, by namespace and pattern: name servers have those of a pattern alike."""
        keys_by_pattern: dict[str, dict[KvPattern, list[str]]] = {}
        for namespace in {namespace for snapshot in self.server_snapshots for namespace in snapshot.kv}:
            tables = [snapshot.kv.get(namespace, {}) for snapshot in self.server_snapshots]
            keys_by_pattern[namespace] = {}
            for key in sorted({key for table in tables for key in table}):
                pattern = find_pattern([table.get(key) for table in tables])
                if len(set(pattern)) > 1:
                    keys_by_pattern[namespace].setdefault(pattern, []).append(key)
        return keys_by_pattern

    def list_broker_addrs(self, broker_name: str) -> list[str]:
        """Return the addresses under which name servers list the broker, masters first."""
        sorted_addrs = sorted(
            (int(broker_id), addr)
            for snapshot in self.server_snapshots
            for broker_id, addr in snapshot.brokers.get(broker_name, {}).get("brokerAddrs", {}).items()
        )
        return list(dict.fromkeys(addr for _, addr in sorted_addrs))

    def find_cluster(self, broker_name: str | None = None) -> str:
        """Return the cluster of the broker, or any cluster; "CLUSTER" if name servers list none."""
        clusters = (
            group["clusterName"]
            for snapshot in self.server_snapshots
            for name, group in snapshot.brokers.items()
            if broker_name in (None, name)
        )
        return next(clusters, "CLUSTER")

    def facts_of(self, addr: str) -> BrokerFacts:
        return self.facts_by_addr.get(addr, NO_FACTS)

    def list_addrs(self, server_indexes: Iterable[int]) -> list[str]:
        return [self.server_snapshots[index].source for index in server_indexes]

    def addrs_at(self, server_indexes: Iterable[int]) -> str:
        return ", ".join(self.list_addrs(server_indexes))


def explain_partial_list(
    addrs: Sequence[str], wrong_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's namesrvAddr names only the servers that are right.

    A namesrvAddr counts only if it names all of these with the same addresses as this client.
    """
    wrong_addrs = evidence.list_addrs(wrong_servers)
    right_addrs = {snapshot.source for snapshot in evidence.server_snapshots}.difference(wrong_addrs)
    for addr in addrs:
        registered_addrs = evidence.facts_of(addr).registered_servers
        unnamed_addrs = [wrong_addr for wrong_addr in wrong_addrs if wrong_addr not in registered_addrs]
        if right_addrs and unnamed_addrs and right_addrs.issubset(registered_addrs):
            full_list = ";".join(dict.fromkeys((*registered_addrs, *unnamed_addrs)))
            return DivergenceCause(
                "partial-list",
                "the broker registers with a partial list: its namesrvAddr does not name "
                f"{', '.join(unnamed_addrs)}",
                f"run `{quote_command('updateBrokerConfig', 'namesrvAddr', full_list, '-b', addr)}`; "
                "the broker reads the list every 2 minutes",
            )
    return None


def explain_new_list(
    addrs: Sequence[str], behind_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's list names the servers that are behind since a moment ago."""
    behind_addrs = evidence.list_addrs(behind_servers)
    for facts in map(evidence.facts_of, addrs if behind_addrs else ()):
        is_recent = facts.settings_age_ms is not None and facts.settings_age_ms < NEW_LIST_MS
        if is_recent and set(behind_addrs).issubset(facts.registered_servers):
            return DivergenceCause(
                "new-list",
                f"its namesrvAddr names {', '.join(behind_addrs)}, and its settings changed less than 3 "
                "minutes ago",
                "wait: the broker reads a new list within 2 minutes, and registers within 30 s after that",
            )
    return None


def find_cause(difference: ItemDifference, evidence: CauseEvidence) -> DivergenceCause:
    """Return the probable cause of a difference."""
    explain_by_section = {
        "broker": _explain_broker,
        "topic": _explain_topic,
        "kv": _explain_kv,
        "setting": _explain_setting,
    }
    return explain_by_section[difference.item.section_name](difference, evidence)


# Brokers


def _explain_broker(difference: ItemDifference, evidence: CauseEvidence) -> DivergenceCause:
    missing_servers, broker_name = difference.missing_servers, difference.item.name
    addrs = list(
        dict.fromkeys(value["brokerAddr"] for value in difference.server_values if isinstance(value, Mapping))
    )
    if not missing_servers:
        return _explain_conflict(broker_name, addrs, evidence)
    if (cause := explain_new_list(addrs, missing_servers, evidence)) is not None:
        return cause
    server_list = evidence.addrs_at(missing_servers)
    if all(not evidence.server_snapshots[index].brokers for index in missing_servers):
        return DivergenceCause(
            "no-brokers",
            f"{server_list} lists no broker at all: it started less than a heartbeat ago, "
            "or no broker reaches it",
            f"check that brokers reach {server_list}, and that their namesrvAddr names it",
        )
    if (cause := explain_partial_list(addrs, missing_servers, evidence)) is not None:
        return cause
    if not any(evidence.facts_of(addr).is_answering for addr in addrs):
        return DivergenceCause(
            "gone",
            "the broker does not answer nsadmin either: it stopped, or it never registered with "
            f"{server_list}",
            f"check that {broker_name} runs: a name server removes a broker after 2 minutes without a "
            "heartbeat",
        )
    return DivergenceCause(
        "partition",
        f"its registrations do not reach {server_list}: the network is partitioned, or the name server "
        "refuses them",
        f"check the firewall between {broker_name} and {server_list}, and the broker's log",
    )


def _explain_conflict(broker_name: str, addrs: Sequence[str], evidence: CauseEvidence) -> DivergenceCause:
    if len(addrs) == 1:
        return DivergenceCause(
            "cluster",
            f"{broker_name} moved to another cluster, and some name servers list it in both",
            f"restart {broker_name}, which removes it from its old cluster",
        )
    alive_addrs = [addr for addr in addrs if evidence.facts_of(addr).is_answering]
    if len(alive_addrs) == 1:
        return DivergenceCause(
            "moved",
            f"{broker_name} answers at {alive_addrs[0]} only: it moved, and some name servers still have "
            "the old address",
            f"check that {alive_addrs[0]} reaches every name server, and that its namesrvAddr names all "
            "of them",
        )
    return DivergenceCause(
        "conflict",
        f"several processes register as {broker_name}: {', '.join(alive_addrs or addrs)}",
        "give each broker its own name or id",
    )


# Topics


def _explain_topic(difference: ItemDifference, evidence: CauseEvidence) -> DivergenceCause:
    topic, broker_name = difference.item.name, difference.item.parent_name
    if not broker_name:
        return DivergenceCause(
            "left-over",
            "the topic was deleted on some name servers only; no broker has it",
            _advise_deletion(topic, evidence.find_cluster()),
        )
    addrs = evidence.list_broker_addrs(broker_name)
    own_tables = (evidence.facts_of(addr).own_topics for addr in addrs)
    own_topics = next((topics for topics in own_tables if topic in topics), {})
    own_value = own_topics.get(topic)
    if own_topics and own_value is None:
        having_servers = [i for i, value in enumerate(difference.server_values) if value is not None]
        return DivergenceCause(
            "left-over",
            f"{broker_name} does not have the topic any more: it was deleted, but not on "
            f"{evidence.addrs_at(having_servers)}",
            _advise_deletion(topic, evidence.find_cluster(broker_name)),
        )
    cause = None
    if set(dict(difference.differing_fields)) == {"perm"} and not difference.missing_servers:
        cause = _explain_perm(difference, own_value, evidence)
    wrong_servers = _find_wrong_servers(difference, own_value)
    cause = cause or explain_partial_list(addrs, wrong_servers, evidence)
    return cause or _explain_behind(difference, wrong_servers, evidence)


def _advise_deletion(topic: str, cluster: str) -> str:
    command = quote_command("deleteTopic", topic, cluster)
    return f"run `{command}` if nobody needs the topic: brokers and name servers delete it"


def _find_wrong_servers(difference: ItemDifference, own_value: ComparedValue | None) -> tuple[int, ...]:
    """Return the name servers that contradict the broker; if its value is unknown, the minority."""
    if isinstance(own_value, Mapping):
        return tuple(
            index
            for index, value in enumerate(difference.server_values)
            if not isinstance(value, Mapping)
            or any(value[name] != text for name, text in own_value.items() if name in value)
        )
    return difference.missing_servers or _find_odd_servers(difference)


def _find_odd_servers(difference: ItemDifference) -> tuple[int, ...]:
    """Return the smallest set of name servers with the same value; () if several sets have that size."""
    servers_by_value: dict[str, list[int]] = {}
    for server_index, value in enumerate(difference.server_values):
        servers_by_value.setdefault(repr(value), []).append(server_index)
    smallest, *others = sorted(servers_by_value.values(), key=len)
    return () if others and len(others[0]) == len(smallest) else tuple(smallest)


def _explain_perm(
    difference: ItemDifference, own_value: ComparedValue | None, evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain write permissions that were removed or added on some name servers only.

    Brokers do not learn of such changes.
    """
    server_perms = [_read_perm(value) for value in difference.server_values]
    closed_indexes = [index for index, perm in enumerate(server_perms) if not perm & Perm.WRITE]
    open_indexes = [index for index, perm in enumerate(server_perms) if perm & Perm.WRITE]
    broker_name = difference.item.parent_name
    repair = (
        f"run `{quote_command('repair', 'wipe', broker_name)}`, which restores the broker's own permissions"
    )
    if not closed_indexes:
        # addWritePerm removes the inherit bit of system topics: rw- on a topic that should have rwi.
        flat_servers = [index for index, perm in enumerate(server_perms) if perm == Perm.READ | Perm.WRITE]
        if not flat_servers or not _read_perm(own_value) & Perm.INHERIT:
            return None
        return DivergenceCause(
            "write-perm-added",
            f"addWritePerm was sent to {evidence.addrs_at(flat_servers)}: it replaces every permission with "
            "rw-",
            repair,
        )
    if not open_indexes:
        return None
    if isinstance(own_value, Mapping) and not _read_perm(own_value) & Perm.WRITE:
        if any(server_perms[index] != Perm.READ | Perm.WRITE for index in open_indexes):
            return None
        return DivergenceCause(
            "write-perm-added",
            f"{broker_name} has this topic without write permission: addWritePerm was sent to "
            f"{evidence.addrs_at(open_indexes)} only, or the broker's change has not reached it",
            repair,
        )
    wiped_text = (
        f"removed on {evidence.addrs_at(closed_indexes)} only"
        if len(closed_indexes) <= len(open_indexes)
        else f"removed, but not on {evidence.addrs_at(open_indexes)}, or a registration restored it there"
    )
    return DivergenceCause(
        "wiped",
        f"the write permission of {broker_name} was {wiped_text}",
        f"{repair}, or `{quote_command('wipeWritePerm', broker_name)}` on every name server",
    )


def _read_perm(value: ComparedValue | None) -> int:
    perm_value: Any = value.get("perm") if isinstance(value, Mapping) else None
    return int(perm_value or 0)


def _explain_behind(
    difference: ItemDifference, behind_servers: tuple[int, ...], evidence: CauseEvidence
) -> DivergenceCause:
    broker_name = difference.item.parent_name
    if not behind_servers:
        return DivergenceCause(
            "behind",
            f"some name servers missed the last registration of {broker_name}: the network is partitioned",
            f"check the firewall between {broker_name} and the name servers, and the broker's log",
        )
    server_list = evidence.addrs_at(behind_servers)
    advice = (
        f"run `{quote_command('repair', 'register', broker_name)}`; if the difference stays, check the "
        f"firewall between {broker_name} and {server_list}"
    )
    if difference.missing_servers == behind_servers:
        return DivergenceCause(
            "not-registered",
            f"{server_list} has no registration of it from {broker_name}: the network between them is "
            "partitioned, or the topic was deleted there only",
            advice,
        )
    return DivergenceCause(
        "behind",
        f"{server_list} missed the last registration of {broker_name}: the network between them is "
        "partitioned",
        advice,
    )


# KV config and settings


def _explain_kv(difference: ItemDifference, evidence: CauseEvidence) -> DivergenceCause:
    having_servers = [index for index, value in enumerate(difference.server_values) if value is not None]
    namespace = difference.item.parent_name
    keys_by_pattern = evidence.kv_keys_by_pattern[namespace]
    alike_keys = keys_by_pattern[find_pattern(difference.server_values)]
    # Without -k, the copy also takes the keys in which the source is wrong.
    key_words = [w for key in alike_keys for w in ("-k", key)] if len(keys_by_pattern) > 1 else []

    def sync_from(index: int) -> str:
        source_addr = evidence.server_snapshots[index].source
        return f"`{quote_command('kv', 'sync', '-s', namespace, *key_words, '--from', source_addr)}`"

    if difference.missing_servers and not difference.differing_fields:
        delete = f"`{quote_command('deleteKvConfig', namespace, alike_keys[0])}`"
        return DivergenceCause(
            "kv-written-to-some",
            f"written to {evidence.addrs_at(having_servers)} only, or deleted on "
            f"{evidence.addrs_at(difference.missing_servers)} only: name servers do not replicate KV config",
            f"run {sync_from(having_servers[0])} to copy it, or {delete} to delete it"
            if len(alike_keys) == 1
            else f"run {sync_from(having_servers[0])} to copy them, or {delete} and so on to delete them",
        )
    odd_servers = _find_odd_servers(difference)
    target_text = (
        f"{evidence.addrs_at(odd_servers)} only, or to the others only"
        if odd_servers
        else "some name servers only"
    )
    return DivergenceCause(
        "kv-written-to-some",
        f"written to {target_text}: name servers do not replicate KV config",
        _advise_value(difference, evidence, sync_from),
    )


def _advise_value(
    difference: ItemDifference, evidence: CauseEvidence, command_of: Callable[[int], str]
) -> str:
    """Advise the command for the value of most name servers; without a majority, one for each value."""
    servers_by_value: dict[ComparedValue, list[int]] = {}
    for index, value in enumerate(difference.server_values):
        if value is not None:
            servers_by_value.setdefault(value, []).append(index)
    largest = max(servers_by_value.values(), key=len)
    if 2 * len(largest) > len(difference.server_values):
        return f"if {evidence.addrs_at(largest)} have the right value, run {command_of(largest[0])}"
    choices = [f"{command_of(s[0])} for that of {evidence.addrs_at(s)}" for s in servers_by_value.values()]
    return f"find out which value is right, and run {', or '.join(choices)}"


def _explain_setting(difference: ItemDifference, evidence: CauseEvidence) -> DivergenceCause:
    name = difference.item.name

    def set_value_of(index: int) -> str:
        value = "VALUE" if is_secret_name(name) else str(difference.server_values[index])
        return f"`{quote_command('updateNamesrvConfig', name, value)}`"

    return DivergenceCause(
        "own-files",
        "each name server has its own configuration file",
        _advise_value(difference, evidence, set_value_of),
    )
