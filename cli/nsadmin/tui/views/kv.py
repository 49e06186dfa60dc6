"""The list of KV entries of all name servers, with their differences. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedNameServer
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.servers import DifferenceSidesView
from nsadmin.tui.views.table import Cell, Column


class KvRow(NamedTuple):
    """A key with the last value of the first name server that has it.

    `fresh_values` are those of all name servers that answer, which are compared. None: it lacks the key.
    `is_current` means that all name servers answer.
    """

    namespace: str
    kv_key: str
    first_value: str
    fresh_values: tuple[str | None, ...]
    is_current: bool

    @property
    def has_difference(self) -> bool:
        return len(set(self.fresh_values)) > 1

    @property
    def agreement_cell(self) -> Cell:
        if self.has_difference:
            return Cell("≠ differ", "bad")
        return Cell("equal" if len(self.fresh_values) > 1 and self.is_current else units.UNKNOWN_MARK, "dim")


class KvView(View):
    """One row for each key that any name server has."""

    name = "kv"
    key_fields = ("namespace", "kv_key")
    needs_name_servers = True
    title = "KV"
    grouping_key = "namespace"
    empty_text = "no keys in the shown namespaces; pass --namespace to show others"
    columns: Sequence[Column[KvRow]] = (
        Column("namespace", "NAMESPACE", 20, "", lambda row: row.namespace, tone="dim", drop=1),
        Column("key", "KEY", 20, "", lambda row: row.kv_key, tone="strong"),
        Column("value", "VALUE", 24, "", lambda row: row.first_value, flash=True, grow=True),
        Column("servers", "NS", 8,
               "whether the name servers agree; – with fewer than two, or if one is silent",
               lambda row: not row.has_difference, cell=lambda row: row.agreement_cell, flash=True),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[KvRow]:
        answered = [server for server in model.name_servers.values() if server.last_poll is not None]
        fresh = model.list_fresh_servers()
        reporting = [server for server in fresh if "kv" not in server.unreported]
        is_current = not model.list_silent_servers() and len(reporting) == len(fresh)

        def read_value(server: ObservedNameServer, namespace: str, key: str) -> str | None:
            return server.kv_tables.get(namespace, {}).get(key)

        tables = [table for server in answered for table in server.kv_tables.items()]
        names = {(namespace, key) for namespace, entries in tables for key in entries}
        return [
            KvRow(
                *name,
                next((value for s in answered if (value := read_value(s, *name)) is not None), ""),
                tuple(read_value(server, *name) for server in reporting),
                is_current,
            )
            for name in sorted(names)
        ]

    def subject_of_row(self, row: KvRow) -> RowSubject:
        return RowSubject(namespace=row.namespace, key=row.kv_key, value=row.first_value)

    def render_headline(self, model: ClusterModel) -> CellLine:
        namespaces = sorted({name for server in model.name_servers.values() for name in server.kv_tables})
        return [Cell("namespaces ", "dim"), Cell(", ".join(namespaces) or units.UNKNOWN_MARK, "strong")]

    def open_row(self, row: KvRow) -> View | None:
        key_name = f"{row.namespace} {row.kv_key}"
        return DifferenceSidesView("KV config", key_name) if row.has_difference else None
