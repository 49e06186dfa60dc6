"""The screens that numbers stand for."""

from nsadmin.tui.navigation import root_views
from nsadmin.tui.views.base_view import View


def test_each_screen_is_made_by_its_name_and_has_a_title() -> None:
    for name, title in zip(root_views.SCREEN_NAMES, root_views.SCREEN_TITLES, strict=True):
        view = root_views.make_view(name)
        assert (view.view_name, root_views.find_screen_title(view)) == (name, title)
    assert len(root_views.SCREEN_NAMES) <= 9


def test_what_is_no_such_screen_has_no_title() -> None:
    assert root_views.find_screen_title(View()) is None
