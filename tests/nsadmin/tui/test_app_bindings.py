"""The bindings of the app: one for each key of the list, and one for each screen."""

from textual.binding import Binding

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.app_bindings import build_bindings
from nsadmin.tui.navigation import root_views


def test_each_key_and_each_screen_has_a_binding_and_tabs_have_none() -> None:
    bindings = [binding for binding in build_bindings() if isinstance(binding, Binding)]
    binding_ids = [binding.id for binding in bindings]
    assert len(binding_ids) == len(set(binding_ids))
    assert set(binding_ids) == {
        *(key_binding.binding_id for key_binding in KEY_BINDINGS if "Tab" not in key_binding.binding_id),
        *(f"screen{number}" for number in range(len(root_views.SCREEN_NAMES))),
    }
    assert all(binding.priority for binding in bindings)
