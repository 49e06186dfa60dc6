"""The tabs of each object, and what each target opens."""

from typing import get_args

import pytest

from nsadmin.tui.messages.message_query import query_topic
from nsadmin.tui.messages.message_table import MessagesView
from nsadmin.tui.navigation.view_links import TAB_SETS, list_tabs, open_target
from nsadmin.tui.views.base_view import (
    BrokerProcessTarget,
    DifferenceTarget,
    DrainTarget,
    FindingTarget,
    GroupTarget,
    MessagesTarget,
    NameServerTarget,
    ObjectEventsTarget,
    RebalanceTarget,
    StormTarget,
    TabSet,
    TopicTarget,
    View,
    ViewTarget,
)
from nsadmin.tui.views.brokers.broker_detail import BrokerHistoryView, BrokerSummaryView
from nsadmin.tui.views.divergence import DifferenceSidesView, DivergenceAdviceView, DivergenceMatrixView
from nsadmin.tui.views.drains import DrainLogView, RebalanceView
from nsadmin.tui.views.events import ObjectEventsView, StormEventsView
from nsadmin.tui.views.groups.group_detail import GroupLagView, GroupQueuesView
from nsadmin.tui.views.servers import NameServerSettingsView, ServersView
from nsadmin.tui.views.topics.topic_detail import TopicDiagramView, TopicRouteView

BROKER = ("broker-a", 0, "10.0.1.1:10911", "cluster-a")


TARGETS: list[tuple[ViewTarget, View]] = [
    (BrokerProcessTarget(*BROKER), BrokerSummaryView(*BROKER)),
    (TopicTarget("orders"), TopicRouteView("orders")),
    (GroupTarget("g"), GroupQueuesView("g")),
    (NameServerTarget("h:1"), NameServerSettingsView("h:1")),
    (DifferenceTarget("topics", "orders"), DifferenceSidesView("topics", "orders")),
    (FindingTarget("topic", "orders", "wiped"), DivergenceAdviceView("topic", "orders", "wiped")),
    (MessagesTarget("orders", "broker-a"), MessagesView(query_topic("orders", "broker-a"))),
    (ObjectEventsTarget("broker-a"), ObjectEventsView("broker-a")),
    (StormTarget("BrokerGone", 1, 2), StormEventsView("BrokerGone", 1, 2)),
    (DrainTarget("c", "broker-a"), DrainLogView("c", "broker-a")),
    (RebalanceTarget("c", "abc"), RebalanceView("c", "abc")),
]


def test_each_set_of_tabs_has_its_function_and_each_target_is_tested() -> None:
    assert set(get_args(TabSet)) == TAB_SETS.keys()
    assert set(get_args(ViewTarget)) == {type(target) for target, _ in TARGETS}


@pytest.mark.parametrize(
    "view",
    [BrokerHistoryView(*BROKER), TopicDiagramView("orders"), GroupLagView("g"), DivergenceMatrixView()],
)
def test_tabs_are_of_the_same_object_and_the_view_is_one_of_them(view: View) -> None:
    tabs = list_tabs(view)
    assert view in tabs
    assert {tab.title for tab in tabs} == {view.title}
    assert [list_tabs(tab) for tab in tabs] == [tabs] * len(tabs)


def test_a_list_has_no_tabs() -> None:
    assert list_tabs(ObjectEventsView("broker-a")) == ()
    assert list_tabs(DivergenceMatrixView())[0] == ServersView()


@pytest.mark.parametrize(("target", "view"), TARGETS)
def test_each_target_opens_its_view(target: ViewTarget, view: View) -> None:
    assert open_target(target) == view
