"""BrokerTarget, the broker process that a request is for: chosen by cluster, by address or by name."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.transport.address import explain_invalid_addr
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.brokers import BrokerAdmin
from nsadmin.client.brokers.clusters import BrokerAddrGroup, ClusterAdmin, ClusterInfo
from nsadmin.client.connection.addresses import DEFAULT_BROKER_PORT, BadAddress, parse_addr
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.results import ClientClosed, NotFound


class BrokerTarget(NamedTuple):
    """One broker process.

    Attributes:
        broker_name: The broker name; None if unknown.
        broker_id: The id, 0 for the master; None if unknown.
        broker_addr: The address; None if it is unknown, so that requests are impossible.
    """

    broker_name: str | None
    broker_id: int | None
    broker_addr: str | None


_SIMILARITY_THRESHOLD = 0.75
"""The similarity, from 0 to 1, from which on a name is suggested for a misspelled one."""

NO_MASTER = "this broker has no master now"

_PROCESS = re.compile(r"([^\s:/\[\]]+)(?:/(\d+)|:(\d{1,3}))")
"""NAME/ID or NAME:ID. Three digits are no port of a broker; a higher id needs the slash."""


def target_at_addr(broker_addr: str) -> BrokerTarget:
    """Return a target with a known address, but unknown name and id."""
    return BrokerTarget(None, None, broker_addr)


def resolve_target(target_text: str, load_cluster_info: Callable[[], ClusterInfo]) -> BrokerTarget:
    """Resolve HOST:PORT, NAME (its master) or NAME:ID to a broker process.

    A word without a port is looked up among the broker names. It is a host with the default port if it
    contains a dot, and no broker has this or a similar name or no name server answers.
    """
    target_text = target_text.strip()
    process = split_process(target_text)
    if process is None and _looks_like_addr(target_text):
        return target_at_addr(parse_addr(target_text, DEFAULT_BROKER_PORT))
    if process is None and "/" in target_text:
        raise BadAddress(f'invalid broker "{target_text}": use HOST:PORT, NAME or NAME:ID')
    broker_name, broker_id = process or (target_text, MASTER_BROKER_ID)
    known_groups: Sequence[BrokerAddrGroup] = ()
    may_be_host = "." in broker_name and "/" not in target_text
    try:
        known_groups = load_cluster_info().broker_groups
    except ClientClosed:
        raise
    except RocketMQError:
        if not may_be_host:
            raise
    named_groups = [broker_group for broker_group in known_groups if broker_group.broker_name == broker_name]
    similar_names = (
        []
        if named_groups
        else find_similar_names(
            broker_name, (g.broker_name for g in known_groups), _SIMILARITY_THRESHOLD, with_ties=True
        )
    )
    if similar_names:
        host_hint = "" if process else f" A host needs a port: {broker_name}:{DEFAULT_BROKER_PORT}"
        raise NotFound(f'no broker "{broker_name}"; {did_you_mean(similar_names)}{host_hint}')
    if not named_groups and (may_be_host or ":" in target_text):
        return target_at_addr(parse_addr(target_text, DEFAULT_BROKER_PORT))
    if not named_groups and process is None:
        raise NotFound(
            f'no broker "{broker_name}": run {quote_command("clusterList")} to list the brokers, '
            "or write HOST:PORT"
        )
    return _find_process(broker_name, broker_id, named_groups)


def split_process(target_text: str) -> tuple[str, int] | None:
    """Split NAME:ID or NAME/ID; None for other texts, such as HOST:PORT."""
    match = _PROCESS.fullmatch(target_text)
    if match is None or (match[3] and _looks_like_addr(match[1])):
        return None
    return match[1], int(match[2] or match[3])


def find_broker_addrs(caller: Caller, target_texts: Iterable[str]) -> dict[str, str | RocketMQError]:
    """Return the addresses of broker processes. Reads one name server (GET_BROKER_CLUSTER_INFO, 106)."""
    reader = NameServerReader(caller)
    clusters = ClusterAdmin(reader, BrokerAdmin(caller, reader))

    @cache
    def read_cluster_info() -> ClusterInfo | RocketMQError:
        try:
            return clusters.get_info()
        except ClientClosed:
            raise
        except RocketMQError as error:
            return error

    def load_cluster_info() -> ClusterInfo:
        cluster_info = read_cluster_info()
        if isinstance(cluster_info, RocketMQError):
            raise cluster_info
        return cluster_info

    return {target_text: _find_addr(target_text, load_cluster_info) for target_text in target_texts}


def _find_addr(target_text: str, load_cluster_info: Callable[[], ClusterInfo]) -> str | RocketMQError:
    try:
        if _is_registered_addr(target_text, load_cluster_info):
            # A broker may register any text. It is not the name of another broker, and has no default port.
            return CallError(target_text, "unresolvable", explain_invalid_addr(target_text))
        broker_addr = resolve_target(target_text, load_cluster_info).broker_addr
    except ClientClosed:
        raise
    except RocketMQError as error:
        return error
    assert broker_addr is not None
    return broker_addr


def _is_registered_addr(target_text: str, load_cluster_info: Callable[[], ClusterInfo]) -> bool:
    with suppress(RocketMQError):
        groups = load_cluster_info().broker_groups
        return any(target_text in group.broker_addrs.values() for group in groups)
    return False


def _looks_like_addr(target_text: str) -> bool:
    return ":" in target_text or target_text == "localhost" or target_text.replace(".", "").isdigit()


def _find_process(broker_name: str, broker_id: int, named_groups: list[BrokerAddrGroup]) -> BrokerTarget:
    addrs_by_cluster = {group.cluster_name: group.broker_addrs.get(broker_id) for group in named_groups}
    if len(addrs_by_cluster) > 1:
        places_text = ", ".join(f"{addr or 'none'} in {name}" for name, addr in addrs_by_cluster.items())
        raise BadAddress(f'"{broker_name}" is a broker of several clusters: use its address: {places_text}')
    for broker_addr in addrs_by_cluster.values():
        if broker_addr is not None:
            return BrokerTarget(broker_name, broker_id, broker_addr)
    known_ids = [str(other_id) for g in named_groups for other_id in g.broker_addrs]
    if not known_ids:
        raise NotFound(f'no broker "{broker_name}": run {quote_command("clusterList")} to list the brokers')
    if broker_id != MASTER_BROKER_ID:
        known = f"the ids of its processes are {', '.join(known_ids)}"
        raise NotFound(f"{broker_name} has no process {broker_id} now: {known}")
    slaves = " and ".join(f"{broker_name}:{known_id}" for known_id in known_ids)
    only = f"its slaves {slaves} are" if known_ids[1:] else f"its slave {slaves} is"
    raise NotFound(
        f"{broker_name} has no master: only {only} registered: start the master; "
        f"`{quote_command('inventory', 'list')}` shows since when it is gone"
    )


def list_member_targets(cluster_info: ClusterInfo, cluster_name: str | None) -> list[BrokerTarget]:
    """Return every master and slave of one cluster, or of all clusters for None."""
    return [
        BrokerTarget(broker_group.broker_name, broker_id, broker_addr)
        for broker_group in cluster_info.processes_in_cluster(cluster_name)
        for broker_id, broker_addr in broker_group.broker_addrs.items()
    ]


def list_master_targets(cluster_info: ClusterInfo, cluster_name: str | None) -> list[BrokerTarget]:
    """Return the master of each broker of a cluster; its address is None without a master."""
    broker_groups = cluster_info.processes_in_cluster(cluster_name)
    if not broker_groups:
        place = "" if cluster_name is None else f' in the cluster "{cluster_name}"'
        raise NotFound(f"no broker is registered{place}")
    return [BrokerTarget(group.broker_name, MASTER_BROKER_ID, group.master_addr) for group in broker_groups]
