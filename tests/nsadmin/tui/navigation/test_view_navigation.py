"""Where one is, where one came from."""

from nsadmin.tui.navigation.view_navigation import ViewNavigation
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_table import BrokersView
from nsadmin.tui.views.events import ObjectEventsView
from nsadmin.tui.views.table import RowFilter, SortOrder


class Other(View):
    name = title = "other"


def test_enter_and_back_keep_row_filter_and_order() -> None:
    navigation = ViewNavigation(BrokersView())
    home = navigation.current_state
    home.row_key, home.row_filter, home.sort_order = "row", RowFilter("a"), SortOrder("in", True)
    navigation.push_view(Other())
    assert navigation.stack_depth == 2
    assert navigation.title_path == ["Brokers", "other"]
    assert navigation.current_state.row_key is None
    assert navigation.pop_view()
    assert navigation.current_state is home
    assert not navigation.pop_view()


def test_a_number_goes_to_a_screen_as_it_was_left() -> None:
    navigation = ViewNavigation(BrokersView())
    navigation.current_state.row_key = "row"
    navigation.open_root_view(Other())
    assert navigation.current_state.row_key is None
    navigation.open_root_view(BrokersView())
    assert navigation.current_state.row_key == "row"
    navigation.push_view(Other())
    navigation.open_root_view(BrokersView())
    assert navigation.stack_depth == 1


def test_the_view_before_and_back_again() -> None:
    navigation = ViewNavigation(BrokersView())
    assert not navigation.swap_with_previous()
    navigation.open_root_view(BrokersView())
    assert not navigation.swap_with_previous()
    navigation.push_view(Other())
    assert navigation.swap_with_previous()
    assert navigation.stack_depth == 1
    assert navigation.swap_with_previous()
    assert navigation.title_path == ["Brokers", "other"]
    assert navigation.title_path[0] == BrokersView.title


def test_a_tab_takes_the_place_of_another() -> None:
    navigation = ViewNavigation(BrokersView())
    navigation.push_view(Other())
    navigation.replace_view(ObjectEventsView("orders"))
    assert navigation.title_path == ["Brokers", "orders"]
