"""The producers that are connected to the masters of a topic. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.model import Model
from nsadmin.tui.polls import Member
from nsadmin.tui.questions import Question
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.topic import TopicView
from nsadmin.tui.views.view import Line

_MOST = 12
"""The most masters to ask. A producer is connected to all masters of its topic, so the first ones suffice."""


class ProducerRow(NamedTuple):
    """A client of a producer group, and the masters of the topic that it is connected to."""

    group: str
    member: Member
    brokers: tuple[str, ...]


class TopicProducers(TopicView):
    """The producers that may send to the topic. Brokers do not know to which topics a producer sends."""

    name = "producers"
    empty = "no producer is connected to its brokers, as far as they have told"
    columns = (
        Column(
            "group", "PRODUCER GROUP", 26, lambda p: p.group, lambda p: Cell(p.group, "strong"), grows=True
        ),
        Column("client", "CLIENT", 34, lambda p: p.member.client_id, lambda p: Cell(p.member.client_id)),
        Column(
            "brokers",
            "ON",
            3,
            lambda p: len(p.brokers),
            lambda p: Cell(str(len(p.brokers))),
            right=True,
            flashes=True,
            help="masters of the topic that it is connected to",
        ),
        Column("addr", "ADDRESS", 21, lambda p: p.member.addr, lambda p: Cell(p.member.addr, "dim"), rank=2),
        Column(
            "language",
            "LANGUAGE",
            8,
            lambda p: p.member.language,
            lambda p: Cell(p.member.language, "dim"),
            rank=1,
        ),
        Column(
            "version",
            "VERSION",
            8,
            lambda p: p.member.version,
            lambda p: Cell(p.member.version, "dim"),
            rank=1,
        ),
    )

    def _masters(self, model: Model) -> dict[str, str]:
        """The names of the topic's masters by address."""
        poll = self.poll(model)
        names = {name for route in poll.routes.values() if route for name in route} if poll else set()
        found = {
            broker.place[2]: name
            for name in sorted(names)
            for broker in model.siblings(name)
            if broker.place[1] == 0 and broker.gone is None
        }
        return dict(list(found.items())[:_MOST])

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        asked = [Question("connections", addr) for addr in self._masters(model)]
        return [*super().questions(model, visible, current), *asked]

    def items(self, model: Model) -> Sequence[ProducerRow]:
        found: dict[tuple[str, str], ProducerRow] = {}
        for addr, name in self._masters(model).items():
            known = model.connections.get(addr)
            producers = known.last.producers if known is not None and known.last is not None else None
            for group, members in (producers or {}).items():
                for member in members:
                    row = found.get((group, member.client_id), ProducerRow(group, member, ()))
                    found[group, member.client_id] = row._replace(brokers=(*row.brokers, name))
        return [found[key] for key in sorted(found)]

    def key(self, item: ProducerRow) -> str:
        return f"{item.group} {item.member.client_id}"

    def headline(self, model: Model) -> Line:
        silent = [
            name
            for addr, name in self._masters(model).items()
            if (known := model.connections.get(addr)) is not None and known.error is not None
        ]
        shown = [*super().headline(model), Cell("  connected to its masters; any of them may send", "dim")]
        return [*shown, Cell(f"  not told by {', '.join(silent)}", "warn")] if silent else shown
