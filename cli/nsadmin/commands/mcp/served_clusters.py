"""Owns the clusters that tools reach: those of the contexts that the operator named, else the session's."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from json import dumps
from typing import NamedTuple

from namesrv_core.protocol.message_ids import OffsetId, parse_message_id
from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import ClusterInfo
from nsadmin.client.brokers.targets import split_process
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.tunnels.tunnel_leases import lease_tunnel
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.shared_options import connection_words
from nsadmin.console.session import Session
from nsadmin.library.context_connection import resolve_connection


class ServedCluster(NamedTuple):
    """A cluster: the options and variables with which a command reaches it, and a function for a client."""

    context_name: str | None
    option_words: tuple[str, ...]
    variables: Mapping[str, str]
    is_read_only: bool
    open_client: Callable[[], AdminClient]


def list_served_clusters(session: Session, contexts_text: str | None) -> dict[str, ServedCluster]:
    """Return the clusters by context; the first is the default. "" stands for a cluster without a context."""
    if contexts_text is None:
        return {session.options.context or "": _session_cluster(session)}
    return {name: _context_cluster(session, name) for name in parse_name_list("--contexts", contexts_text)}


def _session_cluster(session: Session) -> ServedCluster:
    context_name = session.options.context
    _keep_tunnel(session.options.access)
    return ServedCluster(
        context_name,
        tuple(connection_words(session.shared_values)),
        # The context in use may change while the server runs. --context would overrule NAMESRV_ADDR.
        {} if context_name is None else {"NSADMIN_CONTEXT": context_name},
        session.options.read_only,
        session.open_background_client,
    )


def _context_cluster(session: Session, context_name: str) -> ServedCluster:
    connection = resolve_connection(context_name)
    _keep_tunnel(connection.access)
    return ServedCluster(
        context_name,
        ("--context", context_name),
        {},
        connection.is_read_only,
        partial(session.open_background_client, connection.find_name_servers, connection.access),
    )


def _keep_tunnel(access: Access) -> None:
    """Keep the tunnel to a cluster from its first use to the end of the process. All calls share it."""
    if access.tunnel is not None:
        lease_tunnel(access.tunnel)


class ClusterMembers(NamedTuple):
    """The name servers of a cluster, and the addresses of its brokers by broker name and id."""

    namesrv_addrs: tuple[str, ...]
    broker_addrs: Mapping[str, Mapping[int, str]]

    @property
    def fingerprint(self) -> str:
        """A hash that changes if a name server or a broker comes, goes or moves."""
        return sha256(dumps(self, sort_keys=True).encode()).hexdigest()

    def has_addr(self, broker_addr: str) -> bool:
        return any(broker_addr in addrs.values() for addrs in self.broker_addrs.values())


def fetch_members(cluster: ServedCluster) -> ClusterMembers:
    """Read the brokers that name servers list (GET_BROKER_CLUSTER_INFO, 106)."""
    with cluster.open_client() as admin:
        cluster_info: ClusterInfo = admin.clusters.get_info()
        return ClusterMembers(
            tuple(admin.addresses.addrs),
            {
                f"{broker_group.cluster_name}/{broker_group.broker_name}": dict(broker_group.broker_addrs)
                for broker_group in cluster_info.broker_groups
            },
        )


def find_foreign_address(broker_text: str, members: ClusterMembers) -> str | None:
    """Return the text if it is not a broker of the cluster.

    nsadmin takes an unknown name for a host if it has a dot, or if no name server answers.
    """
    broker_name, _ = split_process(broker_text.strip()) or (broker_text, None)
    known_names = {name.partition("/")[2] for name in members.broker_addrs}
    return None if members.has_addr(broker_text) or broker_name in known_names else broker_text


def address_of_message_id(message_id: str) -> str | None:
    """Return the address of the broker in an id; None for other ids."""
    message_place = parse_message_id(message_id.strip())
    return message_place.broker_addr if isinstance(message_place, OffsetId) else None
