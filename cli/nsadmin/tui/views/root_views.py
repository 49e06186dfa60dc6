"""The root views, which number keys open. Pure."""

from importlib import import_module

from nsadmin.tui.views.base_view import View

SCREEN_CLASSES = {
    "brokers": "Brokers",
    "topics": "Topics",
    "groups": "Groups",
    "servers": "Servers",
    "kv": "Kv",
    "events": "Events",
    "drains": "Drains",
    "graphs": "Graphs",
}
"""The view's class by its name for `:`, which is also the name of its module."""

SCREEN_NAMES = tuple(SCREEN_CLASSES)
SCREEN_TITLES = tuple(
    "KV" if screen_name == "kv" else screen_title for screen_name, screen_title in SCREEN_CLASSES.items()
)


def make_view(screen_name: str) -> View:
    """Create a root view. Raises KeyError for an unknown name."""
    # Import a view only when it is opened, so that the first screen appears sooner.
    root_view: View = getattr(
        import_module(f"nsadmin.tui.views.{screen_name}"), SCREEN_CLASSES[screen_name]
    )()
    return root_view


def find_screen_title(view: View) -> str | None:
    return dict(zip(SCREEN_NAMES, SCREEN_TITLES, strict=True)).get(view.view_name)
