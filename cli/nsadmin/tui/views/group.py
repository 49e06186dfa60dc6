"""The tabs of one consumer group: queues, connected clients, and a graph of the lag. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nsadmin.tui import levels, units
from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import GroupPolled, Lag, Member
from nsadmin.tui.questions import Question
from nsadmin.tui.views.groups import GroupRow
from nsadmin.tui.views.table import Cell, Column, Sort
from nsadmin.tui.views.view import About, Line, View


class GroupView(View):
    """The base class of all tabs of a consumer group."""

    def __init__(self, group: str) -> None:
        self.group = group

    @property
    def title(self) -> str:
        return self.group

    def tabs(self) -> Sequence[View]:
        return [GroupQueues(self.group), Members(self.group), LagGraph(self.group)]

    def about(self, item: Any) -> About:
        return About(group=self.group)

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("group", self.group)]

    def poll(self, model: Model) -> GroupPolled | None:
        known = model.groups.get(self.group)
        return known.last if known is not None else None

    def silence(self, model: Model) -> Silence | None:
        known = model.groups.get(self.group)
        return model.silence() or (known.silence if known is not None else None)

    def nothing(self, model: Model) -> str:
        if self.group not in model.groups and self.silence(model) is None:
            return model.awaited("it is")
        return super().nothing(model)

    def headline(self, model: Model) -> Line:
        known = model.groups.get(self.group)
        if known is None:
            return [Cell(model.awaited("it is"), "dim")]
        if known.last is None:
            return [Cell("nothing is known of it", "warn")]
        row = GroupRow(self.group, known, model.lags.get(self.group), model.now)
        return [
            Cell("behind by "),
            Cell(units.count(row.lag), levels.lag(row.lag) or "accent"),
            Cell(f"  {len(known.last.members)} clients", "strong"),
            Cell(f"  {known.last.consume_type or ''} {known.last.message_model or ''}", "dim"),
        ]


class GroupQueues(GroupView):
    """The lag of the group on each queue."""

    name = "queues"
    grouping = "topic"
    sort = Sort("lag", True)
    empty = "no broker knows an offset of it"
    columns = (
        Column("topic", "TOPIC", 20, lambda q: q.topic, lambda q: Cell(q.topic, "strong"), grows=True),
        Column("broker", "BROKER", 14, lambda q: q.broker_name, lambda q: Cell(q.broker_name)),
        Column("queue", "QUEUE", 5, lambda q: q.queue_id, lambda q: Cell(str(q.queue_id)), right=True),
        Column(
            "lag",
            "LAG",
            8,
            lambda q: q.diff,
            lambda q: Cell(units.count(q.diff), levels.lag(q.diff)),
            right=True,
            help="messages not consumed yet; – where nothing was ever committed",
        ),
        Column(
            "inflight",
            "INFLIGHT",
            8,
            lambda q: q.inflight,
            lambda q: Cell(units.count(q.inflight)),
            right=True,
            rank=2,
            help="handed out and not acknowledged yet",
        ),
        Column(
            "end",
            "END",
            14,
            lambda q: q.broker_offset,
            lambda q: Cell(str(q.broker_offset), "dim"),
            right=True,
            rank=3,
            help="the queue's next offset",
        ),
        Column(
            "offset",
            "OFFSET",
            14,
            lambda q: q.consumer_offset,
            lambda q: Cell(units.NOTHING if q.consumer_offset is None else str(q.consumer_offset), "dim"),
            right=True,
            rank=3,
            help="the next message to be consumed",
        ),
        Column(
            "last",
            "LAST CONSUMED",
            19,
            lambda q: q.last_timestamp,
            lambda q: Cell(units.moment(q.last_timestamp), "dim"),
            rank=1,
            help="when the last consumed message was stored",
        ),
    )

    def items(self, model: Model) -> Sequence[Lag]:
        poll = self.poll(model)
        return list(poll.lags) if poll is not None else []

    def told(self, items: Sequence[Lag]) -> Line:
        total = sum(item.diff or 0 for item in items)
        behind = Cell(units.count(total), levels.lag(total) or "accent")
        return [Cell(f"{len(items)} queues", "dim"), Cell("  behind by "), behind]

    def key(self, item: Lag) -> str:
        return f"{item.topic} {item.broker_name} {item.queue_id}"

    def about(self, item: Lag) -> About:
        return About(group=self.group, topic=item.topic, broker_name=item.broker_name)

    def enter(self, item: Lag) -> View:
        from nsadmin.tui.views.topic import Route

        return Route(item.topic)


class Members(GroupView):
    """The connected clients of the group."""

    name = "members"
    empty = "nobody of it is connected"
    columns = (
        Column(
            "client", "CLIENT", 34, lambda m: m.client_id, lambda m: Cell(m.client_id, "strong"), grows=True
        ),
        Column("addr", "ADDRESS", 21, lambda m: m.addr, lambda m: Cell(m.addr)),
        Column("language", "LANGUAGE", 9, lambda m: m.language, lambda m: Cell(m.language, "dim"), rank=1),
        Column("version", "VERSION", 9, lambda m: m.version, lambda m: Cell(m.version, "dim"), rank=1),
    )

    def items(self, model: Model) -> Sequence[Member]:
        poll = self.poll(model)
        return list(poll.members) if poll is not None else []

    def key(self, item: Member) -> str:
        return f"{item.client_id} {item.addr}"


class LagGraph(GroupView):
    """The lag of the group since nsadmin first polled it, for at most an hour."""

    name = "graph"
    is_drawing = True

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        from nsadmin.tui.views.graphs import graph

        trend = model.lags.get(self.group)
        return graph("messages behind", {self.group: trend} if trend is not None else {}, width, height)
