"""The list of topics: what is known beside a name, and for how many of them it is asked."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    NameServerPolled,
    QueueCounts,
    TopicPolled,
    TopicRatesPolled,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from nsadmin.tui.views.topics.topic_table import TOPIC_COLUMNS, TopicsView, kind_of_topic
from tests.support.screens import NOON, join_cells, make_model, make_server_poll

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"


def model_of(*polls: AnyPoll) -> ClusterModel:
    return make_model(
        make_server_poll(ONE, topics=("orders", "%RETRY%g", "TBW102")),
        make_server_poll(TWO, topics=("orders",)),
        *polls,
    )


def texts(model: ClusterModel, name: str) -> dict[str, str]:
    [row] = [row for row in TopicsView().build_rows(model) if row.topic == name]
    return {column.key: column.render_cell(row).text for column in TOPIC_COLUMNS}


def test_a_name_alone_is_no_zero() -> None:
    assert texts(model_of(), "%RETRY%g") == {
        "topic": "%RETRY%g", "kind": "retry", "known": "1/2", "brokers": "–", "queues": "–", "perm": "–",
        "same": "", "rate": "–",
    }  # fmt: skip


def test_a_route_that_all_tell_alike_and_one_that_they_do_not() -> None:
    route = {"broker-a": QueueCounts(8, 8, 6), "broker-b": QueueCounts(8, 4, 4)}
    equal = model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: route}, put_tps={"broker-a": 1.5}))
    assert texts(equal, "orders") == {
        "topic": "orders", "kind": "", "known": "2/2", "brokers": "2", "queues": "12", "perm": "r--/rw-",
        "same": "equal", "rate": "1.5",
    }  # fmt: skip
    assert texts(model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: None})), "orders")["same"] == "≠"
    assert texts(model_of(TopicPolled(NOON, "orders", {ONE: None, TWO: None})), "orders")["perm"] == "none"


def test_an_order_by_rate_needs_the_rates_of_all_topics_and_the_headline_counts_them() -> None:
    assert TopicsView().list_sort_queries("rate") == [DetailQuery("topicRates")]
    assert TopicsView().list_sort_queries("topic") == []
    model = model_of(make_server_poll(ONE, topics=("orders", "payments")))
    assert "rates" not in join_cells(TopicsView().render_headline(model))
    model.apply_poll(TopicRatesPolled(NOON, {"orders": 2.5}))
    assert texts(model, "orders")["rate"] == "2.5"
    assert TopicsView().render_headline(model)[-1].text == "  rates of 1 of them"
    model.apply_poll(TopicRatesPolled(NOON, {"payments": 0.0}))
    assert TopicsView().render_headline(model)[-1].text == "  rates of all of them"


def test_what_no_name_server_tells_is_neither_none_nor_equal() -> None:
    route = {"broker-a": QueueCounts(8, 8, 6)}
    before = TopicPolled(NOON, "orders", {ONE: route, TWO: route}, put_tps={"broker-a": 1.5})
    never = TopicPolled(NOON, "%RETRY%g", {}, {ONE: "closed", TWO: "closed"})
    dead = [NameServerPolled(NOON, addr, error="closed") for addr in (ONE, TWO)]
    model = model_of(before, *dead, never, TopicPolled(NOON, "orders", {}, {ONE: "closed", TWO: "closed"}))
    assert texts(model, "orders") == {
        "topic": "orders", "kind": "", "known": "–", "brokers": "1", "queues": "8", "perm": "rw-",
        "same": "–", "rate": "1.5",
    }  # fmt: skip
    assert texts(model, "%RETRY%g") == {
        "topic": "%RETRY%g", "kind": "retry", "known": "–", "brokers": "–", "queues": "–", "perm": "–",
        "same": "–", "rate": "–",
    }  # fmt: skip
    view = TopicsView()
    assert view.find_silence(model) == Silence("no name server answers", NOON)
    nobody = ClusterModel([ONE])
    nobody.apply_poll(NameServerPolled(NOON, ONE, error="closed"))
    assert view.render_headline(nobody)[0].text == "– topics"
    assert view.empty_message(nobody) == "unknown: no name server answers"


def test_one_name_server_alone_is_equal_to_nobody() -> None:
    route = {"broker-a": QueueCounts(8, 8, 6)}
    model = model_of(TopicPolled(NOON, "orders", {ONE: route}, {TWO: "closed"}, put_tps={}))
    assert (texts(model, "orders")["same"], texts(model, "orders")["rate"]) == ("–", "–")


def test_kinds_are_told_by_the_name() -> None:
    names = ("%DLQ%g", "%RETRY%g", "TBW102", "rmq_sys_wheel_timer", "orders")
    assert [kind_of_topic(name) for name in names] == ["dead letters", "retry", "system", "system", ""]


def test_only_what_is_to_be_seen_is_asked_and_the_row_of_the_cursor_first() -> None:
    model = make_model(make_server_poll(topics=tuple(f"t{number:05}" for number in range(20_000))))
    view = TopicsView()
    rows = view.build_rows(model)
    asked = view.list_queries(model, [rows[50], *rows[:100]])
    assert len(asked) == 60
    assert asked[0] == DetailQuery("topicRow", "t00050")
    assert asked[1] == DetailQuery("topicRow", "t00000")
    assert view.list_queries(model, []) == []
    row = rows[0]
    assert view.open_row(row) == TopicRouteView("t00000")
    assert view.row_key(row) == "t00000"
    assert view.subject_of_row(row).topic == "t00000"
    assert view.filter_text(row) == "t00000 "


def test_the_line_above_counts_those_of_applications() -> None:
    line = join_cells(TopicsView().render_headline(model_of()))
    assert line == "3 topics  1 application topic"


def test_a_frozen_name_server_makes_listings_and_routes_unknown() -> None:
    route = {"broker-a": QueueCounts(4, 4, 6)}
    model = model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: route}))
    assert (texts(model, "orders")["known"], texts(model, "orders")["same"]) == ("2/2", "equal")
    model.apply_poll(NameServerPolled(NOON + 1000, TWO, error="no answer within 5 s"))
    assert (texts(model, "orders")["known"], texts(model, "orders")["same"]) == ("1/2?", "–")
    [route_row] = TopicRouteView("orders").build_rows(model)
    assert not route_row.are_equal


def test_routes_are_not_equal_while_a_name_server_did_not_return_one() -> None:
    route = {"broker-a": QueueCounts(4, 4, 6)}
    model = model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: route}, {"10.0.0.3:9876": "no answer"}))
    assert texts(model, "orders")["same"] == "–"
