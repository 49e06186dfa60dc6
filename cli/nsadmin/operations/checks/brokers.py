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
from nsadmin.operations.inventory.keeper import InventoryKeeper, describe_missing
from nsadmin.operations.inventory.records import MissingBroker
from nsadmin.phrases import abbreviate_names

_MAX_SHOWN = 4


class BrokerObservation(NamedTuple):
    """The brokers that name servers list, and the response of each broker by address.

    `missing_brokers` are in the inventory, and no name server lists them. `inventory_problem` says why they
    are unknown.
    """

    broker_listing: BrokerListing
    status_by_addr: Mapping[str, BrokerStatus]
    missing_brokers: Sequence[MissingBroker] = ()
    inventory_problem: str | None = None


def observe_brokers(
    admin: AdminClient, cluster_name: str | None = None, inventory: InventoryKeeper | None = None
) -> BrokerObservation:
    """Ask every broker that at least one name server lists, and look for missing ones."""
    full_listing = listed_brokers.observe_listing(admin)
    broker_listing = full_listing.of_cluster(cluster_name)
    missing_brokers = (
        inventory.observe_brokers(full_listing.broker_groups)
        if inventory is not None and full_listing.groups_by_server
        else ()
    )
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
    return BrokerObservation(
        broker_listing,
        status_by_addr,
        [
            missing_broker
            for missing_broker in missing_brokers
            if missing_broker.broker.may_be_in(cluster_name)
        ],
        None if inventory is None else inventory.problem,
    )


def judge_brokers(
    scale: CheckScale,
    observation: BrokerObservation,
    expected_count: int | None = None,
    cluster_name: str | None = None,
) -> CheckFinding:
    """Judge the brokers; with `expected_count` fewer brokers that answer are critical."""
    broker_groups = observation.broker_listing.broker_groups
    if not observation.broker_listing.groups_by_server:
        return scale.make_unknown_finding(
            "no name server returned a list of brokers", observation.broker_listing.failure_lines
        )
    if cluster_name is not None and not broker_groups and not observation.missing_brokers:
        return scale.make_unknown_finding(
            f'no name server lists the cluster "{cluster_name}"', observation.broker_listing.failure_lines
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
    uncounted_brokers = [
        missing_broker
        for missing_broker in observation.missing_brokers
        if missing_broker.is_group_gone or missing_broker.broker.broker_id != MASTER_BROKER_ID
    ]
    gone_names = {
        missing_broker.broker.broker_name
        for missing_broker in uncounted_brokers
        if missing_broker.is_group_gone
    }
    serving_count = len(observation.status_by_addr) - len(failing_brokers)
    failing_count = len(failing_brokers) + len(unregistered_masters) + len(uncounted_brokers)
    samples = [
        scale.make_sample("failing", failing_count),
        scale.make_sample("masterless", len(masterless_groups) + len(gone_names)),
        scale.make_sample("serving", serving_count),
    ]
    minimum_state = (
        CheckState.WARNING
        if observation.broker_listing.silence_reasons or observation.broker_listing.missing_addrs
        else CheckState.OK
    )
    if observation.inventory_problem is not None:
        minimum_state = CheckState.UNKNOWN
    if not observation.status_by_addr or serving_count < (expected_count or 0):
        minimum_state = CheckState.CRITICAL
    expected_text = f", and {expected_count} are expected" if expected_count is not None else ""
    summary = f"{serving_count} of {len(observation.status_by_addr)} registered brokers answer{expected_text}"
    if observation.missing_brokers:
        missing_labels = [missing_broker.broker.label for missing_broker in observation.missing_brokers]
        summary += f", and {abbreviate_names(missing_labels, _MAX_SHOWN)} left all name servers"
    if observation.inventory_problem is not None:
        summary += f"; {observation.inventory_problem}"
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
            f"{missing_broker.broker.label} at {missing_broker.broker.broker_addr or 'an unknown address'}: "
            f"{describe_missing(missing_broker)}"
            for missing_broker in observation.missing_brokers
        ),
        *(
            f"{status.broker_name} {status.broker_id} at {status.broker_addr}: {error_text(status.error)}"
            for status in observation.status_by_addr.values()
            if status.error is not None
        ),
        *(f"{broker_group.broker_name}: no master is registered" for broker_group in unregistered_masters),
        *observation.broker_listing.failure_lines,
        *(
            (
                f"name server {namesrv_addr} does not list {', '.join(missing_addrs)}, but another name "
                "server does"
            )
            for namesrv_addr, missing_addrs in observation.broker_listing.missing_addrs.items()
        ),
    ]
