"""The consumer groups that read a topic, with their lag on this topic. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client.consumers.lag import sum_lags
from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.groups.group_rows import GroupRow
from nsadmin.tui.views.table import Cell, Column, SortOrder
from nsadmin.tui.views.topics.topic_detail import TopicDetailView
from nsadmin.tui.views.view_targets import GroupTarget


class ReaderRow(NamedTuple):
    """A consumer group that reads the topic, and its progress on this topic."""

    topic: str
    group_row: GroupRow

    @property
    def topic_lag(self) -> int | None:
        """The messages of this topic that the group has not consumed yet. None: unknown."""
        poll = self.group_row.poll
        if poll is None:
            return None
        return sum_lags(queue.lag for queue in poll.lags if queue.topic == self.topic).messages

    @property
    def oldest_ms(self) -> int | None:
        """The age (ms) of the last consumed message, on the queue with a lag where it is oldest."""
        poll = self.group_row.poll
        times = [
            queue.last_timestamp
            for queue in (poll.lags if poll is not None else ())
            if queue.topic == self.topic and queue.diff and queue.last_timestamp
        ]
        return self.group_row.now_ms - min(times) if times else None


def _clients_cell(row: ReaderRow) -> Cell:
    client_count = row.group_row.client_count
    return Cell(row.group_row.client_text, "bad" if client_count == 0 and row.topic_lag else "")


class TopicReadersView(TopicDetailView):
    """The consumer groups that read the topic."""

    view_name = "groups"
    empty_text = "no consumer group reads the topic, according to the brokers that answered"
    default_sort = SortOrder("lag", True)
    columns: Sequence[Column[ReaderRow]] = (
        Column("group", "CONSUMER GROUP", 30, "",
               lambda row: row.group_row.group, tone="strong", grow=True),
        Column("members", "CLIENTS", 7, "connected clients of the group",
               lambda row: row.group_row.client_count, cell=_clients_cell, right=True, flash=True),
        Column("lag", "LAG", 7, "messages of this topic not consumed yet",
               lambda row: row.topic_lag, show=units.format_count, tone=alert_levels.lag_tone, right=True),
        Column("delay", "OLDEST", 8, "age of the oldest message of this topic that waits for the group",
               lambda row: row.oldest_ms, show=units.format_age, right=True, drop=1),
        Column("total", "LAG OF ALL", 10, "messages of all topics of the group not consumed yet",
               lambda row: row.group_row.total_lag, show=units.format_count, tone="dim", right=True, drop=2),
    )  # fmt: skip

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("topic", self.topic), DetailQuery("groups")]

    def build_rows(self, model: ClusterModel) -> Sequence[ReaderRow]:
        poll = self.find_poll(model)
        return [
            ReaderRow(
                self.topic,
                GroupRow(group, model.group_answers.get(group), model.lag_trends.get(group), model.now_ms),
            )
            for group in (poll.groups or () if poll is not None else ())
        ]

    def row_key(self, row: ReaderRow) -> str:
        return row.group_row.group

    def subject_of_row(self, row: ReaderRow) -> RowSubject:
        return RowSubject(topic=self.topic, group=row.group_row.group)

    def open_row(self, row: ReaderRow) -> GroupTarget:
        return GroupTarget(row.group_row.group)
