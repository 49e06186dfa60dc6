"""Root: the screens that numbers stand for. Pure."""

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
"""What `:` calls it, which is the module that has it; and its class there."""

NAMES = tuple(SCREENS)
TITLES = tuple("KV" if name == "kv" else title for name, title in SCREENS.items())


def make(name: str) -> View:
    """KeyError for what is none."""
    # A screen is loaded when it is wanted: the first one shall come soon.
    found: View = getattr(import_module(f"nsadmin.tui.views.{name}"), SCREENS[name])()
    return found


def title_of(view: View) -> str | None:
    return dict(zip(NAMES, TITLES, strict=True)).get(view.name)
