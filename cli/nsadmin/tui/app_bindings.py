"""The Textual bindings of the app, made from the key bindings and from the numbers of the screens."""

from textual.binding import Binding, BindingType

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.navigation import root_views


def build_bindings() -> list[BindingType]:
    """All bindings of the app, except the keys for tabs, which the main screen binds."""
    return [
        *(
            Binding(
                key_binding.key_names,
                key_binding.app_action,
                key_binding.help_text,
                show=False,
                id=key_binding.binding_id,
                priority=True,
            )
            for key_binding in KEY_BINDINGS
            if "Tab" not in key_binding.binding_id
        ),
        *(
            Binding(
                str(screen_number),
                f"screen({screen_number})",
                screen_name,
                show=False,
                id=f"screen{screen_number}",
                priority=True,
            )
            for screen_number, screen_name in enumerate(root_views.SCREEN_NAMES)
        ),
    ]
