"""Checks the releases of connected clients."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.results import error_text
from nsadmin.console.phrases import count_noun, part_is
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState

_RELEASE_PATTERN = re.compile(r"[vV]?(\d{1,9})[._](\d{1,9})(?:[._](\d{1,9}))?(?!\d)")
_MIN_VERSION_PATTERN = re.compile(r"\d+(\.\d+){0,3}")
_MAX_SHOWN = 20


def parse_min_version(version_text: str) -> tuple[int, ...] | None:
    """Parse a release such as 5.0.0 or 5.1; None if it is malformed."""
    if _MIN_VERSION_PATTERN.fullmatch(version_text) is None:
        return None
    return (*map(int, version_text.split(".")), 0, 0)[:3]


def _parse_release(version_text: str | None) -> tuple[int, ...] | None:
    """Parse a release as clients report it: V5_5_0, V4_9_7_SNAPSHOT or 5.2.0. None for HIGHER_VERSION."""
    release_match = _RELEASE_PATTERN.match(version_text or "")
    return None if release_match is None else tuple(int(number or 0) for number in release_match.groups())


class ClientObservation(NamedTuple):
    """Every connected client, of brokers and proxies, and the oldest accepted release."""

    client_list: ClientList
    min_version: str


def observe(admin: AdminClient, scope: CheckScope) -> ClientObservation:
    return ClientObservation(admin.clients.list_clients(scope.cluster_name), scope.min_version)


def judge(scale: CheckScale, seen: ClientObservation) -> CheckFinding:
    """The state is not OK if a server did not answer, or if the release of a client is unknown."""
    least_release = parse_min_version(seen.min_version) or (0,)
    releases = [(client, _parse_release(client.version)) for client in seen.client_list.clients]
    unknown = [client for client, release in releases if release is None]
    old = [client for client, release in releases if release is not None and release < least_release]
    summary = (
        f"{part_is(len(old), len(releases), 'client')} older than {seen.min_version}"
        if old
        else f"no client of {len(releases)} is older than {seen.min_version}"
    )
    if unknown:
        summary += f"; the release of {len(unknown)} is unknown"
    return scale.make_finding(
        summary,
        {"old": len(old), "unknown": len(unknown), "clients": len(releases)},
        [*_describe_clients(old), *_describe_clients(unknown)],
        doubts=_list_failures(seen.client_list),
        minimum_state=CheckState.UNKNOWN if unknown else CheckState.OK,
    )


def _describe_clients(clients: Sequence[ClusterClient]) -> list[str]:
    lines = [
        f"{client.client_id or client.protocol} at {client.client_addr}: "
        f"{client.language or 'language unknown'} {client.version or 'release unknown'}, "
        f"groups {_describe_groups(client)}"
        for client in clients[:_MAX_SHOWN]
    ]
    hidden_count = len(clients) - len(lines)
    return [*lines, *([f"and {count_noun(hidden_count, 'more client')}"] if hidden_count else [])]


def _describe_groups(client: ClusterClient) -> str:
    if client.consumer_groups is None and client.producer_groups is None:
        return "unknown"
    return ", ".join((*(client.consumer_groups or ()), *(client.producer_groups or ()))) or "none"


def _list_failures(client_list: ClientList) -> list[str]:
    proxy_errors = {f"proxy {proxy.proxy_addr}": proxy.error for proxy in client_list.proxies.proxies}
    errors = {**client_list.errors, **proxy_errors}
    return [f"{server}: {error_text(error)}" for server, error in errors.items() if error is not None]


CHECK = Check(
    "clients",
    (
        CheckMeasure("old", "clients with a release before --min-version", warning="0", critical="1000000"),
        CheckMeasure("unknown", "clients whose version is unknown"),
        CheckMeasure("clients", "connected clients"),
    ),
    observe,
    judge,
    warning_when="a connected client is older than `--min-version`",
    critical_when="a million clients are",
    remedy="nsadmin client list",
)
