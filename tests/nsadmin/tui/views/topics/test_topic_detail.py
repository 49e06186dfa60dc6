"""One topic: its route on each name server, its readers, and the way to it."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    ClientConnection,
    ConnectionsPolled,
    GroupPolled,
    NameServerPolled,
    QueueCounts,
    QueueLag,
    TopicPolled,
)
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.topics.topic_detail import (
    TopicDiagramView,
    TopicHistoryView,
    TopicProducersView,
    TopicReadersView,
    TopicRouteView,
)
from tests.support.screens import NOON, join_cells, join_lines, make_broker_poll, make_model, make_server_poll

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"
A = "10.0.1.1:10911"
ROUTE = {"broker-a": QueueCounts(8, 8, 6)}
POLL = TopicPolled(
    NOON, "orders", {ONE: ROUTE, TWO: {"broker-a": QueueCounts(8, 8, 4)}}, {"10.0.0.3:9876": "closed"}, ["g",
    "h"],
    {"broker-a": 12.0},
)  # fmt: skip


def model_of(*polls: AnyPoll) -> ClusterModel:
    return make_model(make_server_poll(ONE), make_server_poll(TWO), make_broker_poll(A), *polls)


def test_a_route_says_what_each_name_server_has_where_they_differ() -> None:
    view = TopicRouteView("orders")
    [side] = view.build_rows(model_of(POLL))
    assert [column.render_cell(side).text for column in view.columns] == [
        "broker-a", "rw-", "8", "8", "12", "there", f"≠ {ONE} rw- 8/8  {TWO} r-- 8/8"
    ]  # fmt: skip
    assert view.row_key(side) == "broker-a"
    assert view.filter_text(side) == "broker-a"
    assert view.subject_of_row(side)[0] == "broker-a"
    line = join_cells(view.render_headline(model_of(POLL)))
    assert line == "on 2 of 3 name servers  silent: 10.0.0.3:9876  in 12/s"


def test_a_topic_that_one_name_server_does_not_know() -> None:
    model = model_of(TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: None}))
    assert f"not on {TWO}" in join_cells(TopicRouteView("orders").render_headline(model))
    [side] = TopicRouteView("orders").build_rows(model)
    assert TopicRouteView("orders").columns[-1].render_cell(side).text == f"≠ {ONE} rw- 8/8  {TWO} absent"


def test_before_anything_was_told() -> None:
    model = ClusterModel()
    for view in (TopicRouteView("orders"), TopicHistoryView("orders")):
        assert view.build_rows(model) == []
        assert view.list_queries(model, []) == [DetailQuery("topic", "orders")]
    assert TopicRouteView("orders").render_headline(model)[0].text == "the route is loading"
    assert join_lines(TopicDiagramView("orders").draw_lines(model, 80, 24)) == " the route is loading"


def test_what_no_name_server_tells_is_unknown_and_what_was_told_is_not_equal_any_more() -> None:
    dead = [NameServerPolled(NOON, addr, error="closed") for addr in (ONE, TWO)]
    silent = TopicPolled(NOON, "orders", {}, {ONE: "closed", TWO: "closed"})
    view = TopicRouteView("orders")
    never = model_of(*dead, silent)
    assert view.render_headline(never)[0].text == "the route is unknown"
    assert view.empty_message(never) == "unknown: no name server returned the route"
    assert TopicRouteView("orders").empty_message(model_of(*dead)) == "unknown: no name server answers"
    assert view.empty_message(model_of()) == "the topic is loading"
    history = TopicHistoryView("orders")
    assert (history.find_silence(never), history.empty_message(never)) == (None, history.empty_text)
    poll = TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: ROUTE})
    [side] = view.build_rows(model_of(poll))
    assert view.columns[-1].render_cell(side).text == "equal"
    [side] = view.build_rows(model_of(poll, *dead, silent))
    assert [view.columns[at].render_cell(side).text for at in (1, 2, -1)] == ["rw-", "8", "–"]
    [side] = view.build_rows(model_of(TopicPolled(NOON, "orders", {ONE: ROUTE}, {TWO: "closed"})))
    assert view.columns[-1].render_cell(side).text == "–"


def test_a_rate_of_which_no_master_tells_is_no_zero() -> None:
    model = model_of(TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: ROUTE}, put_tps={}))
    assert TopicRouteView("orders").render_headline(model)[-1].text == "–/s"


def test_the_way_from_name_servers_over_brokers_to_readers_is_drawn() -> None:
    assert (
        join_lines(TopicDiagramView("orders").draw_lines(model_of(POLL), 80, 40))
        == """
  orders  is on the name servers
   ├─ ● 10.0.0.1:9876  1 broker, 8 queues
   ├─ ● 10.0.0.2:9876  1 broker, 8 queues
   └─ ✕ 10.0.0.3:9876  closed

  has queues on
   └─ broker-a             rw- 8/8      12/s  ≠ name servers differ
      └─ ● master   10.0.1.1:10911        up

  is consumed by
   ├─ g
   └─ h"""
    )
    assert len(TopicDiagramView("orders").draw_lines(model_of(POLL), 80, 4)) == 4


def test_its_history() -> None:
    view = TopicHistoryView("orders")
    model = model_of(make_server_poll(ONE, topics=()))
    assert [notice.event_kind for notice in view.build_rows(model)] == ["TopicsChanged"]
    assert view.columns[0].key == "time"


B, SLAVE = "10.0.2.1:10911", "10.0.1.2:10911"
FIRST, SECOND = (
    ClientConnection("client-1", "10.9.0.1:5000", "JAVA", "V5_5_0"),
    ClientConnection("client-2", "", "GO", ""),
)


def producer_model(*clients: ConnectionsPolled) -> ClusterModel:
    model = ClusterModel()
    queues = QueueCounts(8, 8, 6)
    routes = {"10.0.0.1:9876": {"broker-a": queues, "broker-b": queues}}
    polls: list[AnyPoll] = [
        make_server_poll(groups={"broker-a": {0: A, 1: SLAVE}, "broker-b": {0: B}}),
        TopicPolled(NOON, "orders", routes),
        *clients,
    ]
    for poll in polls:
        model.apply_poll(poll)
    return model


def test_the_masters_of_a_topic_are_asked_and_their_answers_are_one() -> None:
    view = TopicProducersView("orders")
    model = producer_model(
        ConnectionsPolled(NOON, A, {"web": [FIRST], "batch": [SECOND]}),
        ConnectionsPolled(NOON, B, {"web": [FIRST]}),
    )
    assert view.list_queries(model, []) == [
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
    model = producer_model(ConnectionsPolled(NOON, A, None, "no permission"))
    assert view.build_rows(model) == []
    assert join_cells(view.render_headline(model)).endswith("no answer from broker-a")
    assert view.build_rows(ClusterModel()) == []


def test_it_is_a_tab_of_a_topic() -> None:
    assert TopicRouteView("orders").list_tabs()[3] == TopicProducersView("orders")


LAGS = [
    QueueLag("orders", "broker-a", 0, 20_500, 500, 0, NOON - 60_000),
    QueueLag("payments", "broker-a", 0, 9, 2, 0, NOON - 90_000),
]


def model() -> ClusterModel:
    return make_model(TopicPolled(NOON, "orders", groups=["g", "h"]))


def texts(found: ClusterModel) -> list[list[str]]:
    view = TopicReadersView("orders")
    return [[column.render_cell(row).text for column in view.columns] for row in view.build_rows(found)]


def test_the_lag_of_this_topic_and_of_all_and_what_was_not_read_yet() -> None:
    known = model()
    known.apply_poll(GroupPolled(NOON, "g", 4.0, LAGS, [ClientConnection("c", "h:1", "GO", "V5")]))
    assert texts(known) == [["g", "1", "20.0k", "1 min", "20.0k"], ["h", "–", "–", "–", "–"]]


def test_a_lag_without_clients_is_bad() -> None:
    known, view = model(), TopicReadersView("orders")
    known.apply_poll(GroupPolled(NOON, "g", 4.0, LAGS))
    first, second = view.build_rows(known)
    assert (view.is_problem(first), view.is_problem(second)) == (True, False)


def test_its_readers_lead_to_their_queues() -> None:
    view = TopicReadersView("orders")
    row, _ = view.build_rows(model())
    assert (view.open_row(row), view.subject_of_row(row).group) == (GroupQueuesView("g"), "g")
    found = [tab.name for tab in view.list_tabs()]
    assert found == ["route", "groups", "drawn", "producers", "history", "messages"]
    assert view.list_queries(model(), []) == [DetailQuery("topic", "orders"), DetailQuery("groups")]
    assert view.build_rows(ClusterModel()) == []
