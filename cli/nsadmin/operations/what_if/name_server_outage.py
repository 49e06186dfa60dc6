"""Reads which brokers and clients list which name servers, to foresee an outage of some of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.brokers.registrations import has_dynamic_name_servers, parse_name_servers
from nsadmin.client.results import NoneReachable
from nsadmin.operations.what_if.name_server_lists import (
    NameServerListLoss,
    find_known_alone,
    find_list_losses,
)

SameServerTest = Callable[[str, str], bool]
"""A function that says whether two addresses belong to the same server."""


class NameServerOutage(NamedTuple):
    """Lost list entries: of brokers as NAME:ID and of clients as GROUP CLIENT, fewest remaining first.

    `unshared_brokers` are registered only with the lost name servers. `fetching_brokers` fetch a new list
    automatically. `silent_count` consumers did not report their list; the lists of `producer_count` producers
    are always unknown. `asked_counts` are the numbers of brokers and of clients that reported their lists.
    """

    broker_losses: Sequence[NameServerListLoss]
    client_losses: Sequence[NameServerListLoss]
    unshared_brokers: Mapping[str, frozenset[int]]
    fetching_brokers: frozenset[str]
    asked_counts: tuple[int, int]
    silent_count: int
    producer_count: int
    errors_by_addr: Mapping[str, RocketMQError | None]


def foresee_name_server_outage(
    admin: AdminClient, down_addrs: Sequence[str], is_same_server: SameServerTest
) -> NameServerOutage:
    """The list entries and registrations that would be lost without the name servers at these addresses.

    Raises:
        NoneReachable: no name server answered.
    """
    other_addrs = [
        server_addr
        for server_addr in admin.addresses.addrs
        if not any(is_same_server(server_addr, down_addr) for down_addr in down_addrs)
    ]
    broker_listings = admin.name_server_tables.get_listing_each([*other_addrs, *down_addrs], ())
    errors_by_addr = {broker_listing.addr: broker_listing.error for broker_listing in broker_listings}
    ids_by_server = {
        server_addr: {
            entry_name: frozenset(broker_member.broker_id for broker_member in addr_group.members)
            for entry_name, addr_group in broker_listing.groups.items()
        }
        for server_addr, broker_listing, _ in broker_listings
        if broker_listing is not None
    }
    if not ids_by_server:
        raise NoneReachable([error for error in errors_by_addr.values() if error is not None])  # type: ignore[misc]
    addrs_by_process = {
        f"{entry_name}:{broker_member.broker_id}": broker_member.broker_addr
        for _, broker_listing, _ in broker_listings
        if broker_listing is not None
        for entry_name, addr_group in broker_listing.groups.items()
        for broker_member in addr_group.members
    }
    configs_by_addr = {
        config_result.addr: config_result
        for config_result in admin.broker_configs.get_each(dict.fromkeys(addrs_by_process.values()))
    }
    errors_by_addr |= {
        server_addr: config_result.error for server_addr, config_result in configs_by_addr.items()
    }
    configs_by_process = {
        entry_name: configs_by_addr[server_addr].result
        for entry_name, server_addr in addrs_by_process.items()
    }
    lists_by_process = {
        entry_name: parse_name_servers(broker_config)
        for entry_name, broker_config in configs_by_process.items()
        if broker_config is not None
    }
    client_lists = _read_client_lists(
        admin, [server_addr for server_addr in configs_by_addr if configs_by_addr[server_addr].error is None]
    )
    listed_spellings = {
        server_addr
        for listed_addrs in (*lists_by_process.values(), *client_lists.lists_by_client.values())
        for server_addr in listed_addrs
    }
    down_spellings = {
        server_addr
        for server_addr in listed_spellings
        if any(is_same_server(server_addr, down_addr) for down_addr in down_addrs)
    }
    return NameServerOutage(
        find_list_losses(lists_by_process, down_spellings),
        find_list_losses(client_lists.lists_by_client, down_spellings),
        # A name server that did not answer may know every process, so no process is certainly unshared.
        find_known_alone(ids_by_server, down_addrs)
        if all(server_addr in ids_by_server for server_addr in other_addrs)
        else {},
        frozenset(
            entry_name
            for entry_name, broker_config in configs_by_process.items()
            if broker_config and has_dynamic_name_servers(broker_config)
        ),
        (len(lists_by_process), len(client_lists.lists_by_client)),
        client_lists.silent_count,
        client_lists.producer_count,
        errors_by_addr,
    )


class _ClientLists(NamedTuple):
    """The name-server lists of consumers by "GROUP CLIENT". Silent consumers did not report theirs."""

    lists_by_client: dict[str, tuple[str, ...]]
    producer_count: int
    silent_count: int


def _read_client_lists(admin: AdminClient, broker_addrs: Sequence[str]) -> _ClientLists:
    online_groups, _ = admin.consumers.list_online_groups(broker_addrs)
    lists_by_group = admin.client_runtime.get_name_servers(online_groups)
    lists_by_client = {
        f"{group} {client_entry.client.client_id}": client_entry.name_servers
        for group, group_lists in lists_by_group.items()
        for client_entry in group_lists
        if client_entry.name_servers
    }
    client_count = sum(map(len, lists_by_group.values()))
    producers = {
        (client_entry.producer_group, client_entry.client_id)
        for result in admin.producers.list_producers(broker_addrs)
        for client_entry in result.result or ()
    }
    return _ClientLists(lists_by_client, len(producers), client_count - len(lists_by_client))
