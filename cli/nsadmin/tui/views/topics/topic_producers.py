"""The producers that are connected to the masters of a topic. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.topics.topic_detail import TopicDetailView

_MAX_ASKED_MASTERS = 12
"""The most masters to ask. A producer is connected to all masters of its topic, so the first ones suffice."""


class ProducerRow(NamedTuple):
    """A client of a producer group, and the masters of the topic that it is connected to."""

    producer_group: str
    producer_client: ClientConnection
    brokers: tuple[str, ...]


class TopicProducersView(TopicDetailView):
    """The producers that may send to the topic. Brokers do not know to which topics a producer sends."""

    view_name = "producers"
    empty_text = "no producer is connected, according to the brokers that answered"
    columns: Sequence[Column[ProducerRow]] = (
        Column("group", "PRODUCER GROUP", 26, "", lambda row: row.producer_group, tone="strong", grow=True),
        Column("client", "CLIENT", 34, "", lambda row: row.producer_client.client_id),
        Column("brokers", "ON", 3, "masters of the topic that the producer is connected to",
               lambda row: len(row.brokers), right=True, flash=True),
        Column("addr", "ADDRESS", 21, "", lambda row: row.producer_client.addr, tone="dim", drop=2),
        Column("language", "LANGUAGE", 8, "", lambda row: row.producer_client.language, tone="dim", drop=1),
        Column("version", "VERSION", 8, "", lambda row: row.producer_client.version, tone="dim", drop=1),
    )  # fmt: skip

    def _find_masters(self, model: ClusterModel) -> dict[str, str]:
        """The names of the topic's masters by address."""
        poll = self.find_poll(model)
        brokers = {name for route in poll.routes.values() if route for name in route} if poll else set()
        name_by_addr = {
            broker.key.addr: name
            for name in sorted(brokers)
            for broker in model.list_replicas(name)
            if broker.key.id == 0 and broker.gone_since_ms is None
        }
        return dict(list(name_by_addr.items())[:_MAX_ASKED_MASTERS])

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        producer_queries = [DetailQuery("connections", addr) for addr in self._find_masters(model)]
        return [*super().list_queries(model, visible_rows, current_row), *producer_queries]

    def build_rows(self, model: ClusterModel) -> Sequence[ProducerRow]:
        producer_rows: dict[tuple[str, str], ProducerRow] = {}
        for addr, broker_name in self._find_masters(model).items():
            answer = model.connection_answers.get(addr)
            producers = (
                answer.last_poll.producers if answer is not None and answer.last_poll is not None else None
            )
            for group, group_clients in (producers or {}).items():
                for client in group_clients:
                    row = producer_rows.get((group, client.client_id), ProducerRow(group, client, ()))
                    producer_rows[group, client.client_id] = row._replace(brokers=(*row.brokers, broker_name))
        return [producer_rows[client_key] for client_key in sorted(producer_rows)]

    def row_key(self, row: ProducerRow) -> str:
        return f"{row.producer_group} {row.producer_client.client_id}"

    def render_headline(self, model: ClusterModel) -> CellLine:
        silent_brokers = [
            name
            for addr, name in self._find_masters(model).items()
            if (answer := model.connection_answers.get(addr)) is not None and answer.error_text is not None
        ]
        cells = [
            *super().render_headline(model),
            Cell("  producers of its brokers; any of them may send to the topic", "dim"),
        ]
        return (
            [*cells, Cell(f"  no answer from {', '.join(silent_brokers)}", "warn")]
            if silent_brokers
            else cells
        )
