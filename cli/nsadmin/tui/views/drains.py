"""The list of drains and their progress. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import units
from nsadmin.tui.model import Model
from nsadmin.tui.polls import Drain
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view import About, Line, View

PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


class DrainRow(NamedTuple):
    """A drain and the current time (ms since 1970)."""

    drain: Drain
    now: int


def _phase(row: DrainRow) -> Cell:
    phase = row.drain.phase
    if phase == "undrain":
        return Cell("being undone", "info")
    return Cell(phase, "good" if phase == "safe" else "info")


def _steps(row: DrainRow) -> Cell:
    """The progress as a filled block for each finished phase."""
    if row.drain.phase not in PHASES:
        return Cell("")
    done = PHASES.index(row.drain.phase)
    is_safe = row.drain.phase == "safe"
    return Cell("■" * (done + is_safe) + "□" * (len(PHASES) - done - is_safe), "good" if is_safe else "info")


def _safe_for(row: DrainRow) -> int | None:
    return None if row.drain.safe_since is None else row.now - row.drain.safe_since


def _puts(row: DrainRow) -> Cell:
    """The puts per minute. If no process runs the drain, the figure is old and shown with its age."""
    puts = row.drain.puts
    if puts is None or row.drain.pid is None:
        held = "" if puts is None else f" {units.age(row.now - row.drain.updated)} ago"
        return Cell(f"{units.count(puts)}{held}", "dim")
    return Cell(units.count(puts), "warn" if puts else "good")


class Drains(View):
    """All drains of this account that `undrain` has not ended."""

    name = "drains"
    title = "Drains"
    empty = "no drain is kept on this machine; d drains the broker of a row"
    columns = (
        Column(
            "broker",
            "BROKER",
            16,
            lambda d: d.drain.broker_name,
            lambda d: Cell(d.drain.broker_name, "strong"),
        ),
        Column(
            "cluster",
            "CLUSTER",
            12,
            lambda d: d.drain.cluster,
            lambda d: Cell(d.drain.cluster, "dim"),
            rank=4,
        ),
        Column(
            "steps",
            "STEPS",
            5,
            lambda d: d.drain.phase,
            _steps,
            rank=2,
            help="a block for each phase behind it",
        ),
        Column(
            "phase",
            "PHASE",
            12,
            lambda d: d.drain.phase,
            _phase,
            flashes=True,
            help="snapshot: queues saved; wipe; settle: clients are told; wait for writes to end; safe",
        ),
        Column(
            "puts",
            "PUTS/min",
            8,
            lambda d: d.drain.puts,
            _puts,
            right=True,
            help="messages that are still put to it per minute, as the drain counts them",
        ),
        Column(
            "safe",
            "SAFE FOR",
            8,
            _safe_for,
            lambda d: Cell(units.age(_safe_for(d)), "good"),
            right=True,
            help="since when the broker can be stopped",
        ),
        Column(
            "since",
            "BEGUN",
            8,
            lambda d: d.now - d.drain.started,
            lambda d: Cell(units.age(d.now - d.drain.started)),
            right=True,
            rank=1,
            help="how long ago",
        ),
        Column(
            "reopened",
            "REOPENED",
            8,
            lambda d: d.drain.reopened,
            lambda d: Cell(str(d.drain.reopened), "warn" if d.drain.reopened else "dim"),
            right=True,
            rank=3,
            flashes=True,
            help="how often a registration opened topics again",
        ),
        Column("by", "BY", 12, lambda d: d.drain.by, lambda d: Cell(d.drain.by, "dim"), rank=6),
        Column(
            "at",
            "AT IT",
            8,
            lambda d: d.drain.pid is None,
            lambda d: Cell(
                "nobody" if d.drain.pid is None else f"pid {d.drain.pid}",
                "warn" if d.drain.pid is None and d.drain.phase != "safe" else "",
            ),
            rank=5,
            help="the process that keeps writes stopped",
        ),
        Column(
            "last",
            "LAST",
            20,
            lambda d: d.drain.last,
            lambda d: Cell(d.drain.last),
            grows=True,
            help="what happened last",
        ),
    )

    def items(self, model: Model) -> Sequence[DrainRow]:
        return [DrainRow(drain, model.now) for drain in (model.drains.drains if model.drains else ())]

    def key(self, item: DrainRow) -> str:
        return f"{item.drain.cluster} {item.drain.broker_name}"

    def about(self, item: DrainRow) -> About:
        return About(broker_name=item.drain.broker_name, cluster=item.drain.cluster)

    def headline(self, model: Model) -> Line:
        errors = model.drains.errors if model.drains else ()
        return [
            Cell("of this account, on this machine", "dim"),
            *(Cell(f"  {text}", "bad") for text in errors),
        ]

    def enter(self, item: DrainRow) -> View:
        from nsadmin.tui.views.events import Object

        return Object(item.drain.broker_name)
