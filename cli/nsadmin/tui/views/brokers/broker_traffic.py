"""A broker at a glance: its columns, and graphs of its traffic. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsadmin.tui.model.cluster_model import Trend
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.brokers.broker_rows import BrokerRow
from nsadmin.tui.views.graphs import draw_graph
from nsadmin.tui.views.row_details import draw_row_facts
from nsadmin.tui.views.table import Column

_MIN_GRAPH_HEIGHT = 7


def draw_broker_facts(
    columns: Sequence[Column[BrokerRow]], row: BrokerRow, width: int, height: int
) -> list[CellLine]:
    """The columns of the broker's row, and below them its traffic over the last polls, if there is room."""
    lines = [[], *draw_row_facts(columns, row, width), []]
    graph_height = height - len(lines)
    if graph_height < _MIN_GRAPH_HEIGHT:
        return lines[:height]
    broker = row.broker
    trends = {
        "in": _build_trend(broker.poll_times_ms, broker.put_rates),
        "out": _build_trend(broker.poll_times_ms, broker.get_rates),
    }
    return [*lines, *draw_graph("messages per second", trends, width, graph_height)]


def _build_trend(times_ms: Iterable[int], rates: Iterable[float | None]) -> Trend:
    trend = Trend.create_empty()
    for at_ms, rate in zip(times_ms, rates, strict=True):
        trend.add_point(at_ms, rate)
    return trend
