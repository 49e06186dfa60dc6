"""The connected clients of a consumer group, with their shares of its queues and lag. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client.consumers.lag import sum_lags
from nsadmin.client.consumers.queue_allocation import allocate_averagely
from nsadmin.client.message_queues import MessageQueue
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.groups.group_detail import GroupDetailView
from nsadmin.tui.views.table import Cell, Column


class ClientShare(NamedTuple):
    """The queues of a client, their lag (None: unknown), and the part of the group's lag (0 to 1)."""

    queue_count: int
    lag: int | None
    lag_ratio: float | None


class ClientRow(NamedTuple):
    """A connected client. `share` is None if clients do not divide the queues among themselves."""

    client: ClientConnection
    share: ClientShare | None


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
    return [ClientRow(client, shares.get(client.client_id)) for client in poll.members]


def _divide_queues(poll: GroupPolled) -> dict[str, ClientShare]:
    client_ids = [client.client_id for client in poll.members]
    lag_by_queue = {
        MessageQueue(queue_lag.topic, queue_lag.broker_name, queue_lag.queue_id): queue_lag.lag
        for queue_lag in poll.lags
    }
    queues_by_client: dict[str, list[MessageQueue]] = {client_id: [] for client_id in client_ids}
    for topic in {queue.topic for queue in lag_by_queue}:
        topic_queues = sorted(queue for queue in lag_by_queue if queue.topic == topic)
        for client_id, queues in allocate_averagely(topic_queues, client_ids).items():
            queues_by_client[client_id] += queues
    shares = {}
    for client_id, queues in queues_by_client.items():
        lag = sum_lags(lag_by_queue[queue] for queue in queues).messages if queues else 0
        total_lag = poll.lag.messages
        ratio = lag / total_lag if total_lag and lag is not None else None
        shares[client_id] = ClientShare(len(queues), lag, ratio)
    return shares


def _lag_cell(row: ClientRow) -> Cell:
    lag = row.share.lag if row.share is not None else None
    return Cell(units.format_count(lag), alert_levels.lag_tone(lag))


def _share_cell(row: ClientRow) -> Cell:
    ratio = row.share.lag_ratio if row.share is not None else None
    if ratio is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    return Cell(f"{units.draw_meter(ratio, 5)}{units.format_percent(ratio):>5}")


class GroupClientsView(GroupDetailView):
    """The connected clients of the group."""

    view_name = "members"
    empty_text = "no client of the group is connected"
    columns: Sequence[Column[ClientRow]] = (
        Column("client", "CLIENT", 34, "", lambda row: row.client.client_id, tone="strong", grow=True),
        Column("addr", "ADDRESS", 21, "", lambda row: row.client.addr),
        Column("queues", "QUEUES", 6,
               "queues of the client, as Java's default strategy divides them; – if it does not apply",
               lambda row: row.share.queue_count if row.share is not None else None, show=units.format_count,
               right=True),
        Column("lag", "LAG", 7, "messages on these queues not consumed yet",
               lambda row: row.share.lag if row.share is not None else None, cell=_lag_cell, right=True),
        Column("share", "SHARE", 10, "part of the group's lag that waits for this client",
               lambda row: row.share.lag_ratio if row.share is not None else None, cell=_share_cell,
               right=True),
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

    def row_key(self, row: ClientRow) -> str:
        return f"{row.client.client_id} {row.client.addr}"
