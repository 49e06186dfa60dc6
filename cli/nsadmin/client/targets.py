"""Targets: which broker processes a request is for, found by cluster or named by address or name."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client.addresses import BROKER_PORT, BadAddress, parse_addr
from nsadmin.client.clusters import BrokerGroup, ClusterInfo
from nsadmin.client.results import NotFound
from nsadmin.likeness import like, meant


class Target(NamedTuple):
    """One broker process; what nobody told is None. Without an address it cannot be asked."""

    broker_name: str | None
    broker_id: int | None
    broker_addr: str | None


_ALIKE = 0.75
"""How alike names are, from 0 to 1, of which one may be meant for the other."""

NO_MASTER = "this broker has no master now"


def at(broker_addr: str) -> Target:
    """A broker of which only the address is known."""
    return Target(None, None, broker_addr)


def named(text: str, info: Callable[[], ClusterInfo]) -> Target:
    """The process at an address; by a broker's name its master, by NAME/ID that one of it.

    A word without a port is asked for among the names of brokers; what is none and like none, or cannot be
    asked for because no name server answers, is a host. BadAddress, NotFound.
    """
    name, slash, number = text.strip().partition("/")
    if not slash and _is_address(name):
        return at(parse_addr(name, BROKER_PORT))
    if slash and not (name and number.isdecimal()):
        raise BadAddress(f"{text!r} is no broker: write HOST:PORT, NAME or NAME/ID")
    known: Sequence[BrokerGroup] = ()
    try:
        known = info().groups
    except RocketMQError:
        if slash:
            raise
    groups = [group for group in known if group.broker_name == name]
    near = [] if groups else like(name, (group.broker_name for group in known), _ALIKE)
    if near:
        host = "" if slash else f" (a host is {name}:{BROKER_PORT})"
        raise NotFound(f"no broker {name!r} is registered; {meant(sorted(near))}{host}")
    if not groups and not slash:
        return at(parse_addr(name, BROKER_PORT))
    return _process(name, int(number or MASTER_ID), groups)


def _is_address(text: str) -> bool:
    return ":" in text or text == "localhost" or text.replace(".", "").isdigit()


def _process(name: str, broker_id: int, groups: list[BrokerGroup]) -> Target:
    found = {group.cluster_name: group.broker_addrs.get(broker_id) for group in groups}
    if len(found) > 1:
        places = ", ".join(f"{addr or 'none'} in {cluster}" for cluster, addr in found.items())
        raise BadAddress(f"{name!r} is a broker of several clusters: write its address: {places}")
    for addr in found.values():
        if addr is not None:
            return Target(name, broker_id, addr)
    known = [f"{name}/{other}" for group in groups for other in group.broker_addrs]
    if not known:
        raise NotFound(f"no broker {name!r} is registered")
    lacking = "has no master now" if broker_id == MASTER_ID else f"has no process {broker_id} now"
    raise NotFound(f"{name} {lacking}; there is {', '.join(known)}")


def members(info: ClusterInfo, cluster_name: str | None) -> list[Target]:
    """Every master and slave of one cluster, or of all for None; NotFound for one that is not there."""
    return [
        Target(group.broker_name, broker_id, addr)
        for group in info.in_cluster(cluster_name)
        for broker_id, addr in group.broker_addrs.items()
    ]


def masters(info: ClusterInfo, cluster_name: str | None) -> list[Target]:
    """The master of each broker of a cluster: without an address where a broker has none now."""
    groups = info.in_cluster(cluster_name)
    if not groups:
        raise NotFound(f"no broker is registered in the cluster {cluster_name!r}")
    return [Target(group.broker_name, MASTER_ID, group.master) for group in groups]
