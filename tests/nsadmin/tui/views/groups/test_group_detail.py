"""One group: its queues, its members, its lag over time."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.navigation.view_links import list_tabs, open_target
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled, QueueLag
from nsadmin.tui.views.groups.group_detail import GroupLagView, GroupQueuesView
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import NOON

LAGS = [
    QueueLag("orders", "broker-a", 3, 1500, 1000, 20, NOON),
    QueueLag("orders", "broker-a", 4, 5, None, None, None),
]


def model() -> ClusterModel:
    new_model = ClusterModel()
    new_model.apply_poll(
        GroupPolled(NOON, "g", 4.0, LAGS, [ClientConnection("c", "h:1", "GO", "V5")], "PULL", "CLUSTERING")
    )
    return new_model


def test_queues_with_what_is_not_known_of_them(utc: None) -> None:
    view = GroupQueuesView("g")
    first, second = view.build_rows(model())
    assert [column.render_cell(first).text for column in view.columns] == [
        "orders", "broker-a", "3", "500", "20", "1500", "1000", "2025-12-31 12:00:00", ""
    ]  # fmt: skip
    assert [column.render_cell(second).text for column in view.columns][3:] == [
        "–", "–", "5", "–", "–", "no committed offset"
    ]  # fmt: skip
    assert (view.row_key(first), open_target(view.open_row(first))) == (
        "orders broker-a 3",
        TopicRouteView("orders"),
    )
    assert (view.subject_of_row(first).topic, view.subject_of_row(first).group) == ("orders", "g")


def test_the_line_above_and_the_tabs() -> None:
    view = GroupQueuesView("g")
    line = "".join(cell.text for cell in view.render_headline(model()))
    assert line == "backlog 500 (no committed offset on 1 of 2 queues)  1 client  PULL CLUSTERING"
    assert [tab.view_name for tab in list_tabs(view)] == ["queues", "members", "graph", "dead-letters"]
    assert view.list_queries(model(), [], None) == [DetailQuery("group", "g")]


def test_what_was_not_told_and_since_when() -> None:
    unknown, failing = ClusterModel(), model()
    assert GroupQueuesView("g").render_headline(unknown)[0].text == "the group is loading"
    assert GroupQueuesView("g").build_rows(unknown) == []
    unknown.apply_poll(GroupPolled(NOON, "g", error="nobody knows it"))
    assert GroupQueuesView("g").render_headline(unknown)[0].text == "the group is unknown"
    assert GroupQueuesView("g").empty_message(unknown) == "unknown: nobody knows it"
    failing.apply_poll(GroupPolled(NOON + 1000, "g", error="closed"))
    failing.now_ms = NOON + 6000
    assert GroupQueuesView("g").find_silence(failing) == Silence("closed", NOON + 1000)


def test_its_lag_is_drawn_when_there_are_two_looks() -> None:
    cluster_model = model()
    assert "two polls" in GroupLagView("g").draw_lines(cluster_model, 60, 12)[1][0].text
    cluster_model.apply_poll(GroupPolled(NOON + 5000, "g", 4.0, LAGS))
    assert "backlog in messages" in GroupLagView("g").draw_lines(cluster_model, 60, 12)[0][0].text
    assert GroupLagView("nobody").draw_lines(cluster_model, 60, 12)
