"""Charts: reports drawn with matplotlib as SVG text; None if a report has no rows.

A chart is as wide as an upright phone, so that its text stays readable there. The text takes the colour of
the page's text, light or dark.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nsreport.reading import Row

_UP, _PARTLY, _DOWN, _PLANNED, _UNKNOWN = "#2f9e44", "#f2a900", "#d6336c", "#4c6ef5", "#adb5bd"
_SHADES = {
    _UP: "99.99 % or more",
    _PARTLY: "99 % or more",
    _DOWN: "less",
    _PLANNED: "drained",
    _UNKNOWN: "nobody looked",
}
_ON = {_PARTLY: "#000000", _UNKNOWN: "#000000"}
"""Text colour on these cell colours; text on other cells is white."""
_INK = "#010203"
"""Placeholder for the page's text colour; `_render_svg` replaces it with `currentColor`."""
_LOOK: dict[Any, Any] = {
    "font.size": 8,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _INK,
    "grid.alpha": 0.15,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    # A name with `$` is not a formula.
    "text.parse_math": False,
}
_MOST = 40
_LONGEST = 28
"""Characters of a label that fit beside a chart."""


def availability_calendar(rows: Sequence[Row]) -> str | None:
    """Draw a line per broker and a cell per day: green is up, red is down.

    The right end of a cell shows the drained and the unknown part of the day, each as wide as its share.
    """
    broker = brokers(rows)
    names = _names(rows, broker)
    days = sorted({row["date"] for row in rows})
    if not rows:
        return None

    def draw(axes: Any) -> None:
        from matplotlib.patches import Patch

        met = set()
        for row in rows:
            if (name := broker(row)) not in names:
                continue
            at, line, shade = days.index(row["date"]), names.index(name), _shade(row)
            met.add(shade)
            axes.barh(line, 0.96, left=at - 0.48, height=0.88, color=shade)
            end = at + 0.48
            for part, other in _parts(row) if row["availability"] is not None else ():
                met.add(other)
                end -= 0.96 * part
                axes.barh(line, 0.96 * part, left=end, height=0.88, color=other)
            if len(days) <= 7:
                axes.text(at, line, _percent(row), ha="center", va="center", color=_ON.get(shade, "#ffffff"))
        _name(axes, names)
        step = max(1, -(-len(days) // 6))
        shown = range(0, len(days), step)
        axes.set_xticks(list(shown), [days[at].isoformat() for at in shown])
        axes.set_xlim(-0.5, len(days) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        legend = [Patch(color=shade, label=said) for shade, said in _SHADES.items() if shade in met]
        axes.figure.legend(handles=legend, loc="outside upper left", ncols=3, frameon=False, handlelength=1)

    return _svg(draw, len(names))


def _shade(row: Row) -> str:
    share = row["availability"]
    if share is None:
        return _PLANNED if row["plannedSeconds"] > row["unknownSeconds"] else _UNKNOWN
    return _UP if share >= 99.99 else _PARTLY if share >= 99 else _DOWN


def _parts(row: Row) -> Iterator[tuple[float, str]]:
    """Yield the unknown and the drained share of a day with their colours, unless they are zero."""
    all_of = sum(row[f"{name}Seconds"] for name in ("up", "down", "planned", "unknown"))
    for name, shade in (("unknown", _UNKNOWN), ("planned", _PLANNED)):
        if row[f"{name}Seconds"] > 0:
            yield row[f"{name}Seconds"] / all_of, shade


def _percent(row: Row) -> str:
    share = row["availability"]
    # Rounding must not show 100 % for a broker that was down for a moment.
    return "–" if share is None else "100 %" if share == 100 else f"{min(share, 99.99):.4g} %"


def timeline(rows: Sequence[Row], name: Callable[[Row], str], color: str = _DOWN) -> str | None:
    """Draw a line per label and a bar from `ts` to `endTs` per row; an open bar reaches to the end."""
    if not rows:
        return None
    spent: dict[str, float] = {}
    for row in rows:
        lasted = (row["endTs"] or row["ts"]) - row["ts"]
        spent[name(row)] = spent.get(name(row), 0) + lasted.total_seconds()
    names = sorted(sorted(spent, key=lambda one: -spent[one])[:_MOST])
    end = max(row["endTs"] or row["ts"] for row in rows)

    def draw(axes: Any) -> None:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

        first = date2num(min(row["ts"] for row in rows))
        least = max((date2num(end) - first) / 150, 1e-5)
        for row in rows:
            if name(row) in names:
                began, ended = date2num(row["ts"]), date2num(row["endTs"] or end)
                axes.barh(
                    names.index(name(row)), max(ended - began, least), left=began, height=0.6, color=color
                )
        # Without this setting the first bar touches the axis.
        axes.use_sticky_edges = False
        axes.margins(x=0.02)
        locator = AutoDateLocator(maxticks=6)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        axes.grid(axis="x")
        _name(axes, names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)

    return _svg(draw, len(names))


def growth(rows: Sequence[Row], limit: float) -> str | None:
    """Draw registration sizes, a curve for each of the eight largest brokers; `limit_bytes` if it is near."""
    broker = brokers(rows)
    named: dict[str, list[tuple[Any, float]]] = {}
    for row in rows:
        if row["bytes"] is not None:
            named.setdefault(broker(row), []).append((row["date"], row["bytes"]))
    if not named:
        return None
    greatest = sorted(named, key=lambda one: -max(value for _, value in named[one]))[:8]
    most = max(value for _, value in named[greatest[0]])
    unit, size = ("MiB", 2.0**20) if most >= 2**20 else ("KiB", 2.0**10)

    def draw(axes: Any) -> None:
        for one in greatest:
            points = sorted(named[one])
            values = [value / size for _, value in points]
            axes.plot([at for at, _ in points], values, marker="o", markersize=3, label=_short(one))
        if most > limit / 10:
            axes.axhline(limit / size, color=_DOWN, linestyle="--", linewidth=1)
        days = sorted({at for points in named.values() for at, _ in points})
        shown = days[:: max(1, -(-len(days) // 5))]
        axes.set_xticks(shown, [day.isoformat() for day in shown])
        axes.set_ylim(bottom=0)
        axes.set_ylabel(f"{unit} ({limit / size:,.0f} at most)")
        axes.grid(axis="y")
        axes.legend(fontsize=7, frameon=False)

    return _svg(draw, 7)


def forecast(rows: Sequence[Row]) -> str | None:
    """Draw, per broker whose registration outgrows a frame, the forecast day and its interval."""
    full = sorted((row for row in rows if row["fullDate"] is not None), key=lambda row: row["fullDate"])
    if not full:
        return None
    named, broker = full[:_MOST], brokers(rows)

    def draw(axes: Any) -> None:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

        last = max(date2num(row["latestDate"] or row["fullDate"]) for row in named)
        for line, row in enumerate(named):
            first = date2num(row["earliestDate"] or row["fullDate"])
            # Without a latest day the interval has no end: draw it to the edge of the chart.
            end = date2num(row["latestDate"]) if row["latestDate"] else last
            axes.plot([first, max(first, end)], [line, line], color=_PARTLY, linewidth=4, alpha=0.6)
            axes.plot(date2num(row["fullDate"]), line, marker="D", markersize=5, color=_DOWN)
            axes.annotate(
                row["fullDate"].isoformat(), (date2num(row["fullDate"]), line), xytext=(0, 6),
                textcoords="offset points", ha="center", fontsize=7,
            )  # fmt: skip
        locator = AutoDateLocator(maxticks=6)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        axes.grid(axis="x")
        axes.margins(x=0.15)
        _name(axes, [broker(row) for row in named])
        axes.set_ylim(len(named) - 0.5, -0.7)

    return _svg(draw, len(named))


def bars(rows: Sequence[Row], value: str, name: Callable[[Row], str]) -> str | None:
    """Draw the ten largest sums of a column, one bar per label."""
    sums: dict[str, float] = {}
    for row in rows:
        if row[value] is not None:
            sums[name(row)] = sums.get(name(row), 0) + row[value]
    top = sorted(sums.items(), key=lambda item: -item[1])[:10]
    if not top:
        return None

    def draw(axes: Any) -> None:
        from matplotlib.ticker import EngFormatter

        drawn = axes.barh(range(len(top)), [value for _, value in top], height=0.7, color=_PLANNED)
        _name(axes, [one for one, _ in top])
        axes.bar_label(drawn, [f"{value:,.0f}" for _, value in top], padding=3, fontsize=7)
        axes.margins(x=0.2)
        axes.set_ylim(len(top) - 0.5, -0.5)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)

    return _svg(draw, len(top))


def _svg(draw: Callable[[Any], None], lines: int) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out = io.StringIO()
    with rc_context(_LOOK), warnings.catch_warnings():
        figure = Figure(figsize=(4.8, 0.75 + 0.24 * max(lines, 3)), layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.subplots()
        axes.patch.set_visible(False)
        draw(axes)
        # matplotlib draws a box for a character without a glyph; the table below the chart shows it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    text = out.getvalue().replace(_INK, "currentColor")
    # The page's style sheet sets the width.
    return re.sub(r'(<svg[^>]*?) width="[^"]*"| height="[^"]*"', r"\1", text[text.index("<svg") :], count=2)


def _name(axes: Any, names: Sequence[str]) -> None:
    """Write a label beside each line."""
    axes.set_yticks(range(len(names)), [_short(name) for name in names])


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _names(rows: Sequence[Row], broker: Callable[[Row], str]) -> list[str]:
    """Return the brokers with the most downtime first; as many as fit into a chart."""
    down: dict[str, float] = {}
    for row in rows:
        down[broker(row)] = down.get(broker(row), 0) + row["downSeconds"]
    return sorted(down, key=lambda name: (-down[name], name))[:_MOST]


def brokers(rows: Sequence[Row]) -> Callable[[Row], str]:
    """Return a function that labels the broker of a row: name and id, with the cluster if rows have several.

    5.x logs do not always contain all of these.
    """
    is_of_several = len({row.get("cluster") for row in rows if row["brokerName"]}) > 1

    def broker(row: Row) -> str:
        name = str(row["brokerName"] or "-")
        if is_of_several and row.get("cluster") is not None:
            name = f"{row['cluster']}/{name}"
        return name if row.get("brokerId") is None else f"{name}:{row['brokerId']}"

    return broker
