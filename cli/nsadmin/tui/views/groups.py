"""The list of consumer groups with their lag and its growth. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import levels, units
from nsadmin.tui.model import Known, Model, Silence, Trend
from nsadmin.tui.polls import GroupPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.table import Cell, Column, Sort
from nsadmin.tui.views.view import About, Line, View


class GroupRow(NamedTuple):
    """A consumer group over all brokers and topics."""

    name: str
    known: Known[GroupPolled] | None
    trend: Trend | None
    now: int

    @property
    def poll(self) -> GroupPolled | None:
        return self.known.last if self.known is not None else None

    @property
    def lag(self) -> int | None:
        """The messages not consumed yet, on the queues with a committed offset."""
        if self.poll is None:
            return None
        return sum(lag.diff or 0 for lag in self.poll.lags)

    @property
    def growth(self) -> float | None:
        """The growth of the lag in messages per second, over the last ten polls."""
        if self.trend is None or len(self.trend.values) < 2:
            return None
        before = max(len(self.trend.values) - 11, 0)
        seconds = (self.trend.times[-1] - self.trend.times[before]) / 1000
        return (self.trend.values[-1] - self.trend.values[before]) / seconds if seconds else None

    @property
    def delay(self) -> int | None:
        """The age (ms) of the last consumed message, on the queue with a lag where it is oldest."""
        if self.poll is None:
            return None
        times = [lag.last_timestamp for lag in self.poll.lags if lag.diff and lag.last_timestamp]
        return self.now - min(times) if times else None


def _growth(row: GroupRow) -> Cell:
    growth = row.growth
    if growth is None or abs(growth) < 0.05:
        return Cell("" if growth is None else "→", "dim")
    return Cell(f"{'↑' if growth > 0 else '↓'} {units.rate(abs(growth))}/s", "warn" if growth > 1 else "good")


def _members(row: GroupRow) -> Cell:
    if row.poll is None:
        return Cell(units.NOTHING, "dim")
    number = len(row.poll.members)
    return Cell(str(number), "bad" if number == 0 and row.lag else "dim" if number == 0 else "")


COLUMNS = (
    Column("group", "GROUP", 24, lambda g: g.name, lambda g: Cell(g.name, "strong"), grows=True),
    Column(
        "members",
        "CLIENTS",
        7,
        lambda g: len(g.poll.members) if g.poll else None,
        _members,
        right=True,
        flashes=True,
        help="that are connected",
    ),
    Column(
        "lag",
        "LAG",
        7,
        lambda g: g.lag,
        lambda g: Cell(units.count(g.lag), levels.lag(g.lag)),
        right=True,
        help="messages not consumed yet; coloured as check lag has it",
    ),
    Column(
        "trend",
        "",
        12,
        lambda g: g.lag,
        lambda g: Cell(units.sparkline(g.trend.values, 12, 1) if g.trend else "", "spark"),
        rank=2,
        help="the lag over the last looks",
    ),
    Column(
        "growth",
        "GROWS",
        10,
        lambda g: g.growth,
        _growth,
        right=True,
        rank=1,
        help="↑ falls behind, ↓ catches up, → stays; over the last ten looks",
    ),
    Column(
        "delay",
        "OLDEST",
        8,
        lambda g: g.delay,
        lambda g: Cell(units.age(g.delay)),
        right=True,
        rank=3,
        help="age of the last consumed message, of the queue where it is oldest and others wait",
    ),
    Column(
        "tps",
        "READS/s",
        8,
        lambda g: g.poll.tps if g.poll else None,
        lambda g: Cell(units.rate(g.poll.tps if g.poll else None)),
        right=True,
        help="messages consumed per second",
    ),
    Column(
        "topics",
        "TOPICS",
        7,
        lambda g: _topics(g),
        lambda g: Cell(units.count(_topics(g))),
        right=True,
        rank=4,
        help="topics that it has read",
    ),
    Column(
        "type",
        "TYPE",
        20,
        lambda g: g.poll.consume_type if g.poll else None,
        lambda g: Cell((g.poll and g.poll.consume_type) or "", "dim"),
        rank=5,
        help="how its clients consume",
    ),
)


def _topics(row: GroupRow) -> int | None:
    return None if row.poll is None else len({lag.topic for lag in row.poll.lags})


class Groups(View):
    """The consumer groups of all masters."""

    name = "groups"
    title = "Groups"
    columns = COLUMNS
    sort = Sort("lag", True)
    empty = "no broker knows a group"

    def items(self, model: Model) -> Sequence[GroupRow]:
        names = model.group_names.last.names if model.group_names.last is not None else ()
        return [GroupRow(name, model.groups.get(name), model.lags.get(name), model.now) for name in names]

    def key(self, item: GroupRow) -> str:
        return item.name

    def text(self, item: GroupRow) -> str:
        return item.name

    def about(self, item: GroupRow) -> About:
        return About(group=item.name)

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("groups")]

    def silence(self, model: Model) -> Silence | None:
        return model.silence() or model.group_names.silence

    def nothing(self, model: Model) -> str:
        if model.group_names.last is None and self.silence(model) is None:
            return model.awaited("groups are")
        return super().nothing(model)

    def enter(self, item: GroupRow) -> View:
        from nsadmin.tui.views.group import GroupQueues

        return GroupQueues(item.name)

    def headline(self, model: Model) -> Line:
        found = self.items(model)
        lags = [row.lag for row in found if row.lag is not None]
        total = sum(lags) if lags or not found else None
        if model.group_names.last is None:
            return [Cell(f"{units.NOTHING} groups", "strong")]
        shown = [
            Cell(f"{len(found)} groups", "strong"),
            Cell("  behind by "),
            Cell(units.count(total), "accent"),
        ]
        errors = model.group_names.last.errors
        if errors:
            shown.append(Cell(f"  {len(errors)} brokers did not tell theirs", "warn"))
        return shown
