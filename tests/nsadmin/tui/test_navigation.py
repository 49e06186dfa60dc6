"""Where one is, where one came from."""

from nsadmin.tui.navigation import Navigation
from nsadmin.tui.views.brokers import Brokers
from nsadmin.tui.views.table import Filter, Sort
from nsadmin.tui.views.view import View


class Other(View):
    name = "other"


def test_enter_and_back_keep_row_filter_and_order() -> None:
    navigation = Navigation(Brokers())
    home = navigation.here
    home.row, home.filter, home.sort = "row", Filter("a"), Sort("in", True)
    navigation.enter(Other())
    assert (navigation.depth, navigation.path, navigation.here.row) == (2, ["Brokers", "other"], None)
    assert navigation.back()
    assert navigation.here is home
    assert not navigation.back()


def test_a_number_goes_to_a_screen_as_it_was_left() -> None:
    navigation = Navigation(Brokers())
    navigation.here.row = "row"
    navigation.go(Other())
    assert navigation.here.row is None
    navigation.go(Brokers())
    assert navigation.here.row == "row"
    navigation.enter(Other())
    navigation.go(Brokers())
    assert navigation.depth == 1


def test_the_view_before_and_back_again() -> None:
    navigation = Navigation(Brokers())
    assert not navigation.last()
    navigation.go(Brokers())
    assert not navigation.last()
    navigation.enter(Other())
    assert navigation.last()
    assert navigation.depth == 1
    assert navigation.last()
    assert navigation.path == ["Brokers", "other"]
    assert navigation.root == Brokers()


def test_a_tab_takes_the_place_of_another() -> None:
    navigation = Navigation(Brokers())
    navigation.enter(Other())
    navigation.beside(Brokers("cluster-a"))
    assert navigation.path == ["Brokers", "Brokers of cluster-a"]
