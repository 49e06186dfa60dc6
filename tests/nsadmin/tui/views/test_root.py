"""The screens that numbers stand for."""

from nsadmin.tui.views import root
from nsadmin.tui.views.view import View


def test_each_screen_is_made_by_its_name_and_has_a_title() -> None:
    for name, title in zip(root.NAMES, root.TITLES, strict=True):
        view = root.make(name)
        assert (view.name, root.title_of(view)) == (name, title)
    assert len(root.NAMES) <= 9


def test_what_is_no_such_screen_has_no_title() -> None:
    assert root.title_of(View()) is None
