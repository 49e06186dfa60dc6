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
        NameServerListLoss(
            list_owner,
            listed_addrs,
            tuple(namesrv_addr for namesrv_addr in listed_addrs if namesrv_addr not in down_set),
        )
        for list_owner, listed_addrs in lists_by_owner.items()
    )
    return sorted(
        (list_loss for list_loss in possible_losses if list_loss.remaining_addrs != list_loss.listed_addrs),
        key=lambda list_loss: (len(list_loss.remaining_addrs), list_loss.list_owner),
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
        broker_name: frozenset(broker_ids - ids_elsewhere.get(broker_name, set()))
        for broker_name, broker_ids in ids_on_down.items()
    }
    return {broker_name: broker_ids for broker_name, broker_ids in sorted(unshared_ids.items()) if broker_ids}
