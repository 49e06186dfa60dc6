"""The list of drains and their progress. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import DrainRecord
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view_targets import DrainTarget

DRAIN_PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


class DrainRow(NamedTuple):
    """A drain and the current time (ms since 1970)."""

    drain_record: DrainRecord
    now_ms: int


def _phase_cell(row: DrainRow) -> Cell:
    drain_phase = row.drain_record.phase
    if drain_phase == "undrain":
        return Cell("undoing", "info")
    return Cell(drain_phase, "good" if drain_phase == "safe" else "info")


def _progress_cell(row: DrainRow) -> Cell:
    """The progress as a filled block for each finished phase."""
    if row.drain_record.phase not in DRAIN_PHASES:
        return Cell("")
    phase_index = DRAIN_PHASES.index(row.drain_record.phase)
    is_safe = row.drain_record.phase == "safe"
    return Cell(
        "■" * (phase_index + is_safe) + "□" * (len(DRAIN_PHASES) - phase_index - is_safe),
        "good" if is_safe else "info",
    )


def _safe_for_ms(row: DrainRow) -> int | None:
    return None if row.drain_record.safe_since is None else row.now_ms - row.drain_record.safe_since


def _puts_cell(row: DrainRow) -> Cell:
    """The puts per minute. If no process runs the drain, the figure is old and shown with its age."""
    puts_per_minute = row.drain_record.puts
    if puts_per_minute is None or row.drain_record.pid is None:
        age_suffix = (
            ""
            if puts_per_minute is None
            else f" {units.format_age(row.now_ms - row.drain_record.updated)} ago"
        )
        return Cell(f"{units.format_count(puts_per_minute)}{age_suffix}", "dim")
    return Cell(units.format_count(puts_per_minute), "warn" if puts_per_minute else "good")


def _holder_cell(row: DrainRow) -> Cell:
    if row.drain_record.pid is not None:
        return Cell(f"pid {row.drain_record.pid}")
    return Cell("undoing", "info") if row.drain_record.phase == "undrain" else Cell("not held", "bad")


class DrainsView(View):
    """All drains of this account that `undrain` has not ended."""

    view_name = "drains"
    view_title = "Drains"
    empty_text = "this machine has no drain; press d on a broker to drain it"
    columns: Sequence[Column[DrainRow]] = (
        Column(
            "broker",
            "BROKER",
            16,
            lambda row: row.drain_record.broker_name,
            lambda row: Cell(row.drain_record.broker_name, "strong"),
        ),
        Column(
            "cluster",
            "CLUSTER",
            12,
            lambda row: row.drain_record.cluster,
            lambda row: Cell(row.drain_record.cluster, "dim"),
            drop_rank=4,
        ),
        Column(
            "steps",
            "STEPS",
            5,
            lambda row: row.drain_record.phase,
            _progress_cell,
            drop_rank=2,
            help_text="one block for each completed phase",
        ),
        Column(
            "phase",
            "PHASE",
            12,
            lambda row: row.drain_record.phase,
            _phase_cell,
            flashes_changes=True,
            help_text=(
                "snapshot: saves queues, wipe: removes the write permission, settle: clients refresh routes, "
                "wait: writes end, safe"
            ),
        ),
        Column(
            "puts",
            "PUTS/min",
            8,
            lambda row: row.drain_record.puts,
            _puts_cell,
            is_right_aligned=True,
            help_text="messages that the broker still receives per minute",
        ),
        Column(
            "safe",
            "SAFE FOR",
            8,
            _safe_for_ms,
            lambda row: Cell(units.format_age(_safe_for_ms(row)), "good"),
            is_right_aligned=True,
            help_text="time since the broker is safe to stop",
        ),
        Column(
            "since",
            "STARTED",
            8,
            lambda row: row.now_ms - row.drain_record.started,
            lambda row: Cell(units.format_age(row.now_ms - row.drain_record.started)),
            is_right_aligned=True,
            drop_rank=1,
            help_text="time since the start",
        ),
        Column(
            "reopened",
            "REOPENED",
            8,
            lambda row: row.drain_record.reopened,
            lambda row: Cell(str(row.drain_record.reopened), "warn" if row.drain_record.reopened else "dim"),
            is_right_aligned=True,
            drop_rank=3,
            flashes_changes=True,
            help_text="how often a registration restored the write permission",
        ),
        Column(
            "by",
            "BY",
            12,
            lambda row: row.drain_record.by,
            lambda row: Cell(row.drain_record.by, "dim"),
            drop_rank=6,
        ),
        Column(
            "at",
            "PROCESS",
            11,
            lambda row: row.drain_record.pid is None,
            _holder_cell,
            help_text="process that holds the drain; if it is missing, a registration can reopen the broker",
        ),
        Column(
            "last",
            "LAST",
            20,
            lambda row: row.drain_record.last,
            lambda row: Cell(row.drain_record.last),
            grows_to_fit=True,
            help_text="last event",
        ),
    )

    def build_rows(self, model: ClusterModel) -> Sequence[DrainRow]:
        return [
            DrainRow(drain_record, model.now_ms)
            for drain_record in (model.drains_poll.drains if model.drains_poll else ())
        ]

    def row_key(self, row: DrainRow) -> str:
        return f"{row.drain_record.cluster} {row.drain_record.broker_name}"

    def subject_of_row(self, row: DrainRow) -> RowSubject:
        return RowSubject(
            broker_name=row.drain_record.broker_name,
            cluster=row.drain_record.cluster,
            holder_pid=row.drain_record.pid,
        )

    def render_headline(self, model: ClusterModel) -> CellLine:
        error_texts = model.drains_poll.errors if model.drains_poll else ()
        return [
            Cell("drains of this account on this machine", "dim"),
            *(Cell(f"  {error_text}", "bad") for error_text in error_texts),
        ]

    def open_row(self, row: DrainRow) -> DrainTarget:
        return DrainTarget(row.drain_record.cluster, row.drain_record.broker_name)


class DrainLogView(View):
    """The last events of one drain, newest at the bottom."""

    view_name = "drainLog"
    is_drawing = True

    def __init__(self, cluster_name: str, broker_name: str) -> None:
        self.cluster_name = cluster_name
        self.broker_name = broker_name

    @property
    def view_title(self) -> str:
        return f"drain of {self.broker_name}"

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        log_lines = next(
            (
                drain_record.log_lines
                for drain_record in (model.drains_poll.drains if model.drains_poll else ())
                if (drain_record.cluster, drain_record.broker_name) == (self.cluster_name, self.broker_name)
            ),
            None,
        )
        if log_lines is None:
            return [[], [Cell("  this drain was undone", "good")]]
        wrapped_lines = [
            line_part
            for log_line in log_lines
            for line_part in textwrap.wrap(log_line, max(width - 4, 40), subsequent_indent="    ")
        ]
        return [[Cell(f"  {wrapped_line}")] for wrapped_line in wrapped_lines[-height:]]
