"""The tabs of one topic: its route on each name server, its consumer groups, and a diagram. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.client.consumers.lag import sum_lags
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection, QueueCounts, TopicPolled
from nsadmin.tui.views import alert_levels, display_states, events, units
from nsadmin.tui.views.base_view import CellLine, GroupTarget, MessagesTarget, View, clip_lines
from nsadmin.tui.views.groups.group_table import GroupRow
from nsadmin.tui.views.table import Cell, Column, SortOrder


class TopicRouteRow(NamedTuple):
    """A topic on one broker, with the queues on each name server.

    `is_current` means that all name servers answer.
    """

    broker_name: str
    queues_by_server: tuple[tuple[str, QueueCounts | None], ...]
    put_rate: float | None
    has_master: bool
    is_current: bool = True

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

    tab_set = "topic"
    has_messages = True

    def __init__(self, topic: str) -> None:
        self.topic = topic

    @property
    def view_title(self) -> str:
        return self.topic

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject(topic=self.topic)

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("topic", self.topic)]

    def find_poll(self, model: ClusterModel) -> TopicPolled | None:
        return model.topic_polls.get(self.topic)

    def find_silence(self, model: ClusterModel) -> Silence | None:
        return model.find_silence()

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
        knowing_addrs = [addr for addr, route in poll.routes.items() if route]
        missing_addrs = [addr for addr, route in poll.routes.items() if not route]
        put_rate = sum(poll.put_tps.values()) if poll.put_tps else None
        cells = [
            Cell(f"on {len(knowing_addrs)} of {len(poll.routes) + len(poll.errors)} name servers", "strong")
        ]
        if missing_addrs:
            cells.append(Cell(f"  not on {', '.join(missing_addrs)}", "bad"))
        if poll.errors:
            cells.append(Cell(f"  silent: {', '.join(poll.errors)}", "warn"))
        return [*cells, Cell("  in "), Cell(f"{units.format_rate(put_rate)}/s", "accent")]


def build_route_rows(model: ClusterModel, poll: TopicPolled) -> list[TopicRouteRow]:
    """A row for each broker in the topic's route on any name server."""
    brokers = sorted({broker_name for route in poll.routes.values() if route for broker_name in route})
    return [
        TopicRouteRow(
            broker_name,
            tuple((addr, (route or {}).get(broker_name)) for addr, route in poll.routes.items()),
            (poll.put_tps or {}).get(broker_name),
            any(
                broker.key.id == 0 and broker.gone_since_ms is None
                for broker in model.list_replicas(broker_name)
            ),
            not poll.errors and not model.list_silent_servers(),
        )
        for broker_name in brokers
    ]


def _format_queues(queues: QueueCounts | None) -> str:
    return "absent" if queues is None else f"{perm_text(queues.perm)} {queues.write}/{queues.read}"


class TopicRouteView(TopicDetailView):
    """The queues and the permission of the topic, by broker and name server."""

    view_name = "route"
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

    def row_key(self, row: TopicRouteRow) -> str:
        return row.broker_name

    def filter_text(self, row: TopicRouteRow) -> str:
        return row.broker_name

    def subject_of_row(self, row: TopicRouteRow) -> RowSubject:
        return RowSubject(topic=self.topic, broker_name=row.broker_name)

    def open_row(self, row: TopicRouteRow) -> MessagesTarget:
        return MessagesTarget(self.topic, row.broker_name)


def _perm_cell(row: TopicRouteRow) -> Cell:
    if row.first_queues is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    return Cell(perm_text(row.first_queues.perm), "" if row.first_queues.perm & 2 else "warn")


def _servers_cell(row: TopicRouteRow) -> Cell:
    if not row.has_difference:
        return Cell("equal" if row.are_equal else units.UNKNOWN_MARK, "dim")
    return Cell(
        "≠ " + "  ".join(f"{addr} {_format_queues(queues)}" for addr, queues in row.queues_by_server), "bad"
    )


class TopicHistoryView(TopicDetailView):
    """The detected changes and the journal events that concern the topic."""

    view_name = "history"
    puts_problems_first = False
    empty_text = "no change since this screen was opened"

    columns = events.EVENT_COLUMNS

    def find_silence(self, model: ClusterModel) -> Silence | None:
        """None: past events do not become old when servers stop answering."""
        return None

    def empty_message(self, model: ClusterModel) -> str:
        return self.empty_text

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        return events.notices_about(model, self.topic)


class TopicDiagramView(TopicDetailView):
    """A diagram of the topic's name servers, brokers and consumer groups."""

    view_name = "drawn"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        poll = self.find_poll(model)
        if poll is None:
            return [[Cell(model.describe_awaited(" the route is"), "dim")]]
        route_rows = build_route_rows(model, poll)
        lines: list[CellLine] = [
            [],
            [Cell(f"  {self.topic}", "accent"), Cell("  is on the name servers", "dim")],
        ]
        lines += _server_tree_lines(model, poll)
        lines += [[], [Cell("  has queues on", "dim")]]
        lines += _broker_tree_lines(model, route_rows)
        reader_groups = list(poll.groups or ())
        if reader_groups:
            lines += [[], [Cell("  is consumed by", "dim")]]
            lines += [
                [
                    Cell("   └─ " if reader_group == reader_groups[-1] else "   ├─ ", "dim"),
                    Cell(reader_group, "strong"),
                ]
                for reader_group in reader_groups
            ]
        return clip_lines(lines, height)


def _server_tree_lines(model: ClusterModel, poll: TopicPolled) -> list[CellLine]:
    addrs = [*poll.routes, *poll.errors]
    lines: list[CellLine] = []
    for addr in addrs:
        stem_cell = Cell("   └─ " if addr == addrs[-1] else "   ├─ ", "dim")
        if addr in poll.errors:
            lines.append([stem_cell, Cell("✕ ", "bad"), Cell(addr), Cell(f"  {poll.errors[addr]}", "bad")])
            continue
        route = poll.routes[addr]
        sign_cell = Cell("● ", "good") if route else Cell("○ ", "bad")
        route_summary = (
            f"  {len(route)} brokers, {sum(queues.write for queues in route.values())} queues"
            if route
            else "  absent"
        )
        lines.append([stem_cell, sign_cell, Cell(addr), Cell(route_summary, "dim" if route else "bad")])
    return lines


def _broker_tree_lines(model: ClusterModel, route_rows: list[TopicRouteRow]) -> list[CellLine]:
    lines: list[CellLine] = []
    for row in route_rows:
        is_last = row is route_rows[-1]
        queues_text = _format_queues(row.first_queues)
        lines.append(
            [
                Cell("   └─ " if is_last else "   ├─ ", "dim"),
                Cell(f"{row.broker_name:<20}", "strong"),
                Cell(f" {queues_text:<12}", _perm_cell(row).tone),
                Cell(f" {units.format_rate(row.put_rate)}/s", "accent"),
                Cell("" if row.has_master else "  no master", "bad"),
                Cell("  ≠ name servers differ" if row.has_difference else "", "bad"),
            ]
        )
        replicas = list(model.list_replicas(row.broker_name))
        for broker in replicas:
            state = display_states.state_of_broker(broker)
            stem_text = ("      " if is_last else "   │  ") + ("└─ " if broker is replicas[-1] else "├─ ")
            role = "master" if broker.key.id == 0 else f"slave {broker.key.id}"
            lines.append(
                [
                    Cell(stem_text, "dim"),
                    Cell(f"{state.sign} ", state.tone),
                    Cell(f"{role:<9}"),
                    Cell(f"{broker.key.addr:<22}", "dim"),
                    Cell(state.name, state.tone),
                ]
            )
    return lines


_MAX_ASKED_MASTERS = 12
"""The most masters to ask. A producer is connected to all masters of its topic, so the first ones suffice."""


class ProducerRow(NamedTuple):
    """A client of a producer group, and the masters of the topic that it is connected to."""

    producer_group: str
    producer_client: ClientConnection
    brokers: tuple[str, ...]


class TopicProducersView(TopicDetailView):
    """The producers that may send to the topic. Brokers do not know to which topics a producer sends."""

    view_name = "producers"
    empty_text = "no producer is connected, according to the brokers that answered"
    columns: Sequence[Column[ProducerRow]] = (
        Column("group", "PRODUCER GROUP", 26, "", lambda row: row.producer_group, tone="strong", grow=True),
        Column("client", "CLIENT", 34, "", lambda row: row.producer_client.client_id),
        Column("brokers", "ON", 3, "masters of the topic that the producer is connected to",
               lambda row: len(row.brokers), right=True, flash=True),
        Column("addr", "ADDRESS", 21, "", lambda row: row.producer_client.addr, tone="dim", drop=2),
        Column("language", "LANGUAGE", 8, "", lambda row: row.producer_client.language, tone="dim", drop=1),
        Column("version", "VERSION", 8, "", lambda row: row.producer_client.version, tone="dim", drop=1),
    )  # fmt: skip

    def _find_masters(self, model: ClusterModel) -> dict[str, str]:
        """The names of the topic's masters by address."""
        poll = self.find_poll(model)
        brokers = {name for route in poll.routes.values() if route for name in route} if poll else set()
        name_by_addr = {
            broker.key.addr: name
            for name in sorted(brokers)
            for broker in model.list_replicas(name)
            if broker.key.id == 0 and broker.gone_since_ms is None
        }
        return dict(list(name_by_addr.items())[:_MAX_ASKED_MASTERS])

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        producer_queries = [DetailQuery("connections", addr) for addr in self._find_masters(model)]
        return [*super().list_queries(model, visible_rows, current_row), *producer_queries]

    def build_rows(self, model: ClusterModel) -> Sequence[ProducerRow]:
        producer_rows: dict[tuple[str, str], ProducerRow] = {}
        for addr, broker_name in self._find_masters(model).items():
            answer = model.connection_answers.get(addr)
            producers = (
                answer.last_poll.producers if answer is not None and answer.last_poll is not None else None
            )
            for group, group_clients in (producers or {}).items():
                for client in group_clients:
                    row = producer_rows.get((group, client.client_id), ProducerRow(group, client, ()))
                    producer_rows[group, client.client_id] = row._replace(brokers=(*row.brokers, broker_name))
        return [producer_rows[client_key] for client_key in sorted(producer_rows)]

    def row_key(self, row: ProducerRow) -> str:
        return f"{row.producer_group} {row.producer_client.client_id}"

    def render_headline(self, model: ClusterModel) -> CellLine:
        silent_brokers = [
            name
            for addr, name in self._find_masters(model).items()
            if (answer := model.connection_answers.get(addr)) is not None and answer.error_text is not None
        ]
        cells = [
            *super().render_headline(model),
            Cell("  producers of its brokers; any of them may send to the topic", "dim"),
        ]
        return (
            [*cells, Cell(f"  no answer from {', '.join(silent_brokers)}", "warn")]
            if silent_brokers
            else cells
        )


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
