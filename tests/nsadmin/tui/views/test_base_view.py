"""What a view is by itself."""

import pytest

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_detail import BrokerHistoryView
from nsadmin.tui.views.brokers.broker_table import BrokersView
from nsadmin.tui.views.events import ObjectEventsView
from nsadmin.tui.views.groups.group_detail import GroupLagView
from nsadmin.tui.views.servers import DivergenceMatrixView, ServersView
from nsadmin.tui.views.topics.topic_detail import TopicDiagramView


def test_a_view_shows_nothing_by_itself_and_leads_nowhere() -> None:
    view, model = View(), ClusterModel()
    assert view.build_rows(model) == ()
    assert view.render_headline(model) == ()
    assert view.draw_lines(model, 80, 24) == []
    assert view.list_tabs() == ()
    assert view.open_row(None) is None
    assert view.subject_of_row(None) == RowSubject()
    assert view.list_queries(model, []) == []
    assert (view.row_key(7), view.title, view.filter_text(7)) == ("7", "", "")


def test_views_of_the_same_thing_are_equal() -> None:
    assert BrokersView() == BrokersView()
    assert hash(ObjectEventsView("a")) == hash(ObjectEventsView("a"))
    assert ObjectEventsView("a") != ObjectEventsView("b")
    assert View() != BrokersView()


@pytest.mark.parametrize(
    "view",
    [
        BrokerHistoryView("broker-a", 0, "10.0.1.1:10911", "cluster-a"), TopicDiagramView("orders"),
        GroupLagView("g"), DivergenceMatrixView(),
    ],
)  # fmt: skip
def test_tabs_are_of_the_same_object_and_the_view_is_one_of_them(view: View) -> None:
    tabs = view.list_tabs()
    assert view in tabs
    assert {tab.title for tab in tabs} == {view.title}
    assert [tab.list_tabs() for tab in tabs] == [tabs] * len(tabs)


def test_a_list_has_no_tabs() -> None:
    assert ObjectEventsView("broker-a").list_tabs() == ()
    assert DivergenceMatrixView().list_tabs()[0] == ServersView()
