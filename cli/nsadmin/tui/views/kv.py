"""The list of KV entries of all name servers, with their differences. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import units
from nsadmin.tui.model import Model, Silence
from nsadmin.tui.views.divergence import Sides
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view import About, Line, View


class Item(NamedTuple):
    """A key with the last value of each name server, or None if the name server lacks the key.

    `fresh_values` are those of name servers that answer. Only these are compared.
    """

    namespace: str
    key: str
    sides: tuple[tuple[str, str | None], ...]
    told: tuple[str | None, ...]

    @property
    def value(self) -> str:
        return next((value for _, value in self.sides if value is not None), "")

    @property
    def differs(self) -> bool:
        return len(set(self.told)) > 1

    @property
    def agreement(self) -> Cell:
        if self.differs:
            return Cell("≠ differ", "bad")
        return Cell("equal" if len(self.told) > 1 else units.NOTHING, "dim")


class Kv(View):
    """One row for each key that any name server has."""

    name = "kv"
    title = "KV"
    grouping = "namespace"
    empty = "no key in the namespaces that are looked at; name others with --namespace"
    columns = (
        Column(
            "namespace", "NAMESPACE", 20, lambda i: i.namespace, lambda i: Cell(i.namespace, "dim"), rank=1
        ),
        Column("key", "KEY", 20, lambda i: i.key, lambda i: Cell(i.key, "strong")),
        Column("value", "VALUE", 24, lambda i: i.value, lambda i: Cell(i.value), grows=True, flashes=True),
        Column(
            "servers",
            "NS",
            8,
            lambda i: not i.differs,
            lambda i: i.agreement,
            flashes=True,
            help="whether all name servers that answer have the same; – where it is one alone, or none",
        ),
    )

    def items(self, model: Model) -> Sequence[Item]:
        servers = [server for server in model.servers.values() if server.last is not None]
        telling = [server for server in model.fresh() if "kv" not in server.untold]
        names = {(space, key) for server in servers for space, table in server.kv.items() for key in table}
        return [
            Item(
                space,
                key,
                tuple((server.addr, server.kv.get(space, {}).get(key)) for server in servers),
                tuple(server.kv.get(space, {}).get(key) for server in telling),
            )
            for space, key in sorted(names)
        ]

    def key(self, item: Item) -> str:
        return f"{item.namespace} {item.key}"

    def about(self, item: Item) -> About:
        return About(namespace=item.namespace, key=item.key, value=item.value)

    def silence(self, model: Model) -> Silence | None:
        return model.silence()

    def headline(self, model: Model) -> Line:
        spaces = sorted({space for server in model.servers.values() for space in server.kv})
        return [Cell("namespaces ", "dim"), Cell(", ".join(spaces) or units.NOTHING, "strong")]

    def enter(self, item: Item) -> View | None:
        return Sides("KV config", f"{item.namespace} {item.key}") if item.differs else None
