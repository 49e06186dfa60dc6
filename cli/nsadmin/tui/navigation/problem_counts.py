"""The numbers of rows with problems of the root views, for the screen bar. Pure."""

from collections.abc import Mapping

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.views.base_view import NO_PROBLEM, View

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
                self._count_view(root_views.make_view(name), model)
        if current_view.view_name in COUNTED_SCREENS:
            self._count_view(current_view, model)
        return self._counts_by_title

    def _count_view(self, view: View, model: ClusterModel) -> None:
        title = root_views.find_screen_title(view)
        if title is not None:
            shown_rows = [row for row in view.build_rows(model) if not view.is_hidden(row)]
            ranks = view.rank_problems(model, shown_rows)
            self._counts_by_title[title] = sum(rank < NO_PROBLEM for rank in ranks)
