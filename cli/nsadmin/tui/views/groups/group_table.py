"""The list of consumer groups with their lag and its growth. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from nsadmin.client.consumers.lag import sum_lags
from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.model.server_states import LatestAnswer, last_poll_of
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import GroupPolled, GroupsPolled, QueueLag
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.base_view import CellLine, View, open_group
from nsadmin.tui.views.graphs import draw_graph
from nsadmin.tui.views.table import Cell, Column, SortOrder, align_text, draw_row_facts


class GroupRow(NamedTuple):
    group: str
    answer: LatestAnswer[GroupPolled] | None
    trend: Trend | None
    now_ms: int

    @property
    def poll(self) -> GroupPolled | None:
        return last_poll_of(self.answer)

    @property
    def is_fresh(self) -> bool:
        return self.answer is not None and self.answer.is_fresh

    @property
    def lag_text(self) -> str:
        """The lag; with a question mark if the group's brokers do not answer any more."""
        return units.format_count(self.total_lag) + ("?" if self.poll and not self.is_fresh else "")

    @property
    def client_count(self) -> int | None:
        """The connected clients. None: no client is known, and a broker did not return its connections."""
        poll = self.poll
        if poll is None or not self.is_fresh or (not poll.members and poll.unreported):
            return None
        return len(poll.members)

    @property
    def client_text(self) -> str:
        """The number of clients, with a plus sign if more clients may be connected to silent brokers."""
        if self.client_count is None or self.poll is None:
            return units.UNKNOWN_MARK
        return f"{self.client_count}{'+' if self.poll.unreported else ''}"

    @property
    def total_lag(self) -> int | None:
        """The messages not consumed yet, on the queues whose lag is known."""
        return None if self.poll is None else self.poll.lag.messages

    @property
    def lag_reason(self) -> str | None:
        """Why the lag is unknown, or lacks some queues."""
        return None if self.poll is None else self.poll.lag.reason

    @property
    def growth_rate(self) -> float | None:
        """The growth of the lag in messages per second, over the last ten polls."""
        trend = self.trend
        if trend is None or len(trend.values) < 2 or not self.is_fresh:
            return None
        first = max(len(trend.values) - 11, 0)
        seconds = (trend.times_ms[-1] - trend.times_ms[first]) / 1000
        growth = trend.values[-1] - trend.values[first]
        return growth / seconds if seconds and isfinite(growth) else None

    @property
    def catch_up_ms(self) -> float | None:
        """The time (ms) until the lag is 0 at the present trend. None if the lag does not shrink."""
        lag, growth = self.total_lag, self.growth_rate
        if not lag or growth is None or growth >= -0.05:
            return None
        return lag / -growth * 1000

    @property
    def delay_ms(self) -> int | None:
        return None if self.poll is None else find_delay_ms(self.poll.lags, self.now_ms)


def find_delay_ms(queues: Sequence[QueueLag], now_ms: int) -> int | None:
    """The age (ms) of the last consumed message, on the queue with a lag where it is oldest."""
    times = [queue.last_timestamp for queue in queues if queue.lag.messages and queue.last_timestamp]
    return now_ms - min(times) if times else None


def make_group_row(model: ClusterModel, group: str) -> GroupRow:
    return GroupRow(group, model.group_answers.get(group), model.lag_trends.get(group), model.now_ms)


def _trend_cell(row: GroupRow) -> Cell:
    return Cell(units.draw_sparkline(row.trend.values, 12, 1) if row.trend else "", "spark")


def _growth_cell(row: GroupRow) -> Cell:
    growth = row.growth_rate
    if growth is None or abs(growth) < 0.05:
        return Cell("" if growth is None else "→", "dim")
    sign, tone = "↑" if growth > 0 else "↓", "warn" if growth > 1 else "good"
    return Cell(f"{sign} {units.format_rate(abs(growth))}/s", tone)


def _catch_up_cell(row: GroupRow) -> Cell:
    if not row.total_lag or row.growth_rate is None:
        return Cell("", "dim")
    if row.catch_up_ms is None:
        return Cell("never", "warn") if row.growth_rate > 1 else Cell("")
    return Cell(f"in {units.format_age(row.catch_up_ms)}", "good")


def _clients_cell(row: GroupRow) -> Cell:
    if row.client_count:
        return Cell(row.client_text)
    return Cell(row.client_text, "bad" if row.client_count == 0 and row.total_lag else "dim")


GROUP_COLUMNS: Sequence[Column[GroupRow]] = (
    Column("group", "GROUP", 24, "", lambda row: row.group, tone="strong", grow=True),
    Column("members", "CLIENTS", 7, "connected clients; – or + if a broker did not return its clients",
           lambda row: row.client_count, cell=_clients_cell, right=True, flash=True),
    Column("lag", "LAG", 7, "messages not consumed yet, – if unknown; colored by the limits of check lag",
           lambda row: row.total_lag,
           cell=lambda row: Cell(row.lag_text, alert_levels.lag_tone(row.total_lag)), right=True),
    Column("trend", "", 12, "LAG over the last polls",
           lambda row: row.total_lag, cell=_trend_cell, drop=2),
    Column("growth", "GROWS", 10, "trend over the last ten polls: ↑ grows, ↓ shrinks, → is stable",
           lambda row: row.growth_rate, cell=_growth_cell, right=True, drop=1),
    Column("catchUp", "CATCHES UP", 10,
           "time until the lag is 0 at the trend of ten polls; never while it grows",
           lambda row: row.catch_up_ms, cell=_catch_up_cell, right=True, drop=3),
    Column("delay", "OLDEST", 8, "age of the oldest message that waits for the group",
           lambda row: row.delay_ms, show=units.format_age, right=True, drop=3),
    Column("tps", "READS/s", 8, "messages consumed per second",
           lambda row: row.poll.tps if row.poll and row.is_fresh else None,
           show=units.format_rate, right=True),
    Column("topics", "TOPICS", 7, "number of subscribed topics",
           lambda row: len({queue.topic for queue in row.poll.lags}) if row.poll else None,
           show=units.format_count, right=True, drop=4),
    Column("type", "TYPE", 20, "consume type",
           lambda row: row.poll.consume_type if row.poll else None,
           cell=lambda row: Cell((row.poll and row.poll.consume_type) or "", "dim"), drop=5),
)  # fmt: skip


_MAX_TOPIC_LINES = 8
_MIN_GRAPH_HEIGHT = 8


def _draw_topic_lags(row: GroupRow, width: int) -> list[CellLine]:
    """The topics with the largest lag of the group."""
    queues_by_topic: dict[str, list[QueueLag]] = {}
    for queue in row.poll.lags if row.poll is not None else ():
        queues_by_topic.setdefault(queue.topic, []).append(queue)
    lags = {topic: sum_lags(q.lag for q in queues).messages for topic, queues in queues_by_topic.items()}
    largest = sorted(lags.items(), key=lambda item: (-(item[1] or 0), item[0]))
    return [
        [
            Cell(f"  {align_text(topic, width - 12, False)}"),
            Cell(f"{units.format_count(lag):>8}", alert_levels.lag_tone(lag)),
        ]
        for topic, lag in largest[:_MAX_TOPIC_LINES]
    ]


class GroupsView(View):
    name = "groups"
    key_fields = ("group",)
    filter_fields = ("group",)
    has_messages = True
    title = "Groups"
    columns = GROUP_COLUMNS
    default_sort = SortOrder("lag", True)
    needs_name_servers = True
    awaited_phrase = "the groups are"
    empty_text = "no broker has a consumer group"

    def build_rows(self, model: ClusterModel) -> Sequence[GroupRow]:
        poll = model.group_names_answer.last_poll
        return [make_group_row(model, group) for group in (poll.names if poll is not None else ())]

    def subject_of_row(self, row: GroupRow) -> RowSubject:
        return RowSubject(group=row.group)

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("groups")]

    def draw_details(self, model: ClusterModel, row: GroupRow, width: int, height: int) -> list[CellLine]:
        """The columns, the lag of each topic, and a graph of the lag."""
        lines = draw_row_facts(self.columns, row, width)
        if row.lag_reason is not None:
            lines.append([Cell(f"  {row.lag_reason}", "dim")])
        lines += [[], *_draw_topic_lags(row, width)]
        graph_height = min(height - len(lines) - 1, width // 3)
        if row.trend is None or graph_height < _MIN_GRAPH_HEIGHT:
            return lines[:height]
        return [*lines, [], *draw_graph("lag", {"": row.trend}, width, graph_height)]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[GroupsPolled]:
        return model.group_names_answer

    def open_row(self, row: GroupRow) -> View:
        return open_group(row.group)

    def render_headline(self, model: ClusterModel) -> CellLine:
        names_poll, rows = model.group_names_answer.last_poll, self.build_rows(model)
        if names_poll is None:
            return [Cell(f"{units.UNKNOWN_MARK} groups", "strong")]
        lags = [row.total_lag for row in rows if row.total_lag is not None]
        total_lag = sum(lags) if lags or not rows else None
        cells = [
            Cell(count_noun(len(rows), "group"), "strong"),
            Cell("  lag "),
            Cell(units.format_count(total_lag), "accent"),
        ]
        unknown_count = sum(row.poll is not None and row.total_lag is None for row in rows)
        if unknown_count:
            cells.append(Cell(f"  {count_noun(unknown_count, 'group')} without a known lag", "dim"))
        times = [row.poll.at for row in rows if row.poll is not None]
        if times:
            cells.append(Cell(f"  updated {units.format_age(model.now_ms - min(times))} ago", "dim"))
        if len(times) < len(rows):
            cells.append(Cell(f"  {len(rows) - len(times)} not read yet", "dim"))
        if names_poll.errors:
            cells.append(Cell(f"  {count_noun(len(names_poll.errors), 'broker')} returned no groups", "warn"))
        return cells
