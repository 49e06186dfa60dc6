"""What a view is by itself."""

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import list_tabs
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_table import BrokersView
from nsadmin.tui.views.events import ObjectEventsView


def test_a_view_shows_nothing_by_itself_and_leads_nowhere() -> None:
    view, model = View(), ClusterModel()
    assert view.build_rows(model) == ()
    assert view.render_headline(model) == ()
    assert view.draw_lines(model, 80, 24) == []
    assert list_tabs(view) == ()
    assert view.open_row(None) is None
    assert view.subject_of_row(None) == RowSubject()
    assert view.list_queries(model, []) == []
    assert (view.row_key(7), view.title, view.filter_text(7)) == ("7", "", "")


def test_views_of_the_same_thing_are_equal() -> None:
    assert BrokersView() == BrokersView()
    assert hash(ObjectEventsView("a")) == hash(ObjectEventsView("a"))
    assert ObjectEventsView("a") != ObjectEventsView("b")
    assert View() != BrokersView()
