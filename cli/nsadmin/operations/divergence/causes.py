"""Finds the probable cause of a difference from the state of name servers and brokers. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from namesrv_core.protocol.codes import Perm
from nsadmin.client.advised_command import quote_command
from nsadmin.client.redaction import is_secret_name
from nsadmin.operations.divergence.comparison import ComparedValue, ItemDifference
from nsadmin.operations.divergence.evidence import CauseEvidence, DivergenceCause, find_pattern

NEW_LIST_MS = 150_000
"""Longest time from a change of a broker's namesrvAddr to its registration with the new name servers.

A broker reads its list every 2 minutes and registers every 30 seconds (BrokerController#initialize, #start).
"""


def explain_partial_list(
    addrs: Sequence[str], wrong_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's namesrvAddr names only the servers that are right.

    A namesrvAddr counts only if it names all of these with the same addresses as this client.
    """
    right_servers = [index for index in range(len(evidence.server_snapshots)) if index not in wrong_servers]
    for addr in addrs:
        registered_servers = evidence.facts_of(addr).registered_servers
        if not right_servers or not all(
            evidence.server_snapshots[index].source in registered_servers for index in right_servers
        ):
            continue
        unnamed_addrs = [
            index
            for index in wrong_servers
            if evidence.server_snapshots[index].source not in registered_servers
        ]
        if unnamed_addrs:
            full_list = ";".join(
                dict.fromkeys(
                    (
                        *registered_servers,
                        *(evidence.server_snapshots[index].source for index in unnamed_addrs),
                    )
                )
            )
            return DivergenceCause(
                "partial-list",
                "the broker registers with a partial list: its namesrvAddr does not name "
                f"{evidence.addrs_at(unnamed_addrs)}",
                "run "
                f"`{quote_command('updateBrokerConfig', 'namesrvAddr', full_list, '-b', addr)}`; "
                "the broker reads the list every 2 minutes",
            )
    return None


def explain_new_list(
    addrs: Sequence[str], behind_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain the difference if the broker's list names the servers that are behind since a moment ago."""
    if not behind_servers:
        return None
    for addr in addrs:
        facts = evidence.facts_of(addr)
        if (
            facts.settings_age_ms is not None
            and facts.settings_age_ms < NEW_LIST_MS
            and all(
                evidence.server_snapshots[index].source in facts.registered_servers
                for index in behind_servers
            )
        ):
            server_list = evidence.addrs_at(behind_servers)
            return DivergenceCause(
                "new-list",
                f"its namesrvAddr names {server_list}, and its settings changed less than 3 minutes ago",
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
    new_list_cause = explain_new_list(addrs, missing_servers, evidence)
    if new_list_cause is not None:
        return new_list_cause
    if all(not evidence.server_snapshots[index].brokers for index in missing_servers):
        server_list = evidence.addrs_at(missing_servers)
        return DivergenceCause(
            "no-brokers",
            f"{server_list} lists no broker at all: it started less than a heartbeat ago, "
            "or no broker reaches it",
            f"check that brokers reach {server_list}, and that their namesrvAddr names it",
        )
    partial_cause = explain_partial_list(addrs, missing_servers, evidence)
    if partial_cause is not None:
        return partial_cause
    if not any(evidence.facts_of(addr).is_answering for addr in addrs):
        return DivergenceCause(
            "gone",
            "the broker does not answer nsadmin either: it stopped, or it never registered with "
            f"{evidence.addrs_at(missing_servers)}",
            f"check that {broker_name} runs: a name server removes a broker after 2 minutes without a "
            "heartbeat",
        )
    server_list = evidence.addrs_at(missing_servers)
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
    own_value: ComparedValue | None = None
    is_own_known = False
    for addr in addrs:
        if topic in evidence.facts_of(addr).own_topics:
            own_value, is_own_known = evidence.facts_of(addr).own_topics[topic], True
            break
    wrong_servers = _find_wrong_servers(difference, own_value, is_own_known)
    if is_own_known and own_value is None:
        return DivergenceCause(
            "left-over",
            f"{broker_name} does not have the topic any more: it was deleted, but not on "
            f"{evidence.addrs_at(wrong_servers)}",
            _advise_deletion(topic, evidence.find_cluster(broker_name)),
        )
    if set(dict(difference.differing_fields)) == {"perm"} and not difference.missing_servers:
        perm_cause = _explain_perm(difference, own_value, evidence)
        if perm_cause is not None:
            return perm_cause
    partial_cause = explain_partial_list(addrs, wrong_servers, evidence)
    if partial_cause is not None:
        return partial_cause
    if wrong_servers and difference.missing_servers == wrong_servers:
        return DivergenceCause(
            "not-registered",
            f"{evidence.addrs_at(wrong_servers)} has no registration of it from {broker_name}: the network "
            "between them is partitioned, or the topic was deleted there only",
            f"run `{quote_command('repair', 'register', broker_name)}`; if the difference stays, check the "
            f"firewall between {broker_name} and {evidence.addrs_at(wrong_servers)}",
        )
    return _explain_behind(broker_name, wrong_servers, evidence)


def _advise_deletion(topic: str, cluster: str) -> str:
    command = quote_command("deleteTopic", topic, cluster)
    return f"run `{command}` if nobody needs the topic: brokers and name servers delete it"


def _find_wrong_servers(
    difference: ItemDifference, own_value: ComparedValue | None, is_own_known: bool
) -> tuple[int, ...]:
    """Return the name servers that contradict the broker; if its value is unknown, the minority."""
    if is_own_known and own_value is None:
        return tuple(index for index, value in enumerate(difference.server_values) if value is not None)
    if isinstance(own_value, Mapping):
        return tuple(
            index
            for index, value in enumerate(difference.server_values)
            if not isinstance(value, Mapping)
            or any(value[name] != text for name, text in own_value.items() if name in value)
        )
    if difference.missing_servers:
        return difference.missing_servers
    return _find_odd_servers(difference)


def _find_odd_servers(difference: ItemDifference) -> tuple[int, ...]:
    """Return the smallest set of name servers with the same value; () if several sets have that size."""
    servers_by_value: dict[str, list[int]] = {}
    for server_index, value in enumerate(difference.server_values):
        servers_by_value.setdefault(repr(value), []).append(server_index)
    smallest_part = min(servers_by_value.values(), key=len)
    return (
        tuple(smallest_part)
        if sum(len(servers) == len(smallest_part) for servers in servers_by_value.values()) == 1
        else ()
    )


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
    if not closed_indexes:
        return _explain_flat_perm(difference, own_value, evidence)
    if not open_indexes:
        return None
    if isinstance(own_value, Mapping) and not _read_perm(own_value) & Perm.WRITE:
        if any(server_perms[index] != Perm.READ | Perm.WRITE for index in open_indexes):
            return None
        return DivergenceCause(
            "write-perm-added",
            f"{broker_name} has this topic without write permission: addWritePerm was sent to "
            f"{evidence.addrs_at(open_indexes)} only, or the broker's change has not reached it",
            f"run `{quote_command('repair', 'wipe', broker_name)}`, which restores the broker's own "
            "permissions",
        )
    wiped_text = (
        f"removed on {evidence.addrs_at(closed_indexes)} only"
        if len(closed_indexes) <= len(open_indexes)
        else f"removed, but not on {evidence.addrs_at(open_indexes)}, or a registration restored it there"
    )
    return DivergenceCause(
        "wiped",
        f"the write permission of {broker_name} was {wiped_text}",
        f"run `{quote_command('repair', 'wipe', broker_name)}`, which restores the broker's own "
        f"permissions, or `{quote_command('wipeWritePerm', broker_name)}` on every name server",
    )


def _explain_flat_perm(
    difference: ItemDifference, own_value: ComparedValue | None, evidence: CauseEvidence
) -> DivergenceCause | None:
    """Explain rw- on a topic that should have rwi: addWritePerm removes the inherit bit of system topics."""
    flat_servers = [
        index
        for index, value in enumerate(difference.server_values)
        if _read_perm(value) == Perm.READ | Perm.WRITE
    ]
    if not flat_servers or not _read_perm(own_value) & Perm.INHERIT:
        return None
    broker_name = difference.item.parent_name
    return DivergenceCause(
        "write-perm-added",
        f"addWritePerm was sent to {evidence.addrs_at(flat_servers)}: it replaces every permission with rw-",
        f"run `{quote_command('repair', 'wipe', broker_name)}`, which restores the broker's own permissions",
    )


def _read_perm(value: ComparedValue | None) -> int:
    perm_value: Any = value.get("perm") if isinstance(value, Mapping) else None
    return int(perm_value or 0)


def _explain_behind(
    broker_name: str, behind_servers: Sequence[int], evidence: CauseEvidence
) -> DivergenceCause:
    if not behind_servers:
        return DivergenceCause(
            "behind",
            f"some name servers missed the last registration of {broker_name}: the network is partitioned",
            f"check the firewall between {broker_name} and the name servers, and the broker's log",
        )
    server_list = evidence.addrs_at(behind_servers)
    return DivergenceCause(
        "behind",
        f"{server_list} missed the last registration of {broker_name}: "
        "the network between them is partitioned",
        f"run `{quote_command('repair', 'register', broker_name)}`; if the difference stays, check the "
        f"firewall between {broker_name} and {server_list}",
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
