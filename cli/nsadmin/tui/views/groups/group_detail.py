"""The tabs of one consumer group: queues, connected clients, and a graph of the lag. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client.consumers.lag import sum_lags
from nsadmin.client.message_queues import MessageQueue, allocate_averagely
from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.messages.message_query import query_topic
from nsadmin.tui.messages.message_table import MessagesView
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import LatestAnswer, last_poll_of
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled, QueueLag
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.base_view import CellLine, View, open_topic
from nsadmin.tui.views.graphs import draw_graph
from nsadmin.tui.views.groups.group_table import make_group_row
from nsadmin.tui.views.table import Cell, Column, SortOrder


class GroupDetailView(View):
    """The base class of all tabs of a consumer group."""

    scope = "groups"
    has_messages = True
    needs_name_servers = True
    awaited_phrase = "the group is"

    def __init__(self, group: str) -> None:
        self.group = self.title = group

    def list_tabs(self) -> Sequence[View]:
        return list_group_tabs(self.group)

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject(group=self.group)

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("group", self.group)]

    def find_poll(self, model: ClusterModel) -> GroupPolled | None:
        return last_poll_of(self.find_answer(model))

    def find_answer(self, model: ClusterModel) -> LatestAnswer[GroupPolled] | None:
        return model.group_answers.get(self.group)

    def render_headline(self, model: ClusterModel) -> CellLine:
        if self.group not in model.group_answers:
            return [Cell(model.describe_awaited(self.awaited_phrase), "dim")]
        poll, row = self.find_poll(model), make_group_row(model, self.group)
        if poll is None:
            return [Cell("the group is unknown", "warn")]
        return [
            Cell("lag "),
            Cell(row.lag_text, alert_levels.lag_tone(row.total_lag) or "accent"),
            Cell(f" ({row.lag_reason})" if row.lag_reason is not None else "", "dim"),
            Cell(f"  {row.client_text} {'client' if row.client_text == '1' else 'clients'}", "strong"),
            Cell(f"  {poll.consume_type or ''} {poll.message_model or ''}", "dim"),
        ]


class GroupQueuesView(GroupDetailView):
    name = "queues"
    key_fields = ("topic", "broker_name", "queue_id")
    grouping_key = "topic"
    default_sort = SortOrder("lag", True)
    empty_text = "no broker has an offset of the group"
    columns: Sequence[Column[QueueLag]] = (
        Column("topic", "TOPIC", 20, "", lambda row: row.topic, tone="strong", grow=True),
        Column("broker", "BROKER", 14, "", lambda row: row.broker_name),
        Column("queue", "QUEUE", 5, "", lambda row: row.queue_id, right=True),
        Column("lag", "LAG", 8, "messages not consumed yet; – if unknown",
               lambda row: row.lag.messages, show=units.format_count, tone=alert_levels.lag_tone, right=True),
        Column("inflight", "INFLIGHT", 8, "delivered, but not acknowledged yet",
               lambda row: row.inflight, show=units.format_count, right=True, drop=2),
        Column("end", "END", 14, "offset of the queue's next message",
               lambda row: row.broker_offset, tone="dim", right=True, drop=3),
        Column("offset", "OFFSET", 14, "offset of the next message to consume",
               lambda row: row.consumer_offset, tone="dim", right=True, drop=3),
        Column("last", "LAST CONSUMED", 19, "store time of the last consumed message",
               lambda row: row.last_timestamp, show=units.format_moment, tone="dim", drop=1),
        Column("reason", "WHY –", 20, "why the lag is unknown",
               lambda row: row.lag.reason, cell=lambda row: Cell(row.lag.reason or "", "dim"), drop=4),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[QueueLag]:
        poll = self.find_poll(model)
        return list(poll.lags) if poll is not None else []

    def summarize_rows(self, rows: Sequence[QueueLag]) -> CellLine:
        lag = sum_lags(row.lag for row in rows).messages
        lag_cell = Cell(units.format_count(lag), alert_levels.lag_tone(lag) or "accent")
        return [Cell(count_noun(len(rows), "queue"), "dim"), Cell("  lag "), lag_cell]

    def subject_of_row(self, row: QueueLag) -> RowSubject:
        return RowSubject(
            group=self.group,
            topic=row.topic,
            broker_name=row.broker_name,
            queue_id=row.queue_id,
            offset=row.consumer_offset,
        )

    def open_row(self, row: QueueLag) -> View:
        return open_topic(row.topic)


class GroupLagView(GroupDetailView):
    """The lag of the group since nsadmin first polled it, for at most an hour."""

    name = "graph"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        lag_trend = model.lag_trends.get(self.group)
        trends = {self.group: lag_trend} if lag_trend is not None else {}
        return draw_graph("lag in messages", trends, width, height)


class ClientRow(NamedTuple):
    """A connected client, its queues, their lag, and the part of the group's lag (0 to 1).

    These are None if the lag is unknown, or if clients do not divide the queues among themselves.
    """

    client: ClientConnection
    queue_count: int | None = None
    lag: int | None = None
    lag_ratio: float | None = None


def list_client_rows(poll: GroupPolled) -> list[ClientRow]:
    """The clients with their shares, as Java's default strategy divides the queues of each topic."""
    divides_queues = (
        poll.message_model == "CLUSTERING"
        and poll.consume_type != "CONSUME_POP"
        and not poll.unreported
        # gRPC clients take messages of any queue.
        and all(client.protocol != "gRPC" for client in poll.members)
    )
    shares = _divide_queues(poll) if divides_queues and poll.members else {}
    return [ClientRow(client, *shares.get(client.client_id, ())) for client in poll.members]


def _divide_queues(poll: GroupPolled) -> dict[str, tuple[int, int | None, float | None]]:
    client_ids = [client.client_id for client in poll.members]
    lag_by_queue = {MessageQueue(lag.topic, lag.broker_name, lag.queue_id): lag.lag for lag in poll.lags}
    queues_by_client: dict[str, list[MessageQueue]] = {client_id: [] for client_id in client_ids}
    for topic in {queue.topic for queue in lag_by_queue}:
        topic_queues = sorted(queue for queue in lag_by_queue if queue.topic == topic)
        for client_id, queues in allocate_averagely(topic_queues, client_ids).items():
            queues_by_client[client_id] += queues
    shares, total_lag = {}, poll.lag.messages
    for client_id, queues in queues_by_client.items():
        lag = sum_lags(lag_by_queue[queue] for queue in queues).messages if queues else 0
        ratio = lag / total_lag if total_lag and lag is not None else None
        shares[client_id] = (len(queues), lag, ratio)
    return shares


def _share_cell(row: ClientRow) -> Cell:
    ratio = row.lag_ratio
    if ratio is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    return Cell(f"{units.draw_meter(ratio, 5)}{units.format_percent(ratio):>5}")


class GroupClientsView(GroupDetailView):
    name = "members"
    key_fields = ("client.client_id", "client.addr")
    empty_text = "no client of the group is connected"
    columns: Sequence[Column[ClientRow]] = (
        Column("client", "CLIENT", 34, "", lambda row: row.client.client_id, tone="strong", grow=True),
        Column("addr", "ADDRESS", 21, "", lambda row: row.client.addr),
        Column("queues", "QUEUES", 6,
               "queues of the client, as Java's default strategy divides them; – if it does not apply",
               lambda row: row.queue_count, show=units.format_count, right=True),
        Column("lag", "LAG", 7, "messages on these queues not consumed yet",
               lambda row: row.lag, show=units.format_count, tone=alert_levels.lag_tone, right=True),
        Column("share", "SHARE", 10, "part of the group's lag that waits for this client",
               lambda row: row.lag_ratio, cell=_share_cell, right=True),
        Column("language", "LANGUAGE", 9, "", lambda row: row.client.language, tone="dim", drop=1),
        Column("version", "VERSION", 9, "", lambda row: row.client.version, tone="dim", drop=1),
        Column("protocol", "PROTOCOL", 8, "",
               lambda row: row.client.protocol,
               cell=lambda row: Cell(row.client.protocol or units.UNKNOWN_MARK, "dim"), drop=2),
        Column("proxy", "PROXY", 21, "proxies in cluster mode that the client is connected to",
               lambda row: row.client.proxies, tone="dim", drop=3),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[ClientRow]:
        poll = self.find_poll(model)
        return list_client_rows(poll) if poll is not None else []

    def empty_message(self, model: ClusterModel) -> str:
        poll = self.find_poll(model)
        if poll is not None and poll.unreported:
            addr, error_text = next(iter(poll.unreported.items()))
            return f"unknown: {addr} returned no connections ({error_text})"
        return super().empty_message(model)


class GroupLettersView(MessagesView):
    name = "dead-letters"
    scope = "groups"

    def __init__(self, group: str) -> None:
        super().__init__(query_topic(DLQ_PREFIX + group))
        self.group = self.title = group

    def list_tabs(self) -> Sequence[View]:
        return list_group_tabs(self.group)


def list_group_tabs(group: str) -> Sequence[View]:
    return [GroupQueuesView(group), GroupClientsView(group), GroupLagView(group), GroupLettersView(group)]
