"""The Textual bindings of the app, made from the key bindings and from the numbers of the screens."""

from textual.binding import Binding, BindingType

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.navigation import root_views


def build_bindings() -> list[BindingType]:
    """All bindings of the app, except the keys for tabs, which the main screen binds."""
    return [
        *(
            Binding(
                binding.key_names,
                binding.app_action,
                binding.help_text,
                show=False,
                id=binding.binding_id,
                priority=True,
            )
            for binding in KEY_BINDINGS
            if "Tab" not in binding.binding_id
        ),
        *(
            Binding(str(number), f"screen({number})", name, show=False, id=f"screen{number}", priority=True)
            for number, name in enumerate(root_views.SCREEN_NAMES)
        ),
    ]
