"""The renderer of the main screen: fills its widgets from the model and the current view."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nsadmin.tui.views import frame, root
from nsadmin.tui.views.grouping import grouped
from nsadmin.tui.views.table import Cell, Column, Tone, arranged
from nsadmin.tui.views.view import Line

if TYPE_CHECKING:
    from nsadmin.tui.app import Tui

_SAID_FOR = 6_000


class Painting:
    """Renders one app. `set_message` shows a text in the last line for a few seconds.

    `filtered_rows` are all rows that pass the filter, also those of folded groups.
    """

    def __init__(self, app: "Tui") -> None:
        self._app = app
        self._said: tuple[str, Tone, int] | None = None
        self.found: Sequence[Any] = ()

    def say(self, text: str, tone: Tone) -> None:
        self._said = (text, tone, self._app.clock())

    def paint(self) -> None:
        """Update every widget of the main screen."""
        app = self._app
        model, place, width = app.model, app.navigation.here, app.size.width
        items = place.view.items(model)
        descending = bool(place.sort and place.sort.descending)
        found = arranged(items, place.view.text, place.filter, self.column, descending)
        self.found = found
        silence = place.view.silence(model)
        nothing = "no row passes the filter" if items else place.view.nothing(model)
        app.grid.show_rows(self._grouped(found), place.sort, nothing, silence is not None)
        place.row = app.grid.current_key
        app.lines("header").show(frame.header(model, self._status(), app.verdict, width))
        app.lines("screens").show([self._bar(width)])
        said = frame.silent(silence, model.now)
        headline = place.view.headline(model)
        app.lines("headline").show([[Cell(" "), *(frame.old(headline) if said else headline), *said]])
        ordered = place.sort.key if place.sort else ""
        foot = frame.footer(
            len(found), len(items), place.filter.text, ordered, app.grid.hidden_columns, width
        )
        app.lines("footer").show([self._line() or ([] if place.view.is_drawing else foot)])
        app.lines("hints").show([frame.hints(width)])
        if place.view.is_drawing:
            drawing = app.lines("drawing")
            drawn = place.view.draw(model, drawing.size.width, drawing.size.height)
            drawing.show(drawn if silence is None else [frame.old(line) for line in drawn])

    def _grouped(self, found: Sequence[Any]) -> Sequence[Any]:
        """Group the rows under headings, if the operator chose grouping."""
        place = self._app.navigation.here
        by = next((each for each in place.view.columns if each.key == place.view.grouping), None)
        if not place.is_grouped or by is None:
            return found
        return grouped(found, lambda item: by.cell(item).text, place.view.told, place.folded)

    @property
    def column(self) -> Column | None:
        """The column by which rows are sorted."""
        place = self._app.navigation.here
        if place.sort is None:
            return None
        return next((column for column in place.view.columns if column.key == place.sort.key), None)

    def _line(self) -> Line | None:
        """The last message, as long as it is recent."""
        if self._said is None or self._app.clock() - self._said[2] > _SAID_FOR:
            return None
        return [Cell(f" {self._said[0]}", self._said[1])]

    def _bar(self, width: int) -> Line:
        app = self._app
        tabs = app.view.tabs()
        if tabs:
            chosen = next((at for at, tab in enumerate(tabs) if tab == app.view), 0)
            return frame.tabs([tab.name for tab in tabs], chosen, app.navigation.path)
        if app.navigation.depth > 1:
            return frame.tabs([], 0, app.navigation.path)
        return frame.screens(root.TITLES, root.title_of(app.view), width)

    def _status(self) -> frame.Status:
        app = self._app
        return frame.Status(
            app.world.label,
            app.world.color,
            app.interval,
            app.model.now,
            "paused" if app.feed.is_paused else app.feed.mode,
            app.world.read_only,
            app.recorder is not None,
            len(app.log_lines),
        )
