"""Figures of one name server, and the brokers that name servers list. Pure."""

from collections import Counter
from collections.abc import Iterable

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.name_servers.name_server_tables import NameServerListing
from nsadmin.operations.exporter.figures import (
    NAME_SERVER_LABELS,
    FigureTable,
    MetricTable,
    ServerIdentity,
    clean_label,
)

NAME_SERVER_METRICS = MetricTable(
    "name servers",
    "tables",
    NAME_SERVER_LABELS,
    ("namesrv_up", "bool", "1 if the name server answers, else 0."),
    ("namesrv_answer_seconds", "seconds", "Time until the name server had answered all requests."),
    ("namesrv_listed_topics", "topics", "Topics that the name server lists."),
)
BROKER_COUNT_METRICS = MetricTable(
    "name servers",
    "tables",
    (*NAME_SERVER_LABELS, "cluster", "role"),
    ("namesrv_listed_brokers", "brokers", "Brokers that the name server lists, by role."),
)
MASTERLESS_METRICS = MetricTable(
    "name servers",
    "tables",
    (*NAME_SERVER_LABELS, "cluster"),
    ("namesrv_listed_broker_groups_without_master", "broker groups", "Broker names without a master."),
)


def build_name_server_tables(
    namesrv_addr: str, listing: NameServerListing | None, answer_seconds: float
) -> tuple[FigureTable, ...]:
    """Build the figures of a name server; `listing` is None if it did not answer."""
    if listing is None:
        return (NAME_SERVER_METRICS.with_rows([((namesrv_addr,), (0.0, answer_seconds, None))]),)
    up_row = ((namesrv_addr,), (1.0, answer_seconds, float(len(listing.topics))))
    broker_counts: Counter[tuple[str, str]] = Counter()
    masterless_counts: Counter[str] = Counter()
    for cluster_name in listing.clusters:
        broker_counts.update({(cluster_name, "master"): 0, (cluster_name, "slave"): 0})
        masterless_counts[cluster_name] += 0
    for group in listing.groups.values():
        member_ids = [member.broker_id for member in group.members]
        for member_id in member_ids:
            role = "master" if member_id == MASTER_BROKER_ID else "slave"
            broker_counts[group.cluster_name, role] += 1
        masterless_counts[group.cluster_name] += MASTER_BROKER_ID not in member_ids
    return (
        NAME_SERVER_METRICS.with_rows([up_row]),
        BROKER_COUNT_METRICS.with_rows(
            [
                ((namesrv_addr, clean_label(name), role), (float(count),))
                for (name, role), count in broker_counts.items()
            ]
        ),
        MASTERLESS_METRICS.with_rows(
            [
                ((namesrv_addr, clean_label(name)), (float(group_count),))
                for name, group_count in masterless_counts.items()
            ]
        ),
    )


def list_brokers(listings: Iterable[NameServerListing]) -> list[ServerIdentity]:
    """List the brokers of all name servers, each once, masters of a broker name before its slaves.

    A broker that name servers list under different addresses gets the address of the first listing, because
    two servers must not have the same labels. A broker that was renamed has the first of its names.
    """
    servers_by_identity: dict[tuple[str, str, int], ServerIdentity] = {}
    for listing in listings:
        for group in listing.groups.values():
            for member in group.members:
                servers_by_identity.setdefault(
                    (group.cluster_name, group.broker_name, member.broker_id),
                    ServerIdentity(
                        member.broker_addr,
                        clean_label(group.cluster_name),
                        clean_label(group.broker_name),
                        str(member.broker_id),
                    ),
                )
    servers_by_addr: dict[str, ServerIdentity] = {}
    for identity in sorted(servers_by_identity):
        servers_by_addr.setdefault(servers_by_identity[identity].address, servers_by_identity[identity])
    return list(servers_by_addr.values())


def choose_reported_brokers(brokers: Iterable[ServerIdentity]) -> set[str]:
    """Choose the address that reports topics and groups of each broker name: usually the master's."""
    first_by_name: dict[tuple[str, str], str] = {}
    for server in brokers:
        first_by_name.setdefault((server.cluster_name, server.broker_name), server.address)
    return set(first_by_name.values())
