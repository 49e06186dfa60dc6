"""One group: its queues, its members, its lag over time."""

from msgspec.structs import replace

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled, QueueLag
from nsadmin.tui.views.groups.group_detail import (
    GroupClientsView,
    GroupLagView,
    GroupQueuesView,
    list_client_rows,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import NOON, join_cells, make_model

LAGS = [
    QueueLag("orders", "broker-a", 3, 1500, 1000, 20, NOON),
    QueueLag("orders", "broker-a", 4, 5, None, None, None),
]


def model() -> ClusterModel:
    return make_model(
        GroupPolled(NOON, "g", 4.0, LAGS, [ClientConnection("c", "h:1", "GO", "V5")], "PULL", "CLUSTERING")
    )


def test_queues_with_what_is_not_known_of_them(utc: None) -> None:
    view = GroupQueuesView("g")
    first, second = view.build_rows(model())
    assert [column.render_cell(first).text for column in view.columns] == [
        "orders", "broker-a", "3", "500", "20", "1500", "1000", "2025-12-31 12:00:00", ""
    ]  # fmt: skip
    assert [column.render_cell(second).text for column in view.columns][3:] == [
        "–", "–", "5", "–", "–", "no consumer offset"
    ]  # fmt: skip
    assert view.row_key(first) == "orders broker-a 3"
    assert view.open_row(first) == TopicRouteView("orders")
    assert (view.subject_of_row(first).topic, view.subject_of_row(first).group) == ("orders", "g")


def test_the_line_above_and_the_tabs() -> None:
    view = GroupQueuesView("g")
    line = join_cells(view.render_headline(model()))
    assert line == "lag 500 (no consumer offset on 1 of 2 queues)  1 client  PULL CLUSTERING"
    assert [tab.name for tab in view.list_tabs()] == ["queues", "members", "graph", "dead-letters"]
    assert view.list_queries(model(), []) == [DetailQuery("group", "g")]


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
    known = model()
    assert "two polls" in GroupLagView("g").draw_lines(known, 60, 12)[1][0].text
    known.apply_poll(GroupPolled(NOON + 5000, "g", 4.0, LAGS))
    assert "lag in messages" in GroupLagView("g").draw_lines(known, 60, 12)[0][0].text
    assert GroupLagView("nobody").draw_lines(known, 60, 12)


CLIENT_LAGS = [
    QueueLag("orders", "broker-a", queue_id, 1000, 1000 - lag, 0, NOON)
    for queue_id, lag in enumerate((600, 200, 150, 50, 0))
]
CLIENTS = [ClientConnection(name, "h:1", "JAVA", "V5_5_0") for name in ("c2", "c1")]
POLL = GroupPolled(NOON, "g", 4.0, CLIENT_LAGS, CLIENTS, "CONSUME_PASSIVELY", "CLUSTERING")


def test_each_client_has_the_queues_of_the_default_strategy_and_their_lag() -> None:
    shares = {row.client.client_id: row[1:] for row in list_client_rows(POLL)}
    assert shares == {"c1": (3, 950, 0.95), "c2": (2, 50, 0.05)}


def test_clients_that_do_not_divide_the_queues_have_no_share() -> None:
    for changed in (
        {"message_model": "BROADCASTING"},
        {"consume_type": "CONSUME_POP"},
        {"unreported": {"b": "?"}},
    ):
        assert {row[1:] for row in list_client_rows(replace(POLL, **changed))} == {(None, None, None)}


def test_a_group_without_a_lag_has_no_part_of_it() -> None:
    [share, _] = [row[1:] for row in list_client_rows(replace(POLL, lags=CLIENT_LAGS[4:]))]
    assert share == (0, 0, None)


def test_the_view() -> None:
    view, model = GroupClientsView("g"), ClusterModel()
    assert view.build_rows(model) == []
    model.apply_poll(POLL)
    second, first = view.build_rows(model)
    assert [column.render_cell(first).text for column in view.columns] == [
        "c1", "h:1", "3", "950", "████▊  95%", "JAVA", "V5_5_0", "–", "",
    ]  # fmt: skip
    assert (view.row_key(second), view.subject_of_row(second).group) == ("c2 h:1", "g")
    model.apply_poll(replace(POLL, members=(), unreported={"10.0.1.1:10911": "closed"}))
    assert view.empty_message(model) == "unknown: 10.0.1.1:10911 returned no connections (closed)"


def test_clients_behind_proxies_have_a_proxy_and_no_queues_of_their_own() -> None:
    view, model = GroupClientsView("g"), ClusterModel()
    proxied = ClientConnection("c3", "h:2", "JAVA", "5.2.0", "gRPC", "p1:8080, p2:8080")
    model.apply_poll(replace(POLL, members=[*CLIENTS, proxied]))
    row = view.build_rows(model)[-1]
    assert row[1:] == (None, None, None)
    assert [column.render_cell(row).text for column in view.columns][-2:] == ["gRPC", "p1:8080, p2:8080"]
