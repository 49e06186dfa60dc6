"""The links between views: the tabs of the same object, and the view that a row's target opens. Pure.

Rule: the functions import the views themselves, so that the first screen appears sooner.
"""

from collections.abc import Callable, Mapping, Sequence

from nsadmin.tui.views import base_view
from nsadmin.tui.views.base_view import TabSet, View, ViewTarget


def _list_broker_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.views.brokers import broker_detail

    assert isinstance(view, broker_detail.BrokerDetailView)
    tab_classes: list[type[broker_detail.BrokerDetailView]] = [
        broker_detail.BrokerSummaryView,
        broker_detail.BrokerFiguresView,
        broker_detail.BrokerConfigView,
        broker_detail.BrokerTopicsView,
        broker_detail.BrokerProducersView,
        broker_detail.ReplicaDifferencesView,
        broker_detail.BrokerHistoryView,
    ]
    return [tab_class(*view.key, view.cluster_name) for tab_class in tab_classes]


def _list_topic_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.messages.message_table import TopicMessagesView
    from nsadmin.tui.views.topics import topic_detail

    assert isinstance(view, topic_detail.TopicDetailView | TopicMessagesView)
    return [
        topic_detail.TopicRouteView(view.topic),
        topic_detail.TopicReadersView(view.topic),
        topic_detail.TopicDiagramView(view.topic),
        topic_detail.TopicProducersView(view.topic),
        topic_detail.TopicHistoryView(view.topic),
        TopicMessagesView(view.topic),
    ]


def _list_group_tabs(view: View) -> Sequence[View]:
    from nsadmin.tui.messages.message_table import GroupLettersView
    from nsadmin.tui.views.groups import group_detail

    assert isinstance(view, group_detail.GroupDetailView | GroupLettersView)
    return [
        group_detail.GroupQueuesView(view.group),
        group_detail.GroupClientsView(view.group),
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


def list_tabs(view: View) -> Sequence[View]:
    """All tabs of the object of a view, including this view, or nothing if the view has no tabs."""
    return () if view.tab_set is None else TAB_SETS[view.tab_set](view)


def open_target(target: ViewTarget) -> View:
    """Create the view that Enter opens for a target."""
    match target:
        case base_view.BrokerProcessTarget():
            from nsadmin.tui.views.brokers.broker_detail import BrokerSummaryView

            return BrokerSummaryView(*target)
        case base_view.TopicTarget():
            from nsadmin.tui.views.topics.topic_detail import TopicRouteView

            return TopicRouteView(*target)
        case base_view.GroupTarget():
            from nsadmin.tui.views.groups.group_detail import GroupQueuesView

            return GroupQueuesView(*target)
        case base_view.NameServerTarget():
            from nsadmin.tui.views.servers import NameServerSettingsView

            return NameServerSettingsView(*target)
        case base_view.DifferenceTarget():
            from nsadmin.tui.views.divergence import DifferenceSidesView

            return DifferenceSidesView(*target)
        case base_view.FindingTarget():
            from nsadmin.tui.views.divergence import DivergenceAdviceView

            return DivergenceAdviceView(*target)
        case base_view.ObjectEventsTarget():
            from nsadmin.tui.views.events import ObjectEventsView

            return ObjectEventsView(*target)
        case base_view.StormTarget():
            from nsadmin.tui.views.events import StormEventsView

            return StormEventsView(*target)
        case base_view.DrainTarget():
            from nsadmin.tui.views.drains import DrainLogView

            return DrainLogView(*target)
        case base_view.RebalanceTarget():
            from nsadmin.tui.views.drains import RebalanceView

            return RebalanceView(*target)
        case base_view.MessagesTarget():
            from nsadmin.tui.messages.message_query import query_topic
            from nsadmin.tui.messages.message_table import MessagesView

            return MessagesView(query_topic(*target))
