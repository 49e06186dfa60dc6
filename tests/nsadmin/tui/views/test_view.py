"""What a view is by itself."""

from nsadmin.tui.model import Model
from nsadmin.tui.views.brokers import Brokers
from nsadmin.tui.views.view import About, View


def test_a_view_shows_nothing_by_itself_and_leads_nowhere() -> None:
    view, model = View(), Model()
    assert (view.items(model), view.headline(model), view.draw(model, 80, 24), view.tabs()) == (
        (),
        (),
        [],
        (),
    )
    assert (view.enter(None), view.about(None), view.questions(model, (), None)) == (None, About(), [])
    assert (view.key(7), view.title, view.text(7)) == ("7", "", "")


def test_views_of_the_same_thing_are_equal() -> None:
    assert Brokers() == Brokers()
    assert hash(Brokers("a")) == hash(Brokers("a"))
    assert Brokers("a") != Brokers("b")
    assert View() != Brokers()
