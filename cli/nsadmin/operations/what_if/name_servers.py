"""Name servers: asks who knows which of them, to tell who would have none left; `lists` judges it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.registrations import fetches_name_servers, name_servers_of
from nsadmin.client.results import NoneReachable
from nsadmin.operations.what_if.lists import ListLoss, known_alone, list_losses

Same = Callable[[str, str], bool]
"""Whether two addresses are those of one server."""


class Lists(NamedTuple):
    """Who would lose name servers: brokers as NAME:ID, clients as GROUP CLIENT, those with least left first.

    `alone` are brokers that registered with those that would be gone and nowhere else; `fetching` the brokers
    that look for a new list by themselves. Of so many `silent` clients nobody knows the list: `producers` and
    those that do not tell. `asked` is how many brokers and clients told theirs.
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
    """Who would be without what, if the name servers at these addresses were gone."""
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
        # What a name server does not tell may be all that the others have.
        known_alone(tables, down) if all(addr in tables for addr in others) else {},
        frozenset(name for name, items in told.items() if items and fetches_name_servers(items)),
        (len(lists), asked),
        silent,
        producers,
        errors,
    )


def _clients(admin: AdminClient, addrs: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], int, int, int]:
    """Lists of consumers by group and id; how many producers there are, how many do not tell, and do."""
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
