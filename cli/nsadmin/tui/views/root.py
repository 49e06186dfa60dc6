"""The root views, which number keys open. Pure."""

from importlib import import_module

from nsadmin.tui.views.view import View

SCREENS = {
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

NAMES = tuple(SCREENS)
TITLES = tuple("KV" if name == "kv" else title for name, title in SCREENS.items())


def make(name: str) -> View:
    """Create a root view. Raises KeyError for an unknown name."""
    # Import a view only when it is opened, so that the first screen appears sooner.
    found: View = getattr(import_module(f"nsadmin.tui.views.{name}"), SCREENS[name])()
    return found


def title_of(view: View) -> str | None:
    return dict(zip(NAMES, TITLES, strict=True)).get(view.name)
