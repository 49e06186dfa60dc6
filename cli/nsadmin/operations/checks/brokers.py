"""Checks that all registered brokers answer, and that each broker name has a master."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.clusters import (
    BrokerAddrGroup,
    BrokerStatus,
    describe_shared_addr,
    find_shared_addrs,
)
from nsadmin.client.results import ServerResult, error_text
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.broker_disks import DiskStates, judge_disks
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.inventory.keeper import InventoryKeeper, describe_missing
from nsadmin.operations.inventory.records import MissingBroker, explain_silence

_MAX_SHOWN = 4


class BrokerObservation(NamedTuple):
    """The brokers that name servers list, and the response of each broker by address.

    `missing_brokers` are in the inventory, and no name server lists them. `former_addrs` has the address that
    a broker had before its present one. `inventory_problem` says why they are unknown.
    """

    broker_listing: BrokerListing
    status_by_addr: Mapping[str, BrokerStatus]
    missing_brokers: Sequence[MissingBroker] = ()
    config_results: Sequence[ServerResult[BrokerConfig]] = ()
    former_addrs: Mapping[str, str] = {}
    inventory_problem: str | None = None

    @property
    def disks(self) -> DiskStates:
        return judge_disks(
            [ServerResult(addr, s.runtime_info, s.error) for addr, s in self.status_by_addr.items()],
            self.config_results,
        )


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
    answering_addrs = [addr for addr, status in status_by_addr.items() if status.is_reachable]
    return BrokerObservation(
        broker_listing,
        status_by_addr,
        [
            missing_broker
            for missing_broker in missing_brokers
            if missing_broker.broker.may_be_in(cluster_name)
        ],
        admin.broker_configs.get_each(answering_addrs) if answering_addrs else [],
        inventory.find_former_addrs() if inventory is not None else {},
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
    disks = observation.disks
    refusing_names = [
        observation.status_by_addr[addr].broker_name
        for addr in disks.refusals
        if observation.status_by_addr[addr].broker_id == MASTER_BROKER_ID
    ]
    doubt_lines = _list_doubts(observation, disks)
    warning_lines = [*_list_disk_lines(observation, disks), *_list_identity_lines(observation)]
    samples = [
        scale.make_sample("failing", failing_count),
        scale.make_sample("masterless", len(masterless_groups) + len(gone_names)),
        scale.make_sample("refusing", len(refusing_names)),
        scale.make_sample("serving", serving_count),
    ]
    minimum_state = CheckState.UNKNOWN if doubt_lines else CheckState.OK
    if (
        observation.broker_listing.silence_reasons
        or observation.broker_listing.missing_addrs
        or warning_lines
    ):
        minimum_state = CheckState.WARNING
    if refusing_names or not observation.status_by_addr or serving_count < (expected_count or 0):
        minimum_state = CheckState.CRITICAL
    expected_text = f", and {expected_count} are expected" if expected_count is not None else ""
    summary = f"{serving_count} of {len(observation.status_by_addr)} registered brokers answer{expected_text}"
    if refusing_names:
        summary += f", {abbreviate_names(refusing_names, _MAX_SHOWN)} refuses messages: its disk is full"
    if shared_addrs := find_shared_addrs(observation.broker_listing.broker_groups):
        summary += f", {len(shared_addrs)} of them under several names"
    if observation.missing_brokers:
        missing_labels = [missing_broker.broker.label for missing_broker in observation.missing_brokers]
        summary += f", and {abbreviate_names(missing_labels, _MAX_SHOWN)} left all name servers"
    detail_lines = [*warning_lines, *doubt_lines, *_list_details(observation, unregistered_masters)]
    check_finding = scale.make_finding(summary, samples, detail_lines, minimum_state=minimum_state)
    return check_finding.with_inventory_problem(observation.inventory_problem)


def _has_answering_master(broker_group: BrokerAddrGroup, status_by_addr: Mapping[str, BrokerStatus]) -> bool:
    return broker_group.master_addr is not None and status_by_addr[broker_group.master_addr].is_reachable


def _label(status: BrokerStatus) -> str:
    return f"{status.broker_name} {status.broker_id} at {status.broker_addr}"


def _list_disk_lines(observation: BrokerObservation, disks: DiskStates) -> list[str]:
    """The brokers with full disks. A slave refuses messages in any case, so only its disk is described."""
    statuses = observation.status_by_addr
    return [
        f"{_label(statuses[addr])} {text}"
        if statuses[addr].broker_id == MASTER_BROKER_ID
        else f"{_label(statuses[addr])}: {text.partition(': ')[2]}"
        for addr, text in {**disks.refusals, **disks.deletions}.items()
    ]


def _list_doubts(observation: BrokerObservation, disks: DiskStates) -> list[str]:
    """What is unknown of brokers that answered."""
    return [
        *(f"{_label(observation.status_by_addr[addr])} {text}" for addr, text in disks.unknown.items()),
        *(
            f"{_label(observation.status_by_addr[addr])} did not return its settings: {error_text(error)}"
            for addr, _, error in observation.config_results
            if error is not None and addr not in disks.unknown
        ),
    ]


def _list_identity_lines(observation: BrokerObservation) -> list[str]:
    """The addresses with several broker names, and the brokers whose own name is not the registered one."""
    own_names = {addr: (config or {}).get("brokerName") for addr, config, _ in observation.config_results}
    shared_addrs = find_shared_addrs(observation.broker_listing.broker_groups)
    return [
        *(
            describe_shared_addr(addr, names)
            + (f", whose own name is {own_names[addr]}" if own_names.get(addr) else "")
            + ": stopping it stops all of them. Restart the name servers one by one to remove former names"
            for addr, names in shared_addrs.items()
        ),
        *(
            f"{_label(status)} has the name {own_name} in its own settings: it was renamed"
            for addr, status in observation.status_by_addr.items()
            if addr not in shared_addrs
            and (own_name := own_names.get(addr)) is not None
            and own_name != status.broker_name
        ),
    ]


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
            f"{_label(status)}: {explain_silence(status.error, observation.former_addrs.get(addr))}"
            for addr, status in observation.status_by_addr.items()
            if status.error is not None and not status.is_reachable
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
