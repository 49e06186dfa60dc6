"""Figures that no server should report: every screen shows the rest."""

import re
from collections.abc import Iterator

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.root_views import SCREEN_NAMES, make_view
from nsadmin.tui.polling.poll_records import (
    BrokerPolled,
    DrainRecord,
    DrainsPolled,
    GroupPolled,
    GroupsPolled,
    NameServerPolled,
    QueueCounts,
    QueueLag,
    TopicPolled,
    TopicRatesPolled,
)
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_detail import BrokerFiguresView
from nsadmin.tui.views.groups.group_detail import GroupLagView, GroupQueuesView
from nsadmin.tui.views.table import RowFilter, arrange_rows
from nsadmin.tui.views.topics.topic_detail import TopicDiagramView, TopicRouteView
from tests.support.screens import NOON, TABLE, make_broker_poll, make_model, make_server_poll

MASTER, SLAVE = "10.0.1.1:10911", "10.0.1.2:10911"
TEXTS = ("NaN", "Infinity", "-Infinity", "1.7e308", "9" * 401, "-1", "x", "")
NO_NUMBER = re.compile(r"\b(nan|inf)\b")
NUMBERS = (float("nan"), float("inf"), float("-inf"), 1.7e308, 0.0, -1.0)


def list_views() -> Iterator[View]:
    yield from map(make_view, SCREEN_NAMES)
    yield BrokerFiguresView("broker-a", 0, MASTER, "cluster-a")
    yield from (GroupLagView("g"), GroupQueuesView("g"), TopicDiagramView("orders"), TopicRouteView("orders"))


def draw_everything(model: ClusterModel) -> str:
    """All texts of all views, with each order of their rows."""
    texts = []
    for view in list_views():
        rows = view.build_rows(model)
        view.rank_problems(model, rows)
        for column in view.columns:
            arrange_rows(rows, view.filter_text, RowFilter(), column, True)
        lines = [[column.render_cell(row) for column in view.columns] for row in rows]
        lines += [line for row in rows for line in map(list, view.draw_details(model, row, 80, 60))]
        lines += map(list, (*view.draw_lines(model, 100, 30), view.render_headline(model)))
        texts += [cell.text for line in lines for cell in line]
    return "\n".join(texts)


def make_hostile_model(*polls: NameServerPolled | BrokerPolled) -> ClusterModel:
    model = make_model(make_server_poll(groups={"broker-a": {0: MASTER, 1: SLAVE}}))
    for at in (NOON, NOON + 6_000, NOON + 12_000):
        for addr in (MASTER, SLAVE):
            model.apply_poll(make_broker_poll(addr, at))
    for poll in polls:
        model.apply_poll(poll)
    return model


@pytest.mark.parametrize("text", TEXTS)
def test_a_broker_reports_no_number(text: str) -> None:
    figures = dict.fromkeys([*TABLE, "earliestMessageTimeStamp", "pageCacheLockTimeMills"], text)
    polls = [
        BrokerPolled(NOON + seconds * 1000, addr, 1.0, figures)
        for seconds in (20, 30, 40)
        for addr in (MASTER, SLAVE)
    ]
    assert not NO_NUMBER.search(draw_everything(make_hostile_model(*polls)))


@pytest.mark.parametrize("number", NUMBERS)
def test_rates_and_offsets_are_no_numbers(number: float) -> None:
    model = make_hostile_model()
    huge = 10**400
    for at in (NOON, NOON + 6_000):
        model.apply_poll(GroupsPolled(at, ["g"]))
        lags = [
            QueueLag("orders", "broker-a", 0, huge, -huge, huge, 10**30),
            QueueLag("t", "b", 1, 5, 1, 0, -1),
        ]
        model.apply_poll(GroupPolled(at, "g", number, lags))
        queues = QueueCounts(2**31 - 1, 2**31 - 1, 6)
        routes = {"10.0.0.1:9876": {"broker-a": queues}}
        model.apply_poll(TopicPolled(at, "orders", routes, put_tps={"broker-a": number}))
        model.apply_poll(TopicRatesPolled(at, {"payments": number}))
    drain = DrainRecord("c", "b", "wait", huge, "me", 0, True, 0, -huge, "", huge)
    model.apply_poll(DrainsPolled(NOON, [drain]))
    assert not NO_NUMBER.search(draw_everything(model))
