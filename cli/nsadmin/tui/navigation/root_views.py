"""The root views, which number keys open. Pure."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import NO_PROBLEM, View


class RootView(NamedTuple):
    """The title of a root view in the screen bar, and a function that creates the view.

    Rule: the function imports the view's module itself, so that the first screen appears sooner.
    """

    title: str
    create_view: Callable[[], View]


def _create_home() -> View:
    from nsadmin.tui.views.home import HomeView

    return HomeView()


def _create_brokers() -> View:
    from nsadmin.tui.views.brokers.broker_table import BrokersView

    return BrokersView()


def _create_topics() -> View:
    from nsadmin.tui.views.topics.topic_table import TopicsView

    return TopicsView()


def _create_groups() -> View:
    from nsadmin.tui.views.groups.group_table import GroupsView

    return GroupsView()


def _create_servers() -> View:
    from nsadmin.tui.views.servers import ServersView

    return ServersView()


def _create_kv() -> View:
    from nsadmin.tui.views.kv import KvView

    return KvView()


def _create_events() -> View:
    from nsadmin.tui.views.events import EventsView

    return EventsView()


def _create_drains() -> View:
    from nsadmin.tui.views.drains import DrainsView

    return DrainsView()


def _create_graphs() -> View:
    from nsadmin.tui.views.graphs import GraphsView

    return GraphsView()


ROOT_VIEWS: Mapping[str, RootView] = {
    "home": RootView("Home", _create_home),
    "brokers": RootView("Brokers", _create_brokers),
    "topics": RootView("Topics", _create_topics),
    "groups": RootView("Groups", _create_groups),
    "servers": RootView("Servers", _create_servers),
    "kv": RootView("KV", _create_kv),
    "events": RootView("Events", _create_events),
    "drains": RootView("Drains", _create_drains),
    "graphs": RootView("Graphs", _create_graphs),
}
"""The root views by their names for `:`, in the order of their number keys."""

SCREEN_NAMES = tuple(ROOT_VIEWS)
SCREEN_TITLES = tuple(root_view.title for root_view in ROOT_VIEWS.values())


def make_view(screen_name: str) -> View:
    """Create a root view. Raises KeyError for an unknown name."""
    return ROOT_VIEWS[screen_name].create_view()


def find_screen_title(view: View) -> str | None:
    root_view = ROOT_VIEWS.get(view.name)
    return None if root_view is None else root_view.title


COUNTED_SCREENS = ("home", "brokers", "topics", "groups", "servers", "kv", "drains")
"""Events are past, and graphs have no rows."""
_RECOUNT_MS = 5_000


class ProblemCounter:
    """Remembers the counts for some seconds, because a screen can have ten thousand rows."""

    def __init__(self) -> None:
        self._counts_by_title: dict[str, int] = {}
        self._counted_model: ClusterModel | None = None
        self._counted_at_ms: int | None = None

    def count_problems(self, model: ClusterModel, current_view: View) -> Mapping[str, int]:
        """The last counts by the title of the screen. That of the current view is always new."""
        if model is not self._counted_model:
            # The first drawing must be fast: the other views are imported and counted at the next one.
            self._counted_model, self._counted_at_ms = (model if model.brokers else None), None
            self._counts_by_title = {}
        elif self._counted_at_ms is None or model.now_ms - self._counted_at_ms >= _RECOUNT_MS:
            self._counted_at_ms = model.now_ms
            for name in COUNTED_SCREENS:
                self._count_view(make_view(name), model)
        if current_view.name in COUNTED_SCREENS:
            self._count_view(current_view, model)
        return self._counts_by_title

    def _count_view(self, view: View, model: ClusterModel) -> None:
        title = find_screen_title(view)
        if title is not None:
            shown_rows = [row for row in view.build_rows(model) if not view.is_hidden(row)]
            ranks = view.rank_problems(model, shown_rows)
            self._counts_by_title[title] = sum(rank < NO_PROBLEM for rank in ranks)
