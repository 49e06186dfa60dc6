"""Figures over time, as lines of dots."""

from nsadmin.tui.model.cluster_model import Trend
from nsadmin.tui.polling.poll_records import GroupPolled, QueueLag
from nsadmin.tui.views.graphs import GraphsView, draw_graph, draw_small_graphs
from tests.support.screens import NOON, join_cells, join_lines, make_broker_poll, make_model, make_server_poll


def trend(*values: float) -> Trend:
    trend = Trend.create_empty()
    for at, value in enumerate(values):
        trend.add_point(NOON + at * 60_000, value)
    return trend


def test_a_line_with_its_axes(utc: None) -> None:
    graph = join_lines(draw_graph("messages", {"a": trend(0, 100, 100, 50)}, 40, 8))
    assert (
        graph
        == """\
  messages  ━━ a 50
    100 │       ⢀⠤⠊⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠒⠢⢄⣀
     75 │     ⡠⠔⠁                ⠉⠑⠢⠤⣀
     50 │  ⢀⠔⠊
     25 │⡠⠒⠁
      0 └─────────────────────────────
         12:00:00             12:03:00"""
    )


def test_the_values_of_an_axis_are_round(utc: None) -> None:
    """Issue 30: an axis of 923 messages had the values 808, 462, 115 and 0."""
    for top, values in ((923, ["1.0k", "750", "500", "250"]), (2_900, ["3.0k", "2.0k", "1.0k"])):
        lines = join_lines(draw_graph("messages", {"a": trend(0, top)}, 40, 17)).splitlines()[1:-2]
        assert [line.split("│")[0].strip() for line in lines if line.split("│")[0].strip()] == values


def test_two_lines_share_their_scale_and_have_tones_of_their_own() -> None:
    lines = draw_graph("messages", {"a": trend(0, 100), "b": trend(50, 50)}, 60, 12)
    tones = {cell.tone for line in lines[1:-2] for cell in line}
    assert {"spark", "warn"} <= tones
    assert all(len(join_cells(line)) <= 60 for line in lines)
    assert len(lines) == 11


def test_one_look_is_no_line_and_nothing_is_a_line_at_the_ground() -> None:
    assert "two polls" in join_lines(draw_graph("messages", {"a": trend(1)}, 40, 10))
    assert "⣀" in join_lines(draw_graph("messages", {"a": trend(0, 0)}, 40, 10))


def test_the_screen_has_clusters_and_below_the_groups_that_are_most_behind() -> None:
    model = make_model(make_server_poll())
    for at in (0, 6_000):
        model.apply_poll(make_broker_poll("10.0.1.1:10911", NOON + at))
    assert "by cluster  ━━ cluster-a 100" in join_lines(GraphsView().draw_lines(model, 80, 20))
    for at in (0, 6_000):
        model.apply_poll(GroupPolled(NOON + at, "g", 1.0, [QueueLag("t", "b", 0, 9, 2, 0, None)]))
    graphs = join_lines(GraphsView().draw_lines(model, 80, 20))
    assert "lag of the consumer groups, in messages: the largest" in graphs
    assert "  g  ━━ 7" in graphs
    assert len(graphs.splitlines()) <= 20


def test_small_graphs_have_scales_of_their_own_side_by_side() -> None:
    trends = {"large": trend(0, 90_000), "small": trend(0, 9), "third": trend(0, 5)}
    lines = draw_small_graphs(trends, 80, 20)
    graph_lines = join_lines(lines).splitlines()
    assert "  large  ━━ 90.0k" in graph_lines[0]
    assert "  small  ━━ 9.0" in graph_lines[0]
    assert "100k" in graph_lines[1]
    assert "10 │" in graph_lines[1]
    assert any("third" in line for line in graph_lines[1:])
    assert {len(join_cells(line)) for line in lines} <= {80, 40}
    assert len(draw_small_graphs(trends, 30, 8)) <= 8
