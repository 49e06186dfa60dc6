"""The root views, which number keys open. Pure."""

from collections.abc import Mapping

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import NO_PROBLEM, View, open_view

_ROOT_VIEWS = {
    "home": ("Home", "home:HomeView"),
    "brokers": ("Brokers", "brokers.broker_table:BrokersView"),
    "topics": ("Topics", "topics.topic_table:TopicsView"),
    "groups": ("Groups", "groups.group_table:GroupsView"),
    "servers": ("Servers", "servers:ServersView"),
    "kv": ("KV", "kv:KvView"),
    "events": ("Events", "events:EventsView"),
    "drains": ("Drains", "drains:DrainsView"),
    "graphs": ("Graphs", "graphs:GraphsView"),
}
"""The titles and the classes of the root views by their names for `:`, in the order of their number keys."""
ROOT_VIEWS: Mapping[str, str] = {name: title for name, (title, _) in _ROOT_VIEWS.items()}
SCREEN_NAMES, SCREEN_TITLES = tuple(ROOT_VIEWS), tuple(ROOT_VIEWS.values())


def make_view(screen_name: str) -> View:
    """Create a root view. It imports the view itself, so that the first screen appears sooner.

    Raises KeyError for an unknown name.
    """
    return open_view(f"views.{_ROOT_VIEWS[screen_name][1]}")


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
        shown_rows = [row for row in view.build_rows(model) if not view.is_hidden(row)]
        ranks = view.rank_problems(model, shown_rows)
        self._counts_by_title[ROOT_VIEWS[view.name]] = sum(rank < NO_PROBLEM for rank in ranks)
