"""The tabs of one topic: its route on each name server, its consumer groups, and a diagram. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.client.consumers.lag import sum_lags
from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.messages.message_query import query_topic
from nsadmin.tui.messages.message_table import MessagesView
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import last_poll_of
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import QueueCounts, QueueLag, TopicPolled
from nsadmin.tui.views import alert_levels, display_states, events, units
from nsadmin.tui.views.base_view import CellLine, View, clip_lines, open_group
from nsadmin.tui.views.brokers.broker_detail import PRODUCER_COLUMNS, ProducerRow
from nsadmin.tui.views.groups.group_table import GroupRow, find_delay_ms, make_group_row
from nsadmin.tui.views.table import Cell, Column, SortOrder


class TopicRouteRow(NamedTuple):
    """A topic on one broker, with the queues on each name server.

    `is_current` means that all name servers answer.
    """

    broker_name: str
    queues_by_server: tuple[tuple[str, QueueCounts | None], ...]
    put_rate: float | None
    has_master: bool
    is_current: bool

    @property
    def first_queues(self) -> QueueCounts | None:
        return next((queues for _, queues in self.queues_by_server if queues is not None), None)

    @property
    def has_difference(self) -> bool:
        return len({queues for _, queues in self.queues_by_server}) > 1

    @property
    def are_equal(self) -> bool:
        """Whether at least two name servers report it, all answer, and all report the same."""
        return self.is_current and len(self.queues_by_server) > 1 and not self.has_difference


class TopicDetailView(View):
    """The base class of all tabs of a topic."""

    scope = "topics"
    needs_name_servers = True
    has_messages = True

    def __init__(self, topic: str) -> None:
        self.topic = self.title = topic

    def list_tabs(self) -> Sequence[View]:
        return list_topic_tabs(self.topic)

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject(topic=self.topic)

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("topic", self.topic)]

    def find_poll(self, model: ClusterModel) -> TopicPolled | None:
        return model.topic_polls.get(self.topic)

    def empty_message(self, model: ClusterModel) -> str:
        poll = self.find_poll(model)
        if poll is None and model.find_silence() is None:
            return model.describe_awaited("the topic is")
        if poll is not None and not poll.routes:
            return "unknown: no name server returned the route"
        return super().empty_message(model)

    def render_headline(self, model: ClusterModel) -> CellLine:
        poll = self.find_poll(model)
        if poll is None:
            return [Cell(model.describe_awaited("the route is"), "dim")]
        if not poll.routes:
            return [Cell("the route is unknown", "warn")]
        missing = [addr for addr, route in poll.routes.items() if not route]
        known_count, asked_count = len(poll.routes) - len(missing), len(poll.routes) + len(poll.errors)
        put_rate = sum(poll.put_tps.values()) if poll.put_tps else None
        cells = [Cell(f"on {known_count} of {asked_count} name servers", "strong")]
        if missing:
            cells.append(Cell(f"  not on {', '.join(missing)}", "bad"))
        if poll.errors:
            cells.append(Cell(f"  silent: {', '.join(poll.errors)}", "warn"))
        return [*cells, Cell("  in "), Cell(f"{units.format_rate(put_rate)}/s", "accent")]


def list_brokers(poll: TopicPolled | None) -> list[str]:
    """The brokers in the topic's route on any name server."""
    routes = poll.routes.values() if poll is not None else ()
    return sorted({broker for route in routes if route for broker in route})


def build_route_rows(model: ClusterModel, poll: TopicPolled) -> list[TopicRouteRow]:
    is_current = not poll.errors and not model.list_silent_servers()
    return [
        TopicRouteRow(
            broker,
            tuple((addr, (route or {}).get(broker)) for addr, route in poll.routes.items()),
            (poll.put_tps or {}).get(broker),
            any(r.key.id == 0 and r.gone_since_ms is None for r in model.list_replicas(broker)),
            is_current,
        )
        for broker in list_brokers(poll)
    ]


def _format_queues(queues: QueueCounts | None) -> str:
    return "absent" if queues is None else f"{perm_text(queues.perm)} {queues.write}/{queues.read}"


class TopicRouteView(TopicDetailView):
    """The queues and the permission of the topic, by broker and name server."""

    name = "route"
    key_fields = ("broker_name",)
    filter_fields = ("broker_name",)
    empty_text = "no name server that answers has a route"
    columns: Sequence[Column[TopicRouteRow]] = (
        Column("broker", "BROKER", 20, "", lambda row: row.broker_name, tone="strong", grow=True),
        Column("perm", "PERM", 5, "",
               lambda row: row.first_queues.perm if row.first_queues else None,
               cell=lambda row: _perm_cell(row), flash=True),
        Column("write", "WRITE", 6, "number of write queues",
               lambda row: row.first_queues.write if row.first_queues else None, show=units.format_count,
               right=True, flash=True),
        Column("read", "READ", 6, "number of read queues",
               lambda row: row.first_queues.read if row.first_queues else None, show=units.format_count,
               right=True, flash=True),
        Column("rate", "IN/s", 7, "messages put per second, over a minute",
               lambda row: row.put_rate, show=units.format_rate, right=True),
        Column("master", "MASTER", 7, "",
               lambda row: row.has_master, show=lambda is_there: "there" if is_there else "none",
               tone=lambda is_there: "" if is_there else "bad",
               drop=1, flash=True),
        Column("servers", "NAME SERVERS", 46,
               "equal if all name servers agree, – if one is silent or alone; otherwise each value",
               lambda row: not row.has_difference, cell=lambda row: _servers_cell(row), drop=2),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[TopicRouteRow]:
        poll = self.find_poll(model)
        return build_route_rows(model, poll) if poll is not None else []

    def subject_of_row(self, row: TopicRouteRow) -> RowSubject:
        return RowSubject(topic=self.topic, broker_name=row.broker_name)

    def open_row(self, row: TopicRouteRow) -> View:
        return MessagesView.of_topic(self.topic, row.broker_name)


def _perm_cell(row: TopicRouteRow) -> Cell:
    if row.first_queues is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    return Cell(perm_text(row.first_queues.perm), "" if row.first_queues.perm & 2 else "warn")


def _servers_cell(row: TopicRouteRow) -> Cell:
    if not row.has_difference:
        return Cell("equal" if row.are_equal else units.UNKNOWN_MARK, "dim")
    sides = (f"{addr} {_format_queues(queues)}" for addr, queues in row.queues_by_server)
    return Cell(f"≠ {'  '.join(sides)}", "bad")


class TopicHistoryView(TopicDetailView):
    """The detected changes and the journal events that concern the topic."""

    name = "history"
    puts_problems_first = False
    needs_name_servers = False  # Past events do not become old.
    empty_text = "no change since this screen was opened"
    columns = events.EVENT_COLUMNS

    def empty_message(self, model: ClusterModel) -> str:
        return self.empty_text

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        return events.notices_about(model, self.topic)


def _draw_stem(is_last: bool) -> Cell:
    return Cell("   └─ " if is_last else "   ├─ ", "dim")


class TopicDiagramView(TopicDetailView):
    name = "drawn"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        poll = self.find_poll(model)
        if poll is None:
            return [[Cell(model.describe_awaited(" the route is"), "dim")]]
        lines: list[CellLine] = [
            [],
            [Cell(f"  {self.topic}", "accent"), Cell("  is on the name servers", "dim")],
            *_server_tree_lines(poll),
            [],
            [Cell("  has queues on", "dim")],
            *_broker_tree_lines(model, build_route_rows(model, poll)),
        ]
        groups = list(poll.groups or ())
        if groups:
            lines += [[], [Cell("  is consumed by", "dim")]]
            lines += [[_draw_stem(group == groups[-1]), Cell(group, "strong")] for group in groups]
        return clip_lines(lines, height)


def _server_tree_lines(poll: TopicPolled) -> Iterator[CellLine]:
    addrs = [*poll.routes, *poll.errors]
    for addr in addrs:
        stem = _draw_stem(addr == addrs[-1])
        if addr in poll.errors:
            yield [stem, Cell("✕ ", "bad"), Cell(addr), Cell(f"  {poll.errors[addr]}", "bad")]
        elif route := poll.routes[addr]:
            queue_count = sum(queues.write for queues in route.values())
            counts_text = f"  {count_noun(len(route), 'broker')}, {count_noun(queue_count, 'queue')}"
            yield [stem, Cell("● ", "good"), Cell(addr), Cell(counts_text, "dim")]
        else:
            yield [stem, Cell("○ ", "bad"), Cell(addr), Cell("  absent", "bad")]


def _broker_tree_lines(model: ClusterModel, rows: list[TopicRouteRow]) -> Iterator[CellLine]:
    for row in rows:
        is_last = row is rows[-1]
        yield [
            _draw_stem(is_last),
            Cell(f"{row.broker_name:<20}", "strong"),
            Cell(f" {_format_queues(row.first_queues):<12}", _perm_cell(row).tone),
            Cell(f" {units.format_rate(row.put_rate)}/s", "accent"),
            Cell("" if row.has_master else "  no master", "bad"),
            Cell("  ≠ name servers differ" if row.has_difference else "", "bad"),
        ]
        replicas = list(model.list_replicas(row.broker_name))
        for broker in replicas:
            state = display_states.state_of_broker(broker)
            stem = ("      " if is_last else "   │  ") + ("└─ " if broker is replicas[-1] else "├─ ")
            yield [
                Cell(stem, "dim"),
                Cell(f"{state.sign} ", state.tone),
                Cell(f"{broker.key.role:<9}"),
                Cell(f"{broker.key.addr:<22}", "dim"),
                Cell(state.name, state.tone),
            ]


_MAX_ASKED_MASTERS = 12
"""The most masters to ask. A producer is connected to all masters of its topic, so the first ones suffice."""


class TopicProducersView(TopicDetailView):
    """The producers that may send to the topic. Brokers do not know to which topics a producer sends."""

    name = "producers"
    key_fields = ("group", "client.client_id")
    empty_text = "no producer is connected, according to the brokers that answered"
    columns: Sequence[Column[ProducerRow]] = (
        *PRODUCER_COLUMNS[:2],
        Column("brokers", "ON", 3, "masters of the topic that the producer is connected to",
               lambda row: len(row.brokers), right=True, flash=True),
        *PRODUCER_COLUMNS[2:],
    )  # fmt: skip

    def _find_masters(self, model: ClusterModel) -> dict[str, str]:
        name_by_addr = {
            broker.key.addr: name
            for name in list_brokers(self.find_poll(model))
            for broker in model.list_replicas(name)
            if broker.key.id == 0 and broker.gone_since_ms is None
        }
        return dict(list(name_by_addr.items())[:_MAX_ASKED_MASTERS])

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        producer_queries = [DetailQuery("connections", addr) for addr in self._find_masters(model)]
        return [*super().list_queries(model, rows), *producer_queries]

    def build_rows(self, model: ClusterModel) -> Sequence[ProducerRow]:
        rows: dict[tuple[str, str], ProducerRow] = {}
        for addr, broker_name in self._find_masters(model).items():
            poll = last_poll_of(model.connection_answers.get(addr))
            for group, clients in ((poll.producers if poll is not None else None) or {}).items():
                for client in clients:
                    row = rows.get((group, client.client_id), ProducerRow(group, client))
                    rows[group, client.client_id] = row._replace(brokers=(*row.brokers, broker_name))
        return [rows[key] for key in sorted(rows)]

    def render_headline(self, model: ClusterModel) -> CellLine:
        hint = Cell("  producers of its brokers; any of them may send to the topic", "dim")
        cells = [*super().render_headline(model), hint]
        masters = self._find_masters(model).items()
        answers = [(name, model.connection_answers.get(addr)) for addr, name in masters]
        silent = [name for name, answer in answers if answer is not None and answer.error_text is not None]
        return [*cells, Cell(f"  no answer from {', '.join(silent)}", "warn")] if silent else cells


class ReaderRow(NamedTuple):
    """A consumer group that reads the topic, and its progress on this topic."""

    topic: str
    group_row: GroupRow

    @property
    def queues(self) -> list[QueueLag]:
        poll = self.group_row.poll
        return [queue for queue in (poll.lags if poll is not None else ()) if queue.topic == self.topic]

    @property
    def topic_lag(self) -> int | None:
        """The messages of this topic that the group has not consumed yet. None: unknown."""
        return None if self.group_row.poll is None else sum_lags(q.lag for q in self.queues).messages

    @property
    def oldest_ms(self) -> int | None:
        return find_delay_ms(self.queues, self.group_row.now_ms)


def _clients_cell(row: ReaderRow) -> Cell:
    count = row.group_row.client_count
    return Cell(row.group_row.client_text, "bad" if count == 0 and row.topic_lag else "")


class TopicReadersView(TopicDetailView):
    name = "groups"
    key_fields = ("group_row.group",)
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

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("topic", self.topic), DetailQuery("groups")]

    def build_rows(self, model: ClusterModel) -> Sequence[ReaderRow]:
        poll = self.find_poll(model)
        groups = (poll.groups if poll is not None else None) or ()
        return [ReaderRow(self.topic, make_group_row(model, group)) for group in groups]

    def subject_of_row(self, row: ReaderRow) -> RowSubject:
        return RowSubject(topic=self.topic, group=row.group_row.group)

    def open_row(self, row: ReaderRow) -> View:
        return open_group(row.group_row.group)


class TopicMessagesView(MessagesView):
    scope = "topics"

    def __init__(self, topic: str) -> None:
        super().__init__(query_topic(topic))
        self.topic = self.title = topic

    def list_tabs(self) -> Sequence[View]:
        return list_topic_tabs(self.topic)


def list_topic_tabs(topic: str) -> Sequence[View]:
    return [
        TopicRouteView(topic), TopicReadersView(topic), TopicDiagramView(topic), TopicProducersView(topic),
        TopicHistoryView(topic), TopicMessagesView(topic),
    ]  # fmt: skip
