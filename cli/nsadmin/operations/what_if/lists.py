"""Lists of name servers: which entries would remain, and which brokers register nowhere else. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class ListLoss(NamedTuple):
    """The owner of a list of name servers, its entries, and the entries that would remain."""

    name: str
    name_servers: tuple[str, ...]
    left: tuple[str, ...]


def list_losses(lists: Mapping[str, tuple[str, ...]], down: Iterable[str]) -> list[ListLoss]:
    """The owners whose lists contain one of these name servers; `down_addrs` has every spelling of them."""
    gone = set(down)
    found = (
        ListLoss(name, addrs, tuple(addr for addr in addrs if addr not in gone))
        for name, addrs in lists.items()
    )
    return sorted(
        (item for item in found if item.left != item.name_servers),
        key=lambda item: (len(item.left), item.name),
    )


def known_alone(
    tables: Mapping[str, Mapping[str, frozenset[int]]], down: Iterable[str]
) -> dict[str, frozenset[int]]:
    """The processes that only these name servers know.

    `ids_by_server` holds broker ids by broker name, by address of the name server.
    """
    gone = set(down)
    elsewhere: dict[str, set[int]] = {}
    here: dict[str, set[int]] = {}
    for addr, brokers in tables.items():
        table = here if addr in gone else elsewhere
        for name, ids in brokers.items():
            table.setdefault(name, set()).update(ids)
    alone = {name: frozenset(ids - elsewhere.get(name, set())) for name, ids in here.items()}
    return {name: ids for name, ids in sorted(alone.items()) if ids}
