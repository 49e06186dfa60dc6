"""The list of drains, rolling restarts and rebalances, and their progress. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import (
    DrainRecord,
    DrainsPolled,
    MovingTopicRecord,
    RebalanceRecord,
    RestartRecord,
)
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View, open_topic
from nsadmin.tui.views.table import Cell, Column

DRAIN_PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


JobRecord: TypeAlias = DrainRecord | RestartRecord | RebalanceRecord


class JobRow(NamedTuple):
    """A drain, a rolling restart or a rebalance, the current time (ms), and what its columns show.

    `subject_text` is the broker that is drained, or the process that is being restarted. `last_text` is the
    last event, or the conditions that a rebalance waits for. `drain` is None for another job.
    """

    record: JobRecord
    now_ms: int
    subject_text: str
    phase_text: str
    progress: Cell
    last_text: str
    drain: DrainRecord | None = None

    @property
    def safe_for_ms(self) -> int | None:
        """The time since the broker is safe to stop; None before, and for a restart."""
        safe_since_ms = self.drain.safe_since if self.drain is not None else None
        return None if safe_since_ms is None else self.now_ms - safe_since_ms


def _make_row(record: JobRecord, now_ms: int) -> JobRow:
    if isinstance(record, RebalanceRecord):
        subject_text, phase_text = count_noun(len(record.topics), "topic"), f"rebalance: {record.phase}"
        waits = [f"{topic.topic}: {topic.waits[0]}" for topic in record.topics if topic.waits]
        progress = Cell(f"{record.moved_count} moved", "info")
        return JobRow(record, now_ms, subject_text, phase_text, progress, record.pause or "; ".join(waits))
    if isinstance(record, RestartRecord):
        progress, phase_text = (
            Cell(f"{record.position}/{record.process_count}", "info"),
            f"restart: {record.step}",
        )
        return JobRow(record, now_ms, record.process_title, phase_text, progress, record.last)
    phase_text, progress = "undoing" if record.phase == "undrain" else record.phase, Cell("")
    if record.phase in DRAIN_PHASES:
        is_safe = record.phase == "safe"
        blocks = _draw_blocks(DRAIN_PHASES.index(record.phase) + is_safe, len(DRAIN_PHASES))
        progress = Cell(blocks, "good" if is_safe else "info")
    return JobRow(record, now_ms, record.broker_name, phase_text, progress, record.last, record)


def _draw_blocks(filled_count: int, count: int) -> str:
    """A filled block for each finished step."""
    return "■" * filled_count + "□" * (count - filled_count)


def _puts_cell(row: JobRow) -> Cell:
    """The puts per minute. If no process runs the drain, the figure is old and shown with its age."""
    if row.drain is None:
        return Cell("")
    puts, text = row.drain.puts, units.format_count(row.drain.puts)
    if puts is None:
        return Cell(text, "dim")
    if row.drain.pid is None:
        return Cell(f"{text} {units.format_age(row.now_ms - row.drain.updated)} ago", "dim")
    return Cell(text, "warn" if puts else "good")


def _safe_cell(row: JobRow) -> Cell:
    return Cell("") if row.drain is None else Cell(units.format_age(row.safe_for_ms), "good")


def _reopened_cell(row: JobRow) -> Cell:
    if row.drain is None:
        return Cell("")
    return Cell(str(row.drain.reopened), "warn" if row.drain.reopened else "dim")


def _holder_cell(row: JobRow) -> Cell:
    if row.record.pid is not None:
        return Cell(f"pid {row.record.pid or units.UNKNOWN_MARK}")
    return Cell("undoing", "info") if row.phase_text == "undoing" else Cell("not running", "bad")


class DrainsView(View):
    """The drains that `undrain` has not ended, and the unfinished rolling restarts and rebalances."""

    name = "drains"
    title = "Drains"
    empty_text = (
        "no drain and no rolling restart of these servers; on a broker, d drains it and R restarts all"
    )
    columns: Sequence[Column[JobRow]] = (
        Column("broker", "BROKER", 16, "drained broker, or the process that a rolling restart restarts now",
               lambda row: row.subject_text, tone="strong"),
        Column("cluster", "CLUSTER", 12, "", lambda row: row.record.cluster, tone="dim", drop=4),
        Column("steps", "STEPS", 7,
               "one block for each completed phase; for a restart the number of restarted processes",
               lambda row: row.phase_text, cell=lambda row: row.progress, drop=2),
        Column("phase", "PHASE", 16,
               "snapshot: saves queues, wipe: removes the write permission, settle: clients refresh routes, "
               "wait: writes end, safe; restart: drain, stop, start, wait, undrain",
               lambda row: row.phase_text, tone=lambda phase: "good" if phase == "safe" else "info",
               flash=True),
        Column("puts", "PUTS/min", 8, "messages that the broker still receives per minute",
               lambda row: row.drain.puts if row.drain is not None else None, cell=_puts_cell, right=True),
        Column("safe", "SAFE FOR", 8, "time since the broker is safe to stop",
               lambda row: row.safe_for_ms, cell=_safe_cell, right=True),
        Column("since", "STARTED", 8, "time since the start",
               lambda row: row.now_ms - row.record.started, show=units.format_age, right=True, drop=1),
        Column("reopened", "REOPENED", 8, "how often a registration restored the write permission",
               lambda row: row.drain.reopened if row.drain is not None else None, cell=_reopened_cell,
               right=True, drop=3, flash=True),
        Column("by", "BY", 12, "", lambda row: row.record.by, tone="dim", drop=6),
        Column("at", "PROCESS", 11,
               "process that runs it; without one, a registration can restore the write permission of a "
               "drained broker, and a restart stands still",
               lambda row: row.record.pid is None, cell=_holder_cell),
        Column("last", "LAST", 20, "last event", lambda row: row.last_text, grow=True),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[JobRow]:
        poll = model.drains_poll
        records: list[JobRecord] = [*poll.rebalances, *poll.restarts, *poll.drains]
        return [_make_row(record, model.now_ms) for record in records]

    def row_key(self, row: JobRow) -> str:
        record = row.record
        if isinstance(record, RebalanceRecord):
            return f"{record.cluster} rebalance {record.digest}"
        return f"{record.cluster} {row.drain.broker_name if row.drain is not None else 'restart'}"

    def subject_of_row(self, row: JobRow) -> RowSubject:
        record = row.record
        if isinstance(record, RebalanceRecord):
            return RowSubject(cluster=record.cluster)
        if isinstance(record, RestartRecord):
            commands = (record.stop_command, record.start_command)
            return RowSubject(cluster=record.cluster, holder_pid=record.pid, restart_commands=commands)
        return RowSubject(broker_name=record.broker_name, cluster=record.cluster, holder_pid=record.pid)

    def render_headline(self, model: ClusterModel) -> CellLine:
        return [
            Cell("drains and rolling restarts of this account on this machine", "dim"),
            *(Cell(f"  {error_text}", "bad") for error_text in model.drains_poll.errors),
        ]

    def open_row(self, row: JobRow) -> View:
        if isinstance(row.record, RebalanceRecord):
            return RebalanceView(row.record.cluster, row.record.digest)
        return DrainLogView(row.record.cluster, row.drain.broker_name if row.drain is not None else None)


class DrainLogView(View):
    """The last events of one drain, or of the restart of a cluster, newest at the bottom."""

    name = "drainLog"
    is_drawing = True

    def __init__(self, cluster_name: str, broker_name: str | None) -> None:
        self.cluster_name, self.broker_name = cluster_name, broker_name
        self.title = f"restart of {cluster_name}" if broker_name is None else f"drain of {broker_name}"

    def _find_record(self, poll: DrainsPolled) -> DrainRecord | RestartRecord | None:
        if self.broker_name is None:
            return next((r for r in poll.restarts if r.cluster == self.cluster_name), None)
        key = (self.cluster_name, self.broker_name)
        return next((drain for drain in poll.drains if (drain.cluster, drain.broker_name) == key), None)

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        record = self._find_record(model.drains_poll)
        if record is None:
            end_text = "this restart is finished" if self.broker_name is None else "this drain was undone"
            return [[], [Cell(f"  {end_text}", "good")]]
        text_width = max(width - 4, 40)
        wrapped = (textwrap.wrap(line, text_width, subsequent_indent="    ") for line in record.log_lines)
        lines: list[CellLine] = [[Cell(f"  {part}")] for parts in wrapped for part in parts]
        return lines[-height:]


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
    return Cell(_draw_blocks(max(topic.position - 1, 0), topic.stage_count), "info")


class RebalanceView(View):
    """The topics that a rebalance moves now, with a row for each broker."""

    name = "rebalance"
    key_fields = ("moving_topic.topic", "broker_name")
    empty_text = "no topic is moving now: the rebalance has finished, or has not begun"
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
               lambda row: "; ".join(row.moving_topic.waits), tone="warn", grow=True),
    )  # fmt: skip

    def __init__(self, cluster_name: str, digest: str) -> None:
        self.cluster_name, self.digest = cluster_name, digest
        self.title = f"rebalance of {cluster_name}"

    def _find_record(self, model: ClusterModel) -> RebalanceRecord | None:
        key, records = (self.cluster_name, self.digest), model.drains_poll.rebalances
        return next((r for r in records if (r.cluster, r.digest) == key), None)

    def build_rows(self, model: ClusterModel) -> Sequence[MovingQueuesRow]:
        record = self._find_record(model)
        rows: list[MovingQueuesRow] = []
        for topic in record.topics if record is not None else ():
            place_rows = [
                MovingQueuesRow(topic, name, queues, model.now_ms) for name, queues in topic.queues.items()
            ]
            rows += place_rows or [MovingQueuesRow(topic, "", None, model.now_ms)]
        return rows

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

    def open_row(self, row: MovingQueuesRow) -> View:
        return open_topic(row.moving_topic.topic)
