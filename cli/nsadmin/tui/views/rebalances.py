"""The progress of a rebalance by topic and broker. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import MovingTopicRecord, RebalanceRecord
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view_targets import TopicTarget


class MovingQueuesRow(NamedTuple):
    """A topic in motion on one broker, and the current time (ms since 1970).

    `queues` are the read and write queues that the broker has after the step; None before the first step.
    """

    moving_topic: MovingTopicRecord
    broker_name: str
    queues: tuple[int, int] | None
    now_ms: int


def _step_cell(row: MovingQueuesRow) -> Cell:
    topic = row.moving_topic
    filled_count = max(topic.position - 1, 0)
    return Cell("■" * filled_count + "□" * (topic.stage_count - filled_count), "info")


def _waits_text(row: MovingQueuesRow) -> str:
    return "; ".join(row.moving_topic.waits)


class RebalanceView(View):
    """The topics that a rebalance moves now, with a row for each broker."""

    view_name = "rebalance"
    empty_text = "no topic is moving now; the rebalance is finished, or begins"
    columns: Sequence[Column[MovingQueuesRow]] = (
        Column("topic", "TOPIC", 20, "topic that moves now",
               lambda row: row.moving_topic.topic, tone="strong"),
        Column("broker", "BROKER", 16, "", lambda row: row.broker_name),
        Column("read", "READ", 5, "read queues that the broker gets in this step",
               lambda row: row.queues[0] if row.queues else None,
               cell=lambda row: Cell(str(row.queues[0]) if row.queues else ""), right=True, flash=True),
        Column("write", "WRITE", 5, "write queues that the broker gets in this step",
               lambda row: row.queues[1] if row.queues else None,
               cell=lambda row: Cell(str(row.queues[1]) if row.queues else ""), right=True, flash=True),
        Column("steps", "STEPS", 12, "one block for each step, filled if it is completed",
               lambda row: row.moving_topic.position, cell=_step_cell, drop=2),
        Column("step", "STEP", 12,
               "openReads, openWrites, closeWrites, closeReads, deleteTopic, or one of ordered topics",
               lambda row: row.moving_topic.stage, tone="info", flash=True),
        Column("since", "SINCE", 8, "time since the step began",
               lambda row: row.now_ms - row.moving_topic.since, show=units.format_age, right=True, drop=1),
        Column("waits", "WAITING FOR", 24, "missing conditions of the step at the last check",
               _waits_text, tone="warn", grow=True),
    )  # fmt: skip

    def __init__(self, cluster_name: str, digest: str) -> None:
        self.cluster_name = cluster_name
        self.digest = digest

    @property
    def view_title(self) -> str:
        return f"rebalance of {self.cluster_name}"

    def _find_record(self, model: ClusterModel) -> RebalanceRecord | None:
        records = model.drains_poll.rebalances if model.drains_poll is not None else ()
        return next(
            (
                record
                for record in records
                if (record.cluster, record.digest) == (self.cluster_name, self.digest)
            ),
            None,
        )

    def build_rows(self, model: ClusterModel) -> Sequence[MovingQueuesRow]:
        record = self._find_record(model)
        rows: list[MovingQueuesRow] = []
        for topic in record.topics if record is not None else ():
            rows += [
                MovingQueuesRow(topic, name, queues, model.now_ms) for name, queues in topic.queues.items()
            ] or [MovingQueuesRow(topic, "", None, model.now_ms)]
        return rows

    def row_key(self, row: MovingQueuesRow) -> str:
        return f"{row.moving_topic.topic} {row.broker_name}"

    def subject_of_row(self, row: MovingQueuesRow) -> RowSubject:
        return RowSubject(broker_name=row.broker_name or None, topic=row.moving_topic.topic)

    def render_headline(self, model: ClusterModel) -> CellLine:
        record = self._find_record(model)
        if record is None:
            return [Cell("this rebalance is finished", "good")]
        holder_text = "not running" if record.pid is None else f"pid {record.pid or units.UNKNOWN_MARK}"
        counts_text = f"  {record.moved_count} moved, {len(record.topics)} moving  {holder_text}"
        headline = [Cell(record.phase, "info"), Cell(counts_text, "dim")]
        return headline if record.pause is None else [*headline, Cell(f"  {record.pause}", "bad")]

    def open_row(self, row: MovingQueuesRow) -> TopicTarget:
        return TopicTarget(row.moving_topic.topic)
