"""Reads which brokers and clients list which name servers, to foresee an outage of some of them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotFound
from nsadmin.client.brokers.registrations import has_dynamic_name_servers, parse_name_servers
from nsadmin.client.connection.name_server_reader import pick_result
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.name_servers.name_server_tables import NameServerListing


class NameServerListLoss(NamedTuple):
    """The owner of a list of name servers, its entries, and the entries that would remain."""

    list_owner: str
    listed_addrs: tuple[str, ...]
    remaining_addrs: tuple[str, ...]


def find_list_losses(
    lists_by_owner: Mapping[str, tuple[str, ...]], down_addrs: Iterable[str]
) -> list[NameServerListLoss]:
    """The owners whose lists contain one of these name servers; `down_addrs` has every spelling of them."""
    down_set = set(down_addrs)
    possible_losses = (
        NameServerListLoss(owner, addrs, tuple(addr for addr in addrs if addr not in down_set))
        for owner, addrs in lists_by_owner.items()
    )
    return sorted(
        (loss for loss in possible_losses if loss.remaining_addrs != loss.listed_addrs),
        key=lambda loss: (len(loss.remaining_addrs), loss.list_owner),
    )


def find_unshared_brokers(
    ids_by_server: Mapping[str, Mapping[str, frozenset[int]]], down_addrs: Iterable[str]
) -> dict[str, frozenset[int]]:
    """The processes that only these name servers know.

    `ids_by_server` holds broker ids by broker name, by address of the name server.
    """
    down_set = set(down_addrs)
    ids_elsewhere: dict[str, set[int]] = {}
    ids_on_down: dict[str, set[int]] = {}
    for namesrv_addr, ids_by_broker in ids_by_server.items():
        chosen_table = ids_on_down if namesrv_addr in down_set else ids_elsewhere
        for broker_name, broker_ids in ids_by_broker.items():
            chosen_table.setdefault(broker_name, set()).update(broker_ids)
    unshared_ids = {
        name: frozenset(broker_ids - ids_elsewhere.get(name, set()))
        for name, broker_ids in ids_on_down.items()
    }
    return {name: broker_ids for name, broker_ids in sorted(unshared_ids.items()) if broker_ids}


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
        NotFound: an address is no name server, and no broker or client lists it.
    """

    def is_down(server_addr: str) -> bool:
        return any(is_same_server(server_addr, down_addr) for down_addr in down_addrs)

    other_addrs = [addr for addr in admin.addresses.addrs if not is_down(addr)]
    listing_results = admin.name_server_tables.get_listing_each([*other_addrs, *down_addrs], ())
    listings_by_server = {addr: listing for addr, listing, _ in listing_results if listing is not None}
    listing_errors = {result.addr: result.error for result in listing_results}
    pick_result(listing_results)  # Raises its error if none answered.
    lists_by_broker, fetching_brokers, broker_errors = _read_broker_lists(admin, listings_by_server.values())
    lists_by_client, producer_count, silent_count = _read_client_lists(
        admin, [addr for addr, error in broker_errors.items() if error is None]
    )
    listed_addrs = {*chain(*lists_by_broker.values(), *lists_by_client.values())}
    down_spellings = {listed_addr for listed_addr in listed_addrs if is_down(listed_addr)}
    _require_listed(down_addrs, {*listed_addrs, *admin.addresses.addrs}, listing_errors, is_same_server)
    ids_by_server = {
        addr: {
            name: frozenset(member.broker_id for member in group.members)
            for name, group in listing.groups.items()
        }
        for addr, listing in listings_by_server.items()
    }
    return NameServerOutage(
        find_list_losses(lists_by_broker, down_spellings),
        find_list_losses(lists_by_client, down_spellings),
        # A name server that did not answer may know every broker, so no broker is certainly unshared.
        find_unshared_brokers(ids_by_server, down_addrs)
        if all(addr in listings_by_server for addr in other_addrs)
        else {},
        fetching_brokers,
        (len(lists_by_broker), len(lists_by_client)),
        silent_count,
        producer_count,
        {**listing_errors, **broker_errors},
    )


def _require_listed(
    down_addrs: Sequence[str],
    known_addrs: Collection[str],
    errors: Mapping[str, RocketMQError | None],
    is_same_server: SameServerTest,
) -> None:
    for addr in down_addrs:
        if errors[addr] is not None and not any(is_same_server(addr, known) for known in known_addrs):
            near_addrs = find_similar_names(addr, known_addrs, 0.5, max_names=1)
            hint = (
                f"; {did_you_mean(near_addrs)}" if near_addrs else f": use {', '.join(sorted(known_addrs))}"
            )
            raise NotFound(f"no broker or client lists the name server {addr}{hint}")


def _read_broker_lists(
    admin: AdminClient, broker_listings: Iterable[NameServerListing]
) -> tuple[dict[str, tuple[str, ...]], frozenset[str], dict[str, RocketMQError | None]]:
    """The name-server lists of brokers by NAME:ID, the brokers that fetch theirs, and errors by address."""
    addrs_by_broker = {
        f"{name}:{member.broker_id}": member.broker_addr
        for listing in broker_listings
        for name, group in listing.groups.items()
        for member in group.members
    }
    results_by_addr = {
        result.addr: result
        for result in admin.broker_configs.get_each(dict.fromkeys(addrs_by_broker.values()))
    }
    configs_by_broker = {
        key: broker_config
        for key, addr in addrs_by_broker.items()
        if (broker_config := results_by_addr[addr].result) is not None
    }
    return (
        {key: parse_name_servers(config) for key, config in configs_by_broker.items()},
        frozenset(key for key, config in configs_by_broker.items() if has_dynamic_name_servers(config)),
        {addr: result.error for addr, result in results_by_addr.items()},
    )


def _read_client_lists(
    admin: AdminClient, addrs: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], int, int]:
    """The name-server lists of consumers by "GROUP CLIENT", the producers, the silent consumers."""
    online_groups, _ = admin.consumers.list_online_groups(addrs)
    lists_by_group = admin.client_runtime.get_name_servers(online_groups)
    lists_by_client = {
        f"{group} {entry.client.client_id}": entry.namesrv_addrs
        for group, lists in lists_by_group.items()
        for entry in lists
        if entry.namesrv_addrs
    }
    client_count = sum(map(len, lists_by_group.values()))
    producers = {
        (entry.producer_group, entry.client_id)
        for result in admin.producers.list_producers(addrs)
        for entry in result.result or ()
    }
    return lists_by_client, len(producers), client_count - len(lists_by_client)
