"""Who could send to a topic."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import list_tabs
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    ClientConnection,
    ConnectionsPolled,
    QueueCounts,
    TopicPolled,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from nsadmin.tui.views.topics.topic_producers import TopicProducersView
from tests.support.screens import NOON, make_server_poll

A, B, SLAVE = "10.0.1.1:10911", "10.0.2.1:10911", "10.0.1.2:10911"
ONE, TWO = (
    ClientConnection("client-1", "10.9.0.1:5000", "JAVA", "V5_5_0"),
    ClientConnection("client-2", "", "GO", ""),
)


def model_of(*connections: ConnectionsPolled) -> ClusterModel:
    model = ClusterModel()
    queues = QueueCounts(8, 8, 6)
    routes = {"10.0.0.1:9876": {"broker-a": queues, "broker-b": queues}}
    polls: list[AnyPoll] = [
        make_server_poll(groups={"broker-a": {0: A, 1: SLAVE}, "broker-b": {0: B}}),
        TopicPolled(NOON, "orders", routes),
        *connections,
    ]
    for poll in polls:
        model.apply_poll(poll)
    return model


def test_the_masters_of_a_topic_are_asked_and_their_answers_are_one() -> None:
    view = TopicProducersView("orders")
    model = model_of(
        ConnectionsPolled(NOON, A, {"web": [ONE], "batch": [TWO]}),
        ConnectionsPolled(NOON, B, {"web": [ONE]}),
    )
    assert view.list_queries(model, (), None) == [
        DetailQuery("topic", "orders"), DetailQuery("connections", A), DetailQuery("connections", B),
    ]  # fmt: skip
    rows = view.build_rows(model)
    assert [[column.render_cell(row).text for column in view.columns] for row in rows] == [
        ["batch", "client-2", "1", "", "GO", ""],
        ["web", "client-1", "2", "10.9.0.1:5000", "JAVA", "V5_5_0"],
    ]
    assert [view.row_key(row) for row in rows] == ["batch client-2", "web client-1"]


def test_a_master_that_does_not_tell_is_named() -> None:
    view = TopicProducersView("orders")
    model = model_of(ConnectionsPolled(NOON, A, None, "no permission"))
    assert view.build_rows(model) == []
    assert "".join(cell.text for cell in view.render_headline(model)).endswith("no answer from broker-a")
    assert view.build_rows(ClusterModel()) == []


def test_it_is_a_tab_of_a_topic() -> None:
    assert list_tabs(TopicRouteView("orders"))[3] == TopicProducersView("orders")
