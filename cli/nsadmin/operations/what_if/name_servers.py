"""Reads which brokers and clients list which name servers, to foresee an outage of some of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.registrations import fetches_name_servers, name_servers_of
from nsadmin.client.results import NoneReachable
from nsadmin.operations.what_if.lists import ListLoss, known_alone, list_losses

Same = Callable[[str, str], bool]
"""A function that says whether two addresses belong to the same server."""


class Lists(NamedTuple):
    """Lost list entries: of brokers as NAME:ID and of clients as GROUP CLIENT, fewest remaining first.

    `unshared_brokers` are registered only with the lost name servers. `fetching_brokers` fetch a new list by
    themselves. `silent_count` consumers did not report their list; the lists of `producer_count` producers
    are always unknown. `asked_counts` are the numbers of brokers and of clients that reported their lists.
    """

    brokers: Sequence[ListLoss]
    clients: Sequence[ListLoss]
    alone: Mapping[str, frozenset[int]]
    fetching: frozenset[str]
    asked: tuple[int, int]
    silent: int
    producers: int
    errors: Mapping[str, RocketMQError | None]


def without_name_servers(admin: AdminClient, down: Sequence[str], same: Same) -> Lists:
    """The list entries and registrations that would be lost without the name servers at these addresses.

    Raises:
        NoneReachable: no name server answered.
    """
    others = [addr for addr in admin.addresses.addrs if not any(same(addr, one) for one in down)]
    listed = admin.tables.listed_each([*others, *down], ())
    errors = {found.addr: found.error for found in listed}
    tables = {
        addr: {
            name: frozenset(member.broker_id for member in group.members)
            for name, group in found.groups.items()
        }
        for addr, found, _ in listed
        if found is not None
    }
    if not tables:
        raise NoneReachable([error for error in errors.values() if error is not None])  # type: ignore[misc]
    addrs = {
        f"{name}:{member.broker_id}": member.broker_addr
        for _, found, _ in listed
        if found is not None
        for name, group in found.groups.items()
        for member in group.members
    }
    configs = {result.addr: result for result in admin.broker_configs.each(dict.fromkeys(addrs.values()))}
    errors |= {addr: result.error for addr, result in configs.items()}
    told = {name: configs[addr].result for name, addr in addrs.items()}
    lists = {name: name_servers_of(items) for name, items in told.items() if items is not None}
    clients, producers, silent, asked = _clients(
        admin, [addr for addr in configs if configs[addr].error is None]
    )
    spellings = {addr for known in (*lists.values(), *clients.values()) for addr in known}
    gone = {addr for addr in spellings if any(same(addr, one) for one in down)}
    return Lists(
        list_losses(lists, gone),
        list_losses(clients, gone),
        # A name server that did not answer may know every process, so no process is certainly unshared.
        known_alone(tables, down) if all(addr in tables for addr in others) else {},
        frozenset(name for name, items in told.items() if items and fetches_name_servers(items)),
        (len(lists), asked),
        silent,
        producers,
        errors,
    )


def _clients(admin: AdminClient, addrs: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], int, int, int]:
    """Lists of consumers by group and client id; the counts of producers, silent and answering clients."""
    online, _ = admin.consumers.online(addrs)
    told = admin.running.name_servers(online)
    lists = {
        f"{group} {item.client.client_id}": item.name_servers
        for group, items in told.items()
        for item in items
        if item.name_servers
    }
    everybody = sum(map(len, told.values()))
    producers = {
        (item.producer_group, item.client_id)
        for result in admin.producers.each(addrs)
        for item in result.result or ()
    }
    return lists, len(producers), everybody - len(lists), len(lists)
