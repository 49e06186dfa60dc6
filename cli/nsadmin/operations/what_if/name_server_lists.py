"""Lists of name servers: which entries would remain, and which brokers register nowhere else. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


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
