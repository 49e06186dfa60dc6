"""The first tab of a broker: its columns with their thresholds, and graphs of its traffic. Pure."""

from __future__ import annotations

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.brokers.broker_detail import BrokerDetailView
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from nsadmin.tui.views.brokers.broker_table import BROKER_COLUMNS
from nsadmin.tui.views.brokers.broker_traffic import draw_broker_facts
from nsadmin.tui.views.table import Cell


class BrokerSummaryView(BrokerDetailView):
    """The state of the broker at a glance. The tab `figures` has everything that the broker reports."""

    view_name = "summary"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        for row in list_broker_rows(model):
            if row.broker.key == self.key:
                return draw_broker_facts(BROKER_COLUMNS, row, width, height)
        return [[], [Cell(f"  no name server lists {self.broker_addr} any more", "bad")]]
