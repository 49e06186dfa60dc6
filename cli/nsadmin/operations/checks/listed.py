"""The list of brokers: all brokers that at least one name server lists."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.clusters import BrokerGroup
from nsadmin.client.results import error_text


class Listed(NamedTuple):
    """All broker groups, with the addresses that at least one name server lists.

    `groups_by_server` has the groups of each name server that answered, `silence_reasons` the errors of the
    others.
    """

    groups: Sequence[BrokerGroup]
    by_server: Mapping[str, Sequence[BrokerGroup]]
    silent: Mapping[str, str]

    @property
    def names(self) -> dict[str, str]:
        """A display name, such as "broker-a 0 at HOST:PORT", for each broker address."""
        return {
            addr: f"{group.broker_name} {number} at {addr}"
            for group in self.groups
            for number, addr in group.broker_addrs.items()
        }

    @property
    def missing(self) -> dict[str, list[str]]:
        """The addresses that a name server does not list although another one does, by name server."""
        return {
            server: left
            for server, groups in self.by_server.items()
            if (left := [addr for addr in self.names if addr not in addrs_of(groups)])
        }

    @property
    def away(self) -> list[str]:
        """One line for each name server that does not answer."""
        return [f"name server {addr}: {why}" for addr, why in self.silent.items()]


def addrs_of(groups: Sequence[BrokerGroup]) -> set[str]:
    return {addr for group in groups for addr in group.broker_addrs.values()}


def look(admin: AdminClient, cluster: str | None = None) -> Listed:
    """Ask each name server which brokers it lists, of one cluster or of all."""
    results = admin.clusters.info_each()
    by_server = {
        addr: [group for group in info.groups if cluster in (None, group.cluster_name)]
        for addr, info, _ in results
        if info is not None
    }
    return Listed(
        merged([group for groups in by_server.values() for group in groups]),
        by_server,
        {addr: error_text(error) for addr, _, error in results if error is not None},
    )


def merged(groups: Sequence[BrokerGroup]) -> list[BrokerGroup]:
    """Merge equal groups and their addresses. If addresses of one broker differ, the first one counts."""
    found: dict[tuple[str, str], dict[int, str]] = {}
    for group in groups:
        addrs = found.setdefault((group.cluster_name, group.broker_name), {})
        for number, addr in group.broker_addrs.items():
            addrs.setdefault(number, addr)
    return [BrokerGroup(*key, dict(sorted(found[key].items()))) for key in sorted(found)]
