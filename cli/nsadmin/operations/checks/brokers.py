"""Checks that all registered brokers answer, and that each broker name has a master."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup, BrokerStatus
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.thresholds import CheckScale


class BrokerObservation(NamedTuple):
    """The brokers that name servers list, and the response of each broker by address."""

    broker_listing: BrokerListing
    status_by_addr: Mapping[str, BrokerStatus]


def observe_brokers(admin: AdminClient, cluster_name: str | None = None) -> BrokerObservation:
    """Ask every broker that at least one name server lists."""
    broker_listing = listed_brokers.observe_listing(admin, cluster_name)
    listed_members = [
        (broker_group, broker_id, broker_addr)
        for broker_group in broker_listing.broker_groups
        for broker_id, broker_addr in broker_group.broker_addrs.items()
    ]
    runtime_results = admin.brokers.get_runtime_info([broker_addr for _, _, broker_addr in listed_members])
    status_by_addr = {
        broker_addr: BrokerStatus(
            broker_group.cluster_name,
            broker_group.broker_name,
            broker_id,
            broker_addr,
            runtime_result.result,
            runtime_result.error,
        )
        for (broker_group, broker_id, broker_addr), runtime_result in zip(
            listed_members, runtime_results, strict=True
        )
    }
    return BrokerObservation(broker_listing, status_by_addr)


def judge_brokers(
    scale: CheckScale,
    observation: BrokerObservation,
    expected_count: int | None = None,
    cluster_name: str | None = None,
) -> CheckFinding:
    """Judge the brokers; `expected_count` reveals expired brokers, which no name server lists."""
    broker_groups = observation.broker_listing.broker_groups
    if not observation.broker_listing.groups_by_server:
        return scale.make_unknown_finding(
            "no name server tells which brokers there are", observation.broker_listing.failure_lines
        )
    if cluster_name is not None and not broker_groups:
        return scale.make_unknown_finding(
            f"no name server knows a cluster {cluster_name!r}", observation.broker_listing.failure_lines
        )
    failing_brokers = [status for status in observation.status_by_addr.values() if not status.is_reachable]
    masterless_groups = [
        broker_group
        for broker_group in broker_groups
        if not _has_answering_master(broker_group, observation.status_by_addr)
    ]
    unregistered_masters = [
        broker_group
        for broker_group in masterless_groups
        if MASTER_BROKER_ID not in broker_group.broker_addrs
    ]
    serving_count = len(observation.status_by_addr) - len(failing_brokers)
    samples = [
        scale.make_sample("failing", len(failing_brokers) + len(unregistered_masters)),
        scale.make_sample("masterless", len(masterless_groups)),
        scale.make_sample("serving", serving_count),
    ]
    minimum_state = (
        CheckState.WARNING
        if observation.broker_listing.silence_reasons or observation.broker_listing.missing_addrs
        else CheckState.OK
    )
    if not observation.status_by_addr or serving_count < (expected_count or 0):
        minimum_state = CheckState.CRITICAL
    expected_text = f", and {expected_count} are expected" if expected_count is not None else ""
    summary = f"{serving_count} of {len(observation.status_by_addr)} registered brokers answer{expected_text}"
    return scale.make_finding(
        summary, samples, _list_details(observation, unregistered_masters), minimum_state=minimum_state
    )


def _has_answering_master(broker_group: BrokerAddrGroup, status_by_addr: Mapping[str, BrokerStatus]) -> bool:
    return broker_group.master_addr is not None and status_by_addr[broker_group.master_addr].is_reachable


def _list_details(
    observation: BrokerObservation, unregistered_masters: Sequence[BrokerAddrGroup]
) -> list[str]:
    return [
        *(
            f"{status.broker_name} {status.broker_id} at {status.broker_addr}: {error_text(status.error)}"
            for status in observation.status_by_addr.values()
            if status.error is not None
        ),
        *(f"{broker_group.broker_name}: no master is registered" for broker_group in unregistered_masters),
        *observation.broker_listing.failure_lines,
        *(
            f"name server {namesrv_addr} does not list {', '.join(missing_addrs)}, which another one does"
            for namesrv_addr, missing_addrs in observation.broker_listing.missing_addrs.items()
        ),
    ]
