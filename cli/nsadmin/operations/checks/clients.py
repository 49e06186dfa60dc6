"""Checks the releases of connected clients."""

import re
from collections.abc import Sequence

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.results import error_text
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale

DEFAULT_MIN_VERSION = "5.0.0"
_NUMBER_PATTERN = re.compile(r"\d+")
_MIN_VERSION_PATTERN = re.compile(r"\d+(\.\d+){0,3}")
_MAX_SHOWN = 20


def parse_min_version(version_text: str) -> tuple[int, ...] | None:
    """Parse a release such as 5.0.0 or 5.1; None if it is malformed."""
    is_valid = _MIN_VERSION_PATTERN.fullmatch(version_text) is not None
    return _parse_numbers(version_text) if is_valid else None


def _parse_numbers(version_text: str) -> tuple[int, ...]:
    """Return the first numbers of a release as clients report it: V5_5_0, V4_9_7_SNAPSHOT or 5.2.0."""
    numbers = tuple(int(number) for number in _NUMBER_PATTERN.findall(version_text))
    return (*numbers, 0, 0, 0)[:3]


def observe_clients(admin: AdminClient, cluster_name: str | None = None) -> ClientList:
    """Read every connected client of the cluster, from brokers and proxies."""
    return admin.clients.list_clients(cluster_name)


def judge_clients(scale: CheckScale, client_list: ClientList, min_version: str) -> CheckFinding:
    """Find clients that are older than `min_version`. If a server did not answer, the state is not OK."""
    least_numbers = parse_min_version(min_version) or (0,)
    known_clients = [client for client in client_list.clients if client.version is not None]
    old_clients = [client for client in known_clients if _parse_numbers(client.version or "") < least_numbers]
    failure_lines = _list_failures(client_list)
    total_count = len(client_list.clients)
    samples = [
        scale.make_sample("old", len(old_clients)),
        scale.make_sample("unknown", total_count - len(known_clients)),
        scale.make_sample("clients", total_count),
    ]
    summary = (
        f"{len(old_clients)} of {total_count} clients are older than {min_version}"
        if old_clients
        else f"no client of {total_count} is older than {min_version}"
    )
    if total_count > len(known_clients):
        summary += f"; the release of {total_count - len(known_clients)} is unknown"
    return scale.make_finding(
        summary,
        samples,
        [*_describe_clients(old_clients), *failure_lines],
        minimum_state=CheckState.UNKNOWN if failure_lines else CheckState.OK,
    )


def _describe_clients(old_clients: Sequence[ClusterClient]) -> list[str]:
    client_lines = [
        f"{client.client_id} at {client.client_addr}: {client.language} {client.version}, "
        f"groups {', '.join((*(client.consumer_groups or ()), *(client.producer_groups or ()))) or 'none'}"
        for client in old_clients[:_MAX_SHOWN]
    ]
    hidden_count = len(old_clients) - len(client_lines)
    return [*client_lines, *([f"and {hidden_count} more clients"] if hidden_count else [])]


def _list_failures(client_list: ClientList) -> list[str]:
    server_errors: list[tuple[str, RocketMQError | None]] = [
        *client_list.errors.items(),
        *((f"proxy {proxy.proxy_addr}", proxy.error) for proxy in client_list.proxies.proxies),
    ]
    return [f"{server}: {error_text(error)}" for server, error in server_errors if error is not None]
