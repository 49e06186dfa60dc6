"""Charts: reports drawn with matplotlib as SVG text; None if a report has no rows.

A chart is as wide as an upright phone, so that its text stays readable there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from namesrv_core.printable_text import escape_unsafe
from nsreport.presentation.chart_svg import SERIES_NAMES, find_color, render_svg
from nsreport.presentation.report_reader import ReportRow

_MAX_LINES = 40
_MAX_LABEL_LENGTH = 24
"""Characters of a label that fit beside a chart."""


def draw_timeline(
    report_rows: Sequence[ReportRow],
    chart_title: str,
    label_row: Callable[[ReportRow], str],
    bar_color: str = "down",
) -> str | None:
    """Draw a line per label and a bar from `ts` to `endTs` per row; an open bar reaches to the end."""
    if not report_rows:
        return None
    seconds_by_label: dict[str, float] = {}
    for report_row in report_rows:
        duration = (report_row["endTs"] or report_row["ts"]) - report_row["ts"]
        seconds_by_label[label_row(report_row)] = (
            seconds_by_label.get(label_row(report_row), 0) + duration.total_seconds()
        )
    row_labels = sorted(
        sorted(seconds_by_label, key=lambda row_label: -seconds_by_label[row_label])[:_MAX_LINES]
    )
    end_time = max(report_row["endTs"] or report_row["ts"] for report_row in report_rows)

    def draw_bars(axes: Any) -> None:
        from matplotlib.dates import date2num

        first_day = date2num(min(report_row["ts"] for report_row in report_rows))
        min_width = max((date2num(end_time) - first_day) / 150, 1e-5)
        for report_row in report_rows:
            if label_row(report_row) in row_labels:
                begin_day, end_day = date2num(report_row["ts"]), date2num(report_row["endTs"] or end_time)
                axes.barh(
                    row_labels.index(label_row(report_row)),
                    max(end_day - begin_day, min_width),
                    left=begin_day,
                    height=0.6,
                    color=find_color(bar_color),
                )
        # Without this setting the first bar touches the axis.
        axes.use_sticky_edges = False
        axes.margins(x=0.02)
        _show_times(axes)
        _note_omission(axes, len(row_labels), len(seconds_by_label))
        _label_lines(axes, row_labels)
        axes.set_ylim(len(row_labels) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)

    return render_svg(draw_bars, len(row_labels), chart_title)


def draw_growth(report_rows: Sequence[ReportRow], chart_title: str, limit_bytes: float) -> str | None:
    """Draw registration sizes, a curve for each of the eight largest brokers; `limit_bytes` if it is near."""
    label_broker = broker_labeler(report_rows)
    points_by_broker: dict[str, list[tuple[Any, float]]] = {}
    for report_row in report_rows:
        if report_row["bytes"] is not None:
            points_by_broker.setdefault(label_broker(report_row), []).append(
                (report_row["date"], report_row["bytes"])
            )
    if not points_by_broker:
        return None
    largest_brokers = sorted(
        points_by_broker,
        key=lambda broker_label: -max(byte_count for _, byte_count in points_by_broker[broker_label]),
    )[:8]
    max_bytes = max(byte_count for _, byte_count in points_by_broker[largest_brokers[0]])
    unit_name, unit_bytes = ("MiB", 2.0**20) if max_bytes >= 2**20 else ("KiB", 2.0**10)

    def draw_curves(axes: Any) -> None:
        # Markers tell curves apart for readers who do not see the colours.
        for broker_label, color_name, curve_marker in zip(
            largest_brokers, SERIES_NAMES, "os^Dv*Xp", strict=False
        ):
            broker_points = sorted(points_by_broker[broker_label])
            scaled_values = [byte_count / unit_bytes for _, byte_count in broker_points]
            axes.plot(
                [sample_day for sample_day, _ in broker_points],
                scaled_values,
                color=find_color(color_name),
                marker=curve_marker,
                markersize=3,
                label=_shorten_label(broker_label),
            )
        if max_bytes > limit_bytes / 10:
            axes.axhline(limit_bytes / unit_bytes, color=find_color("down"), linestyle="--", linewidth=1)
        sample_days = sorted(
            {sample_day for broker_points in points_by_broker.values() for sample_day, _ in broker_points}
        )
        tick_days = sample_days[:: max(1, -(-len(sample_days) // 4))]
        axes.set_xticks(tick_days, [tick_day.isoformat() for tick_day in tick_days])
        axes.set_ylim(bottom=0)
        axes.set_ylabel(f"{unit_name} ({limit_bytes / unit_bytes:,.0f} at most)")
        axes.grid(axis="y")
        axes.figure.legend(loc="outside lower left", ncols=2, fontsize=7, frameon=False)

    return render_svg(draw_curves, 9, chart_title)


def draw_forecast(report_rows: Sequence[ReportRow], chart_title: str) -> str | None:
    """Draw, per broker whose registration outgrows a frame, the forecast day and its interval."""
    full_rows = sorted(
        (report_row for report_row in report_rows if report_row["fullDate"] is not None),
        key=lambda report_row: report_row["fullDate"],
    )
    if not full_rows:
        return None
    shown_rows, label_broker = full_rows[:_MAX_LINES], broker_labeler(report_rows)

    def draw_intervals(axes: Any) -> None:
        from matplotlib.dates import date2num

        last_day = max(
            date2num(report_row["latestDate"] or report_row["fullDate"]) for report_row in shown_rows
        )
        for line_index, report_row in enumerate(shown_rows):
            earliest_day = date2num(report_row["earliestDate"] or report_row["fullDate"])
            # Without a latest day the interval has no end: draw it to the edge of the chart.
            latest_day = date2num(report_row["latestDate"]) if report_row["latestDate"] else last_day
            axes.plot(
                [earliest_day, max(earliest_day, latest_day)],
                [line_index, line_index],
                color=find_color("partly"),
                linewidth=4,
                alpha=0.6,
            )
            axes.plot(
                date2num(report_row["fullDate"]),
                line_index,
                marker="D",
                markersize=5,
                color=find_color("down"),
            )
            axes.annotate(
                report_row["fullDate"].isoformat(), (date2num(report_row["fullDate"]), line_index),
                xytext=(0, 6),
                textcoords="offset points", ha="center", fontsize=7,
            )  # fmt: skip
        _show_times(axes)
        _note_omission(axes, len(shown_rows), len(full_rows))
        axes.margins(x=0.15)
        _label_lines(axes, [label_broker(report_row) for report_row in shown_rows])
        axes.set_ylim(len(shown_rows) - 0.5, -0.7)

    return render_svg(draw_intervals, len(shown_rows), chart_title)


def draw_ranking(
    report_rows: Sequence[ReportRow],
    chart_title: str,
    value_column: str,
    label_row: Callable[[ReportRow], str],
) -> str | None:
    """Draw the ten largest sums of a column, one bar per label."""
    sums_by_label: dict[str, float] = {}
    for report_row in report_rows:
        if report_row[value_column] is not None:
            sums_by_label[label_row(report_row)] = (
                sums_by_label.get(label_row(report_row), 0) + report_row[value_column]
            )
    top_sums = sorted(sums_by_label.items(), key=lambda label_and_sum: -label_and_sum[1])[:10]
    if not top_sums:
        return None

    def draw_bars(axes: Any) -> None:
        from matplotlib.ticker import EngFormatter

        bar_patches = axes.barh(
            range(len(top_sums)),
            [value_sum for _, value_sum in top_sums],
            height=0.7,
            color=find_color("planned"),
        )
        _label_lines(axes, [row_label for row_label, _ in top_sums])
        axes.bar_label(bar_patches, [f"{value_sum:,.0f}" for _, value_sum in top_sums], padding=3, fontsize=7)
        axes.margins(x=0.2)
        axes.set_ylim(len(top_sums) - 0.5, -0.5)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)

    return render_svg(draw_bars, len(top_sums), chart_title)


def _show_times(axes: Any) -> None:
    """Put the times above the lines."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    # With fewer ticks, the locator finds no interval for three days, and warns about it.
    date_locator = AutoDateLocator(minticks=3, maxticks=7)
    axes.xaxis.set_major_locator(date_locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(date_locator))
    axes.xaxis.tick_top()
    axes.spines["bottom"].set_visible(False)
    axes.grid(axis="x")


def _note_omission(axes: Any, shown_count: int, line_count: int) -> None:
    if shown_count < line_count:
        axes.set_xlabel(f"{shown_count} of {line_count:,}; the table has the others", fontsize=7)


def _label_lines(axes: Any, line_labels: Sequence[str]) -> None:
    """Write a label beside each line."""
    axes.set_yticks(range(len(line_labels)), [_shorten_label(line_label) for line_label in line_labels])


def _shorten_label(label_text: str) -> str:
    label_text = escape_unsafe(label_text)
    return label_text if len(label_text) <= _MAX_LABEL_LENGTH else f"{label_text[: _MAX_LABEL_LENGTH - 1]}…"


def broker_labeler(report_rows: Sequence[ReportRow]) -> Callable[[ReportRow], str]:
    """Return a function that labels the broker of a row: name and id, with the cluster if rows have several.

    5.x logs do not always contain all of these.
    """
    has_several_clusters = (
        len({report_row.get("cluster") for report_row in report_rows if report_row["brokerName"]}) > 1
    )

    def label_broker(report_row: ReportRow) -> str:
        broker_label = str(report_row["brokerName"] or "-")
        if has_several_clusters and report_row.get("cluster") is not None:
            broker_label = f"{report_row['cluster']}/{broker_label}"
        return (
            broker_label if report_row.get("brokerId") is None else f"{broker_label}:{report_row['brokerId']}"
        )

    return label_broker
