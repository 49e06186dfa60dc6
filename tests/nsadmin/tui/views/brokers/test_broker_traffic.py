"""The columns of a broker, and the graph of its traffic, within the lines that there are."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from nsadmin.tui.views.brokers.broker_table import BROKER_COLUMNS
from nsadmin.tui.views.brokers.broker_traffic import draw_broker_facts
from tests.support.screens import NOON, make_broker_poll, make_server_poll

A = "10.0.1.1:10911"


def test_the_graph_is_drawn_only_if_there_is_room() -> None:
    model = ClusterModel()
    for poll in (make_server_poll(), make_broker_poll(A), make_broker_poll(A, NOON + 5000)):
        model.apply_poll(poll)
    [row] = list_broker_rows(model)
    high = draw_broker_facts(BROKER_COLUMNS, row, 54, 45)
    assert any("messages per second" in cell.text for line in high for cell in line)
    assert len(high) <= 45
    low = draw_broker_facts(BROKER_COLUMNS, row, 54, 20)
    assert len(low) == 20
    assert not any("messages per second" in cell.text for line in low for cell in line)
