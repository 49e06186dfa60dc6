"""One broker: its tabs."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import list_tabs, open_target
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerTopicsPolled,
    ClientConnection,
    ConfigPolled,
    ConnectionsPolled,
    QueueCounts,
)
from nsadmin.tui.views.brokers.broker_config import BrokerConfigView
from nsadmin.tui.views.brokers.broker_detail import (
    BrokerFiguresView,
    BrokerHistoryView,
    BrokerProducersView,
    BrokerTopicsView,
    QueriedBrokerView,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import NOON, make_broker_poll, make_server_poll, make_silent_broker

A, B, C = (f"10.0.1.{number}:10911" for number in (1, 2, 3))
PLACE = ("broker-a", 0, A, "cluster-a")


def model_of(*polls: AnyPoll) -> ClusterModel:
    model = ClusterModel()
    model.apply_poll(make_server_poll(groups={"broker-a": {0: A, 1: C}, "broker-b": {0: B}}))
    for poll in (make_broker_poll(A), make_broker_poll(B), make_broker_poll(C), *polls):
        model.apply_poll(poll)
    return model


def test_a_broker_has_seven_tabs_about_the_same() -> None:
    tabs = list_tabs(BrokerFiguresView(*PLACE))
    assert [tab.view_name for tab in tabs] == [
        "summary", "figures", "config", "topics", "producers", "replicas", "history"
    ]  # fmt: skip
    assert {tab.view_title for tab in tabs} == {"broker-a master"}
    assert BrokerFiguresView("broker-a", 2, C, "cluster-a").view_title == "broker-a slave 2"


def test_figures_stay_while_it_is_silent_and_say_how_old_they_are() -> None:
    model = model_of(make_silent_broker(A, NOON + 1_000), make_silent_broker(A, NOON + 4_000))
    model.now_ms = NOON + 61_000
    view = BrokerFiguresView(*PLACE)
    line = "".join(cell.text for cell in view.render_headline(model))
    assert (
        line
        == f"● up  cluster-a  {A}".replace("● up", "◐ frozen")
        + "  no answer within 1 s  these figures are 1 min old"
    )
    assert "putTps" in [figure.figure_key for figure in view.build_rows(model)]
    assert view.row_key(view.build_rows(model)[0])


def test_a_broker_that_is_not_known_any_more() -> None:
    view = BrokerFiguresView("nobody", 0, "h:1", "c")
    assert view.build_rows(ClusterModel()) == []
    assert view.render_headline(ClusterModel())[0].text == "no name server lists h:1 any more"


@pytest.mark.parametrize(
    ("kind", "what", "failed", "told", "empty"),
    [
        (
            BrokerConfigView,
            "settings",
            ConfigPolled(NOON, A, None, "closed"),
            ConfigPolled(NOON, A, {}),
            "the broker returned no settings",
        ),
        (
            BrokerTopicsView,
            "topics",
            BrokerTopicsPolled(NOON, A, None, "closed"),
            BrokerTopicsPolled(NOON, A, {}),
            "the broker has no topics",
        ),
        (
            BrokerProducersView,
            "producers",
            ConnectionsPolled(NOON, A, None, "closed"),
            ConnectionsPolled(NOON, A, {}),
            "no producer is connected",
        ),
    ],
)
def test_a_tab_says_why_it_is_empty(
    kind: type[QueriedBrokerView], what: str, failed: AnyPoll, told: AnyPoll, empty: str
) -> None:
    view = kind(*PLACE)
    assert view.empty_message(model_of()) == f"the {what} are loading"
    assert view.empty_message(ClusterModel(is_replay=True)) == f"the {what} are not in the recording"
    assert view.empty_message(model_of(failed)) == "unknown: closed"
    assert view.empty_message(model_of(told)) == empty


def test_its_topics_lead_to_their_routes() -> None:
    view = BrokerTopicsView(*PLACE)
    model = model_of(BrokerTopicsPolled(NOON, A, {"orders": QueueCounts(8, 4, 6)}))
    [topic] = view.build_rows(model)
    assert [column.render_cell(topic).text for column in view.columns] == ["orders", "rw-", "4", "8"]
    assert open_target(view.open_row(topic)) == TopicRouteView("orders")
    assert (view.subject_of_row(topic).topic, view.subject_of_row(topic).broker_name) == (
        "orders",
        "broker-a",
    )
    assert view.list_queries(model, [], None) == [DetailQuery("brokerTopics", A)]
    assert BrokerTopicsView("b", 0, "h:1", "c").build_rows(model) == []


def test_its_producers() -> None:
    view = BrokerProducersView(*PLACE)
    model = model_of(ConnectionsPolled(NOON, A, {"g": [ClientConnection("id@1", "h:1", "JAVA", "V5_5_0")]}))
    [producer_row] = view.build_rows(model)
    assert [column.render_cell(producer_row).text for column in view.columns] == [
        "g",
        "id@1",
        "h:1",
        "JAVA",
        "V5_5_0",
    ]
    assert (view.row_key(producer_row), view.list_queries(model, [], None)) == (
        "g id@1 h:1",
        [DetailQuery("connections", A)],
    )


def test_its_history() -> None:
    view = BrokerHistoryView(*PLACE)
    model = model_of(
        make_silent_broker(A, NOON + 1), make_broker_poll(A, NOON + 2), make_silent_broker(B, NOON + 3)
    )
    assert [notice.event_kind for notice in view.build_rows(model)] == ["BrokerAnswers", "BrokerSilent"]
    assert [column.key for column in view.columns][:2] == ["time", "kind"]
