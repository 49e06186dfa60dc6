"""The graphs of figures over time, drawn with braille dots. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from nsadmin.tui import units
from nsadmin.tui.model import Model, Trend
from nsadmin.tui.views.table import Cell, Tone
from nsadmin.tui.views.view import Line, View

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_TONES: tuple[Tone, ...] = ("spark", "warn", "info", "accent", "bad", "good")
_LEFT = 9


def graph(what: str, trends: Mapping[str, Trend], width: int, height: int) -> list[Line]:
    """Draw trends on common axes, each in its own tone."""
    known = {name: trend for name, trend in trends.items() if len(trend.values) > 1}
    if not known:
        return [[], [Cell("  it takes two looks until there is a line to draw", "dim")]]
    rows, columns = max(height - 4, 2), max(width - _LEFT - 2, 10)
    begin = min(trend.times[0] for trend in known.values())
    end = max(max(trend.times[-1] for trend in known.values()), begin + 1)
    top = _nice(max(max(trend.values) for trend in known.values()))
    cells = [[(0, "") for _ in range(columns)] for _ in range(rows)]
    for at, trend in enumerate(known.values()):
        _plot(cells, trend, begin, end, top, _TONES[at % len(_TONES)])
    lines: list[Line] = [_legend(what, known)]
    for row, dots in enumerate(cells):
        shown = top * (rows - row) / rows if row % max(rows // 4, 1) == 0 else None
        label = units.rate(shown) if shown is not None else ""
        lines.append([Cell(f"{label:>{_LEFT - 2}} │", "dim"), *_joined(dots)])
    lines.append([Cell(f"{'0':>{_LEFT - 2}} └" + "─" * columns, "dim")])
    first, last = units.clock(begin), units.clock(end)
    lines.append([Cell(" " * _LEFT + first + last.rjust(columns - len(first)), "dim")])
    return lines


def _nice(top: float) -> float:
    """The next round number, for the top of the axis."""
    if top <= 0:
        return 1.0
    step = 10.0 ** (len(str(int(top))) - 1) if top >= 1 else 0.1
    return next(step * part for part in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * part >= top)


def _plot(
    cells: list[list[tuple[int, str]]], trend: Trend, begin: int, end: int, top: float, tone: Tone
) -> None:
    rows, columns = len(cells) * 4, len(cells[0]) * 2
    places = [
        (
            round((at - begin) / (end - begin) * (columns - 1)),
            rows - 1 - round(min(max(value / top, 0.0), 1.0) * (rows - 1)),
        )
        for at, value in zip(trend.times, trend.values, strict=True)
    ]
    for (x, y), (next_x, next_y) in pairwise(places):
        for step_x in range(x, next_x + 1):
            part = (step_x - x) / (next_x - x) if next_x > x else 1.0
            _dot(cells, step_x, round(y + (next_y - y) * part), tone)
        for step_y in range(min(y, next_y), max(y, next_y) + 1) if next_x == x else ():
            _dot(cells, x, step_y, tone)


def _dot(cells: list[list[tuple[int, str]]], x: int, y: int, tone: Tone) -> None:
    row, column = y // 4, x // 2
    dots, _ = cells[row][column]
    cells[row][column] = (dots | _DOTS[y % 4][x % 2], tone)


def _joined(dots: Sequence[tuple[int, str]]) -> list[Cell]:
    """Join neighbouring dots of the same tone into one cell."""
    found: list[Cell] = []
    for bits, tone in dots:
        letter = chr(0x2800 + bits) if bits else " "
        if found and found[-1].tone == tone:
            found[-1] = Cell(found[-1].text + letter, tone)
        else:
            found.append(Cell(letter, tone))
    return found


def _legend(what: str, trends: Mapping[str, Trend]) -> Line:
    cells = [Cell(f"  {what}", "strong")]
    for at, (name, trend) in enumerate(trends.items()):
        cells += [Cell("  ━━ ", _TONES[at % len(_TONES)]), Cell(f"{name} {units.rate(trend.values[-1])}")]
    return cells


class Graphs(View):
    """The put rate of each cluster and the largest consumer lags, over the last hour."""

    name = "graphs"
    title = "Graphs"
    is_drawing = True

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        half = max(height // 2, 6)
        lags = dict(sorted(model.lags.items(), key=lambda item: -item[1].values[-1])[:6])
        puts = graph("messages put per second, by cluster", model.puts, width, half if lags else height)
        return (
            puts
            if not lags
            else [*puts, *graph("messages that groups are behind", lags, width, height - half)]
        )
