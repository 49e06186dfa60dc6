"""The links between views: the tabs of the same object, and the view that a row's target opens. Pure.

Rule: the functions import the views themselves, so that the first screen appears sooner.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


def _list_broker_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.views.brokers import broker_detail
    from nsadmin.tui.views.brokers.broker_detail import (
        BrokerConfigView,
        BrokerSummaryView,
        ReplicaDifferencesView,
    )

    assert isinstance(view, broker_detail.BrokerDetailView)
    broker_identity = (view.broker_name, view.broker_id, view.broker_addr, view.cluster_name)
    return [
        BrokerSummaryView(*broker_identity),
        broker_detail.BrokerFiguresView(*broker_identity),
        BrokerConfigView(*broker_identity),
        broker_detail.BrokerTopicsView(*broker_identity),
        broker_detail.BrokerProducersView(*broker_identity),
        ReplicaDifferencesView(*broker_identity),
        broker_detail.BrokerHistoryView(*broker_identity),
    ]


def _list_topic_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.messages.message_table import TopicMessagesView
    from nsadmin.tui.views.topics import topic_detail
    from nsadmin.tui.views.topics.topic_detail import TopicProducersView, TopicReadersView

    assert isinstance(view, topic_detail.TopicDetailView | TopicMessagesView)
    return [
        topic_detail.TopicRouteView(view.topic),
        TopicReadersView(view.topic),
        topic_detail.TopicDiagramView(view.topic),
        TopicProducersView(view.topic),
        topic_detail.TopicHistoryView(view.topic),
        TopicMessagesView(view.topic),
    ]


def _list_group_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.messages.message_table import GroupLettersView
    from nsadmin.tui.views.groups import group_detail
    from nsadmin.tui.views.groups.group_detail import GroupClientsView

    assert isinstance(view, group_detail.GroupDetailView | GroupLettersView)
    return [
        group_detail.GroupQueuesView(view.group),
        GroupClientsView(view.group),
        group_detail.GroupLagView(view.group),
        GroupLettersView(view.group),
    ]


def _list_server_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.views.divergence import DifferencesView, DivergenceCausesView, DivergenceMatrixView
    from nsadmin.tui.views.servers import ServersView

    return [ServersView(), DivergenceMatrixView(), DifferencesView(), DivergenceCausesView()]


TAB_SETS: Mapping[TabSet, Callable[[View], Sequence[View]]] = {
    "broker": _list_broker_tabs,
    "topic": _list_topic_tabs,
    "group": _list_group_tabs,
    "servers": _list_server_tabs,
}
"""The functions that create the tabs of a view, by its `tab_set`."""


def list_tabs(view: View) -> Sequence[View]:
    """All tabs of the object of a view, including this view, or nothing if the view has no tabs."""
    return () if view.tab_set is None else TAB_SETS[view.tab_set](view)


def _open_broker(target: BrokerProcessTarget) -> View:
    from nsadmin.tui.views.brokers.broker_detail import BrokerSummaryView

    return BrokerSummaryView(*target)


def _open_topic(target: TopicTarget) -> View:
    from nsadmin.tui.views.topics.topic_detail import TopicRouteView

    return TopicRouteView(target.topic)


def _open_group(target: GroupTarget) -> View:
    from nsadmin.tui.views.groups.group_detail import GroupQueuesView

    return GroupQueuesView(target.group)


def _open_name_server(target: NameServerTarget) -> View:
    from nsadmin.tui.views.servers import NameServerSettingsView

    return NameServerSettingsView(target.addr)


def _open_difference(target: DifferenceTarget) -> View:
    from nsadmin.tui.views.divergence import DifferenceSidesView

    return DifferenceSidesView(*target)


def _open_finding(target: FindingTarget) -> View:
    from nsadmin.tui.views.divergence import DivergenceAdviceView

    return DivergenceAdviceView(*target)


def _open_object_events(target: ObjectEventsTarget) -> View:
    from nsadmin.tui.views.events import ObjectEventsView

    return ObjectEventsView(target.object_name)


def _open_storm(target: StormTarget) -> View:
    from nsadmin.tui.views.events import StormEventsView

    return StormEventsView(*target)


def _open_drain(target: DrainTarget) -> View:
    from nsadmin.tui.views.drains import DrainLogView

    return DrainLogView(*target)


def _open_rebalance(target: RebalanceTarget) -> View:
    from nsadmin.tui.views.drains import RebalanceView

    return RebalanceView(*target)


def _open_messages(target: MessagesTarget) -> View:
    from nsadmin.tui.messages.message_query import query_topic
    from nsadmin.tui.messages.message_table import MessagesView

    return MessagesView(query_topic(target.topic, target.broker_name))


TARGET_VIEWS: Mapping[type[ViewTarget], Callable[[Any], View]] = {
    BrokerProcessTarget: _open_broker,
    TopicTarget: _open_topic,
    GroupTarget: _open_group,
    NameServerTarget: _open_name_server,
    DifferenceTarget: _open_difference,
    FindingTarget: _open_finding,
    ObjectEventsTarget: _open_object_events,
    StormTarget: _open_storm,
    DrainTarget: _open_drain,
    RebalanceTarget: _open_rebalance,
    MessagesTarget: _open_messages,
}
"""The functions that create the view of a target, by the class of the target."""


def open_target(target: ViewTarget) -> View:
    """Create the view that Enter opens for a target."""
    return TARGET_VIEWS[type(target)](target)
