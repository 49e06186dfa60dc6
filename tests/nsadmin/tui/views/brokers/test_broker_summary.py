"""The summary of a broker: its figures and its traffic."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.brokers.broker_summary import BrokerSummaryView
from tests.support.screens import NOON, make_broker_poll, make_server_poll

A = "10.0.1.1:10911"
PLACE = ("broker-a", 0, A, "cluster-a")


def text(lines: list[CellLine]) -> str:
    return "\n".join("".join(cell.text for cell in line).rstrip() for line in lines)


def model() -> ClusterModel:
    new_model = ClusterModel()
    for poll in (
        make_server_poll(),
        make_broker_poll(A),
        make_broker_poll(A, NOON + 5000, putTps="300 1 1", commitLogDiskRatio="0.91"),
    ):
        new_model.apply_poll(poll)
    return new_model


def test_figures_come_first_with_their_tones_and_the_traffic_below() -> None:
    lines = BrokerSummaryView(*PLACE).draw_lines(model(), 100, 40)
    summary = text(lines)
    assert "state       ● up" in summary
    assert "messages per second  ━━ in 300  ━━ out 200" in summary
    [disk] = [cell for line in lines for cell in line if "91%" in cell.text]
    assert disk.tone == "bad"
    assert len(lines) <= 40


def test_a_low_screen_has_no_graph_and_a_broker_that_is_gone_says_so() -> None:
    lines = BrokerSummaryView(*PLACE).draw_lines(model(), 60, 12)
    assert len(lines) == 12
    assert "per second" not in text(lines)
    gone = BrokerSummaryView("broker-z", 0, "h:1", "c").draw_lines(model(), 60, 12)
    assert "no name server lists h:1 any more" in text(gone)


def test_polls_without_a_figure_are_no_points_of_the_graph() -> None:
    cluster_model = ClusterModel()
    for poll in (make_server_poll(), make_broker_poll(A, putTps=""), make_broker_poll(A, NOON + 5000)):
        cluster_model.apply_poll(poll)
    assert "━━ out 200" in text(BrokerSummaryView(*PLACE).draw_lines(cluster_model, 100, 40))
