"""Checks that all registered brokers answer, and that each broker name has a master."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.clusters import BrokerAddrGroup, BrokerStatus, find_shared_addrs
from nsadmin.client.results import ServerResult, error_text
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.broker_disks import DiskStates, judge_disks
from nsadmin.operations.broker_identity import find_twins, list_identity_lines
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.inventory.keeper import describe_missing
from nsadmin.operations.inventory.records import MissingBroker, explain_silence
from nsadmin.operations.release_faults import list_broker_faults
from nsadmin.operations.slave_reads import CUT_OFF_GROUPS_COMMAND

_MAX_SHOWN = 4


class BrokerObservation(NamedTuple):
    """The brokers that name servers list, and the response of each broker by address.

    `twin_lines` describe the brokers of which two processes run.

    `missing_brokers` are in the inventory, and no name server lists them. `former_addrs` has the address that
    a broker had before its present one. `inventory_problem` says why they are unknown. `expected_count`
    brokers should answer. If only one cluster was asked for, `cluster_name` is its name.
    """

    broker_listing: BrokerListing
    status_by_addr: Mapping[str, BrokerStatus]
    missing_brokers: Sequence[MissingBroker] = ()
    config_results: Sequence[ServerResult[BrokerConfig]] = ()
    former_addrs: Mapping[str, str] = {}
    inventory_problem: str | None = None
    expected_count: int | None = None
    cluster_name: str | None = None
    twin_lines: Sequence[str] = ()

    @property
    def disks(self) -> DiskStates:
        return judge_disks(
            [ServerResult(addr, s.runtime_info, s.error) for addr, s in self.status_by_addr.items()],
            self.config_results,
        )


def observe(admin: AdminClient, scope: CheckScope) -> BrokerObservation:
    """Ask every broker that at least one name server lists, and look for missing ones."""
    full_listing, inventory = listed_brokers.observe_listing(admin), scope.inventory
    listing = full_listing.of_cluster(scope.cluster_name)
    missing: Sequence[MissingBroker] = ()
    if inventory is not None and full_listing.groups_by_server:
        missing = inventory.observe_brokers(full_listing.broker_groups)
    results = {r.addr: r for r in admin.brokers.get_runtime_info(list(listing.broker_names))}
    statuses = {
        addr: BrokerStatus(group.cluster_name, group.broker_name, broker_id, *results[addr])
        for group in listing.broker_groups
        for broker_id, addr in group.broker_addrs.items()
    }
    former_addrs = inventory.find_former_addrs() if inventory is not None else {}
    answering_addrs = [addr for addr, status in statuses.items() if status.is_reachable]
    return BrokerObservation(
        listing,
        statuses,
        [lost for lost in missing if lost.broker.may_be_in(scope.cluster_name)],
        admin.broker_configs.get_each(answering_addrs) if answering_addrs else [],
        former_addrs,
        None if inventory is None else inventory.problem,
        scope.expected_count,
        scope.cluster_name,
        find_twins(admin, [g for groups in listing.groups_by_server.values() for g in groups], former_addrs),
    )


def judge(scale: CheckScale, seen: BrokerObservation) -> CheckFinding:
    """Judge the brokers. If fewer answer than are expected, this is critical."""
    listing, statuses = seen.broker_listing, seen.status_by_addr
    if not listing.groups_by_server:
        return scale.make_unknown_finding("no name server returned a list of brokers", listing.failure_lines)
    if seen.cluster_name is not None and not listing.broker_groups and not seen.missing_brokers:
        return scale.make_unknown_finding(
            f'no name server lists the cluster "{seen.cluster_name}"', listing.failure_lines
        )
    masterless = [
        group
        for group in listing.broker_groups
        if group.master_addr is None or not statuses[group.master_addr].is_reachable
    ]
    unregistered = [group for group in masterless if MASTER_BROKER_ID not in group.broker_addrs]
    is_master = {addr: status.broker_id == MASTER_BROKER_ID for addr, status in statuses.items()}
    lost_brokers = seen.missing_brokers
    uncounted = [b for b in lost_brokers if b.is_group_gone or b.broker.broker_id != MASTER_BROKER_ID]
    gone_names = {lost.broker.broker_name for lost in uncounted if lost.is_group_gone}
    serving_count = sum(status.is_reachable for status in statuses.values())
    failing_count = len(statuses) - serving_count + len(unregistered) + len(uncounted)
    disks = seen.disks
    refusing_names = [statuses[addr].broker_name for addr in disks.refusals if is_master[addr]]
    doubt_lines = _list_doubts(seen, disks)
    warning_lines = [
        *_list_disk_lines(seen, disks),
        *list_identity_lines(listing.broker_groups, seen.config_results),
        *seen.twin_lines,
        *list_broker_faults(statuses.values()),
    ]
    figures = {
        "failing": failing_count,
        "masterless": len(masterless) + len(gone_names),
        "refusing": len(refusing_names),
        "serving": serving_count,
    }
    minimum_state = CheckState.UNKNOWN if doubt_lines else CheckState.OK
    if listing.silence_reasons or listing.missing_addrs or warning_lines:
        minimum_state = CheckState.WARNING
    if refusing_names or not statuses or serving_count < (seen.expected_count or 0):
        minimum_state = CheckState.CRITICAL
    summary = "no broker is registered"
    if statuses:
        summary = f"{serving_count} of {len(statuses)} registered brokers answer"
    if unregistered:
        verb = "has" if len(unregistered) == 1 else "have"
        names = abbreviate_names([group.broker_name for group in unregistered], _MAX_SHOWN)
        summary = f"{names} {verb} no master; {summary}"
    if seen.expected_count is not None:
        summary += f", and {seen.expected_count} are expected"
    if refusing_names:
        summary += f", {abbreviate_names(refusing_names, _MAX_SHOWN)} refuses messages: its disk is full"
    if shared_addrs := find_shared_addrs(listing.broker_groups):
        summary += f", {len(shared_addrs)} of them under several names"
    if left := [lost.broker.label for lost in seen.missing_brokers if lost.broker.last_seen_ms is not None]:
        summary = f"{abbreviate_names(left, _MAX_SHOWN)} left all name servers; {summary}"
    if unseen := [lost.broker.label for lost in seen.missing_brokers if lost.broker.last_seen_ms is None]:
        verb, them = ("is", "it") if len(unseen) == 1 else ("are", "them")
        shown = abbreviate_names(unseen, _MAX_SHOWN)
        summary = f"{shown} {verb} expected, and nsadmin never saw {them} registered; {summary}"
    details = [*warning_lines, *doubt_lines, *_list_details(seen, unregistered)]
    if masterless:
        details.append(f"to see which topics cannot be written now: {quote_command('check', 'writable')}")
        details.append(f"to see which groups cannot read now: {quote_command(*CUT_OFF_GROUPS_COMMAND)}")
        details.append("what to do, and what may be lost: nsadmin guide when-a-master-dies")
    silent = (status.broker_name for status in statuses.values() if not status.is_reachable)
    unlisted = (lost.broker.label for lost in seen.missing_brokers)
    affected = chain((g.broker_name for g in masterless), refusing_names, silent, unlisted)
    finding = scale.make_finding(summary, figures, details, minimum_state=minimum_state, affected=affected)
    return finding.with_inventory_problem(seen.inventory_problem)


def _list_disk_lines(seen: BrokerObservation, disks: DiskStates) -> list[str]:
    """The brokers with full disks. A slave refuses messages in any case, so only its disk is described."""
    names = seen.broker_listing.broker_names
    return [
        f"{names[addr]} {text}"
        if seen.status_by_addr[addr].broker_id == MASTER_BROKER_ID
        else f"{names[addr]}: {text.partition(': ')[2]}"
        for addr, text in {**disks.refusals, **disks.deletions}.items()
    ]


def _list_doubts(seen: BrokerObservation, disks: DiskStates) -> list[str]:
    """What is unknown of brokers that answered."""
    names = seen.broker_listing.broker_names
    return [
        *(f"{names[addr]} {text}" for addr, text in disks.unknown.items()),
        *(
            f"{names[addr]} did not return its settings: {error_text(error)}"
            for addr, _, error in seen.config_results
            if error is not None and addr not in disks.unknown
        ),
    ]


def _list_details(seen: BrokerObservation, unregistered: Sequence[BrokerAddrGroup]) -> list[str]:
    names = seen.broker_listing.broker_names
    return [
        *(
            f"{lost.broker.label}{f' at {addr}' if (addr := lost.broker.broker_addr) else ''}: "
            f"{describe_missing(lost)}"
            for lost in seen.missing_brokers
        ),
        *(
            f"{names[addr]}: {explain_silence(status.error, seen.former_addrs.get(addr))}"
            for addr, status in seen.status_by_addr.items()
            if status.error is not None and not status.is_reachable
        ),
        *(f"{group.broker_name}: no master is registered" for group in unregistered),
        *seen.broker_listing.failure_lines,
        *(
            f"name server {namesrv_addr} does not list {', '.join(addrs)}, but another name server does"
            for namesrv_addr, addrs in seen.broker_listing.missing_addrs.items()
        ),
    ]


CHECK = Check(
    "brokers",
    (
        CheckMeasure("failing", "brokers that do not answer, and missing masters", warning="0"),
        CheckMeasure("masterless", "broker names without a master that answers", critical="0"),
        CheckMeasure("refusing", "masters that refuse messages because their disk is full"),
        CheckMeasure("serving", "brokers that answer"),
    ),
    observe,
    judge,
    warning_when="a listed broker does not answer, has another name than listed, has a release with a known "
    "fault, or deletes messages before `fileReservedTime`; or name servers list different brokers",
    critical_when="the master of a broker name does not answer, or refuses messages because its disk is "
    "above `diskSpaceWarningLevelRatio`; or an expected broker is missing",
    remedy="nsadmin clusterList",
)
