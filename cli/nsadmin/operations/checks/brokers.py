"""Checks that all registered brokers answer, and that each broker name has a master."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client import AdminClient
from nsadmin.client.clusters import BrokerGroup, BrokerStatus
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.listed import Listed
from nsadmin.operations.checks.thresholds import Scale


class Seen(NamedTuple):
    """The brokers that name servers list, and the response of each broker by address."""

    listed: Listed
    status: Mapping[str, BrokerStatus]


def look(admin: AdminClient, cluster: str | None = None) -> Seen:
    """Ask every broker that at least one name server lists."""
    found = listed.look(admin, cluster)
    members = [(group, number, addr) for group in found.groups for number, addr in group.broker_addrs.items()]
    answers = admin.brokers.runtime_infos([addr for _, _, addr in members])
    status = {
        addr: BrokerStatus(group.cluster_name, group.broker_name, number, addr, answer.result, answer.error)
        for (group, number, addr), answer in zip(members, answers, strict=True)
    }
    return Seen(found, status)


def judge(scale: Scale, seen: Seen, expected: int | None = None, cluster: str | None = None) -> Finding:
    """Judge the brokers; `expected_count` reveals expired brokers, which no name server lists."""
    groups = seen.listed.groups
    if not seen.listed.by_server:
        return scale.unknown("no name server tells which brokers there are", seen.listed.away)
    if cluster is not None and not groups:
        return scale.unknown(f"no name server knows a cluster {cluster!r}", seen.listed.away)
    failing = [one for one in seen.status.values() if not one.reachable]
    masterless = [group for group in groups if not _has_master(group, seen.status)]
    missing = [group for group in masterless if MASTER_ID not in group.broker_addrs]
    serving = len(seen.status) - len(failing)
    samples = [
        scale.sample("failing", len(failing) + len(missing)),
        scale.sample("masterless", len(masterless)),
        scale.sample("serving", serving),
    ]
    least = State.WARNING if seen.listed.silent or seen.listed.missing else State.OK
    if not seen.status or serving < (expected or 0):
        least = State.CRITICAL
    wanted = f", and {expected} are expected" if expected is not None else ""
    summary = f"{serving} of {len(seen.status)} registered brokers answer{wanted}"
    return scale.finding(summary, samples, _details(seen, missing), least=least)


def _has_master(group: BrokerGroup, status: Mapping[str, BrokerStatus]) -> bool:
    return group.master is not None and status[group.master].reachable


def _details(seen: Seen, missing: Sequence[BrokerGroup]) -> list[str]:
    return [
        *(
            f"{one.broker_name} {one.broker_id} at {one.broker_addr}: {error_text(one.error)}"
            for one in seen.status.values()
            if one.error is not None
        ),
        *(f"{group.broker_name}: no master is registered" for group in missing),
        *seen.listed.away,
        *(
            f"name server {addr} does not list {', '.join(found)}, which another one does"
            for addr, found in seen.listed.missing.items()
        ),
    ]
