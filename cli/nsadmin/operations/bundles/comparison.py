"""Compares two bundles: brokers, topics, groups, users, settings, KV config, and the lag of groups."""

from typing import Any, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.bundles.bundle_answers import BundleAnswers
from nsadmin.client.bundles.bundle_file import SupportBundle
from nsadmin.client.connection.access_options import DEFAULT_ACCESS
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.operations.backups.comparison import NamedItemDifference, compare_items
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import Section, list_items

BROKERS, LAGS = "brokers", "lags"
SECTION_ORDER = (BROKERS, *(section.value for section in Section if section is not Section.OFFSETS), LAGS)
"""Offsets move with every message, so the lag of groups replaces them."""


class BundleItem(NamedTuple):
    """The name of an item. `parent_name` is a broker name, or "" for the KV config and for groups."""

    section: str
    parent_name: str
    name: str


def compare_bundles(before: SupportBundle, after: SupportBundle) -> list[NamedItemDifference]:
    """Return the items that differ, in the order of sections, brokers and names.

    Settings that name a server or its folders are left out.

    Raises NoneReachable if a bundle has no answer of a name server.
    """
    return compare_items(_list_bundle_items(before), _list_bundle_items(after), SECTION_ORDER)


def open_bundle_client(bundle: SupportBundle) -> AdminClient:
    """Open a client that reads a bundle; close it as any other."""
    return AdminClient(
        list(bundle.manifest.namesrv_addrs),
        access=DEFAULT_ACCESS._replace(answers=BundleAnswers(bundle)),
        read_only=True,
    )


def _list_bundle_items(bundle: SupportBundle) -> dict[BundleItem, Any]:
    items: dict[BundleItem, Any] = {}
    with open_bundle_client(bundle) as admin:
        cluster_info = admin.clusters.get_info()
        for broker_group in cluster_info.broker_groups:
            for broker_id, broker_addr in broker_group.broker_addrs.items():
                items[BundleItem(BROKERS, broker_group.broker_name, str(broker_id))] = {
                    "address": broker_addr
                }
        fields_by_addr = {
            fields["address"]: fields for item, fields in items.items() if item.section == BROKERS
        }
        for runtime in admin.brokers.get_runtime_info(fields_by_addr):
            if runtime.result is not None:
                fields_by_addr[runtime.addr]["release"] = runtime.result.release
        for cluster_name in sorted({group.cluster_name for group in cluster_info.broker_groups}):
            backup = observe_backup(admin, cluster_name, bundle.manifest.created_ms)
            for item, fields in list_items(backup).items():
                if item.section is not Section.OFFSETS:
                    items[BundleItem(item.section.value, item.parent_name, item.name)] = fields
        items.update(_list_lags(admin))
    return items


def _list_lags(admin: AdminClient) -> dict[BundleItem, Any]:
    """The lag of each group and topic, from the statistics of all masters, or why it is unknown."""
    lags_by_item: dict[BundleItem, list[Lag]] = {}
    for stats_result in admin.consumers.get_broker_stats_each(admin.clusters.list_masters()):
        for queue_lag in stats_result.result.queues if stats_result.result else ():
            item = BundleItem(LAGS, "", f"{queue_lag.queue.topic} {queue_lag.group}")
            lags_by_item.setdefault(item, []).append(queue_lag.lag)
    totals = {item: sum_lags(lags) for item, lags in lags_by_item.items()}
    return {item: {"": lag.reason if lag.messages is None else lag.messages} for item, lag in totals.items()}
