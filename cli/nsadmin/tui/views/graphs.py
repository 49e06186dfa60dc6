"""The graphs of figures over time, drawn with braille dots. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest
from math import isnan

from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.table import Cell, Tone

_DOT_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_TREND_TONES: tuple[Tone, ...] = ("spark", "warn", "info", "accent", "bad", "good")
_AXIS_WIDTH = 9
_MAX_LAGS = 12
_SMALL_WIDTH, _SMALL_HEIGHT = 38, 8
"""The least size of a graph beside others."""
_PUTS_TITLE = "messages put per second, by cluster"
_STEPS_BY_LEADING_DIGITS = ((1, 4), (1.5, 3), (2, 4), (3, 3), (4, 4), (5, 5), (6, 3), (8, 4), (10, 4))
"""How many steps divide an axis into round values, by the leading digits of its top value."""


def draw_graph(graph_title: str, trends: Mapping[str, Trend], width: int, height: int) -> list[CellLine]:
    """Draw trends on common axes, each in its own tone."""
    drawable_trends = {name: trend for name, trend in trends.items() if len(trend.known_values) > 1}
    if not drawable_trends:
        return [[], [Cell("  collecting: a graph needs two polls", "dim")]]
    row_count, column_count = max(height - 4, 2), max(width - _AXIS_WIDTH - 2, 10)
    begin_ms = min(trend.times_ms[0] for trend in drawable_trends.values())
    end_ms = max(max(trend.times_ms[-1] for trend in drawable_trends.values()), begin_ms + 1)
    top_value = _round_up(max(max(trend.known_values) for trend in drawable_trends.values()))
    dots = [[(0, "") for _ in range(column_count)] for _ in range(row_count)]
    for i, trend in enumerate(drawable_trends.values()):
        _plot_trend(dots, trend, begin_ms, end_ms, top_value, _TREND_TONES[i % len(_TREND_TONES)])
    lines: list[CellLine] = [_legend_line(graph_title, drawable_trends)]
    tick_values = _place_ticks(top_value, row_count)
    for index, row_dots in enumerate(dots):
        axis_label = units.format_rate(tick_values[index]) if index in tick_values else ""
        lines.append([Cell(f"{axis_label:>{_AXIS_WIDTH - 2}} │", "dim"), *_join_dots(row_dots)])
    lines.append([Cell(f"{'0':>{_AXIS_WIDTH - 2}} └" + "─" * column_count, "dim")])
    first_time, last_time = units.format_clock(begin_ms), units.format_clock(end_ms)
    times = first_time + last_time.rjust(column_count - len(first_time))
    lines.append([Cell(" " * _AXIS_WIDTH + times, "dim")])
    return lines


def _place_ticks(top_value: float, row_count: int) -> dict[int, float]:
    """The round values of the axis, by index of the row that is nearest to each."""
    leading_digits = float(f"{top_value:e}".partition("e")[0])
    step_count = next(count for digits, count in _STEPS_BY_LEADING_DIGITS if leading_digits <= digits)
    step_count = step_count if row_count >= step_count else 1
    steps = range(1, step_count + 1)
    return {round(row_count * (1 - step / step_count)): top_value * step / step_count for step in steps}


def _round_up(top_value: float) -> float:
    """The next round number, for the top of the axis."""
    if top_value <= 0:
        return 1.0
    decimal_step = 10.0 ** (len(str(int(top_value))) - 1) if top_value >= 1 else 0.1
    tops = (decimal_step * step_factor for step_factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10))
    return next(top for top in tops if top >= top_value)


def _plot_trend(
    dots: list[list[tuple[int, str]]], trend: Trend, begin_ms: int, end_ms: int, top_value: float, tone: Tone
) -> None:
    dot_rows, dot_columns = len(dots) * 4, len(dots[0]) * 2
    dot_places = [
        None
        if isnan(trend_value)
        else (
            round((at_ms - begin_ms) / (end_ms - begin_ms) * (dot_columns - 1)),
            dot_rows - 1 - round(min(max(trend_value / top_value, 0.0), 1.0) * (dot_rows - 1)),
        )
        for at_ms, trend_value in zip(trend.times_ms, trend.values, strict=True)
    ]
    for place, next_place in pairwise(dot_places):
        if place is None or next_place is None:
            continue
        (x, y), (next_x, next_y) = place, next_place
        for step_x in range(x, next_x + 1):
            step_ratio = (step_x - x) / (next_x - x) if next_x > x else 1.0
            _set_dot(dots, step_x, round(y + (next_y - y) * step_ratio), tone)
        for step_y in range(min(y, next_y), max(y, next_y) + 1) if next_x == x else ():
            _set_dot(dots, x, step_y, tone)


def _set_dot(dots: list[list[tuple[int, str]]], x: int, y: int, tone: Tone) -> None:
    cell_row, cell_column = y // 4, x // 2
    dot_bits, _ = dots[cell_row][cell_column]
    dots[cell_row][cell_column] = (dot_bits | _DOT_BITS[y % 4][x % 2], tone)


def _join_dots(row_dots: Sequence[tuple[int, str]]) -> list[Cell]:
    """Join neighbouring dots of the same tone into one cell."""
    joined: list[Cell] = []
    for dot_bits, tone in row_dots:
        braille_letter = chr(0x2800 + dot_bits) if dot_bits else " "
        if joined and joined[-1].tone == tone:
            joined[-1] = Cell(joined[-1].text + braille_letter, tone)
        else:
            joined.append(Cell(braille_letter, tone))
    return joined


def _legend_line(graph_title: str, trends: Mapping[str, Trend]) -> CellLine:
    cells = [Cell(f"  {graph_title}", "strong")]
    for index, (name, trend) in enumerate(trends.items()):
        cells += [
            Cell("  ━━ ", _TREND_TONES[index % len(_TREND_TONES)]),
            Cell(f"{name} {units.format_rate(trend.last_value)}".lstrip()),
        ]
    return cells


def draw_small_graphs(trends: Mapping[str, Trend], width: int, height: int) -> list[CellLine]:
    """Draw each trend on axes of its own, side by side, so that a large one does not flatten the others.

    Trends that do not fit are left out.
    """
    trends = {name: trend for name, trend in trends.items() if len(trend.known_values) > 1}
    if not trends:
        return draw_graph("", {}, width, height)
    graphs_per_line = max(min(width // _SMALL_WIDTH, len(trends)), 1)
    line_count = max(min(height // _SMALL_HEIGHT, -(-len(trends) // graphs_per_line)), 1)
    graph_width, graph_height = width // graphs_per_line, height // line_count
    shown_trends = list(trends.items())[: graphs_per_line * line_count]
    lines: list[CellLine] = []
    for first_index in range(0, len(shown_trends), graphs_per_line):
        graphs = [
            [
                _fit_line(line, graph_width)
                for line in draw_graph(name, {"": trend}, graph_width, graph_height)
            ]
            for name, trend in shown_trends[first_index : first_index + graphs_per_line]
        ]
        lines += [
            [cell for graph_line in graph_lines for cell in graph_line]
            for graph_lines in zip_longest(*graphs, fillvalue=[Cell(" " * graph_width)])
        ]
    return lines


def _fit_line(line: CellLine, width: int) -> list[Cell]:
    """The line, cut or filled up to a width."""
    fitted_cells: list[Cell] = []
    for cell in line:
        fitted_cells.append(cell._replace(text=cell.text[:width]))
        width -= len(fitted_cells[-1].text)
    return [*fitted_cells, Cell(" " * width)]


class GraphsView(View):
    """The put rate of each cluster and the largest consumer lags, over the last hour."""

    name = "graphs"
    title = "Graphs"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        half_height = max(height // 2, 6)
        trends = sorted(model.lag_trends.items(), key=lambda item: -(item[1].last_value or 0))
        largest = dict(trends[:_MAX_LAGS])
        if not largest:
            return draw_graph(_PUTS_TITLE, model.put_trends, width, height)
        put_lines = draw_graph(_PUTS_TITLE, model.put_trends, width, half_height)
        lag_title: CellLine = [Cell("  lag of the consumer groups, in messages: the largest", "strong")]
        return [*put_lines, lag_title, *draw_small_graphs(largest, width, height - len(put_lines) - 1)]
