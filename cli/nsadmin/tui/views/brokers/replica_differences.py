"""The tab of a broker with the differences between slaves and their master. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.replica_records import SlaveDifferenceRecord, SlaveRecord
from nsadmin.tui.views import units
from nsadmin.tui.views.alert_levels import slave_state_tone
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.brokers.broker_detail import BrokerDetailView
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view_targets import GroupTarget, TopicTarget


class SlaveDifferenceRow(NamedTuple):
    """An item that differs on a slave, and the current time (ms since 1970)."""

    slave_id: int
    record: SlaveDifferenceRecord
    now_ms: int


class ReplicaDifferencesView(BrokerDetailView):
    """The differences of one slave, or those of all slaves of a master."""

    view_name = "replicas"
    columns: Sequence[Column[SlaveDifferenceRow]] = (
        Column("slave", "SLAVE", 5, "broker id of the slave",
               lambda row: row.slave_id, tone="dim", right=True, drop=2),
        Column("kind", "KIND", 11, "topic, group, offset, consumeMode, epoch, user, acl or setting",
               lambda row: row.record.kind, tone="accent"),
        Column("name", "NAME", 24, "", lambda row: row.record.name, tone="strong", grow=True),
        Column("state", "STATE", 7,
               "lag: the next copy may remove it; drift: it lasts longer than two copies take",
               lambda row: row.record.state, tone=slave_state_tone, flash=True),
        Column("differs", "DIFFERENCE", 26, "values of both, or the broker that lacks the item",
               lambda row: row.record.differs, grow=True),
        Column("since", "SINCE", 7, "time since nsadmin first saw the difference",
               lambda row: row.now_ms - row.record.since, show=units.format_age, tone="dim", right=True,
               drop=1),
        Column("reason", "REASON", 34, "why it is lag or drift",
               lambda row: row.record.reason, tone="dim", drop=3),
    )  # fmt: skip

    def _list_slaves(self, model: ClusterModel) -> list[SlaveRecord]:
        return [
            slave
            for slave in (() if model.replicas_poll is None else model.replicas_poll.slaves)
            if slave.broker_name == self.broker_name and self.broker_id in (0, slave.broker_id)
        ]

    def build_rows(self, model: ClusterModel) -> Sequence[SlaveDifferenceRow]:
        return [
            SlaveDifferenceRow(slave.broker_id, record, model.now_ms)
            for slave in self._list_slaves(model)
            for record in slave.differences
        ]

    def row_key(self, row: SlaveDifferenceRow) -> str:
        return f"{row.slave_id} {row.record.kind} {row.record.name}"

    def open_row(self, row: SlaveDifferenceRow) -> TopicTarget | GroupTarget | None:
        if row.record.kind == "topic":
            return TopicTarget(row.record.name)
        return GroupTarget(row.record.name) if row.record.kind == "group" else None

    def render_headline(self, model: ClusterModel) -> CellLine:
        """The state of the broker, the counts of its slaves, and the age of the comparison."""
        cells = [*super().render_headline(model)]
        replicas_poll, slaves = model.replicas_poll, self._list_slaves(model)
        if replicas_poll is None or not slaves:
            return cells
        drift_count = sum(slave.drift_count for slave in slaves)
        lag_count = sum(slave.lag_count for slave in slaves)
        hidden_count = drift_count + lag_count - len(self.build_rows(model))
        age_text = units.format_age(model.now_ms - replicas_poll.at)
        cells += [
            Cell(f"  {drift_count} drift", slave_state_tone("drift") if drift_count else "dim"),
            Cell(f"  {lag_count} lag", "dim"),
            *([Cell(f"  {hidden_count} not shown", "warn")] if hidden_count else []),
            Cell(f"  compared {age_text} ago", "dim"),
        ]
        return [
            *cells,
            *(Cell(f"  slave {slave.broker_id}: {slave.error}", "warn") for slave in slaves if slave.error),
        ]

    def empty_message(self, model: ClusterModel) -> str:
        if model.replicas_poll is None:
            return model.describe_awaited("the comparison is")
        slaves = self._list_slaves(model)
        if not slaves:
            return "the broker has no slaves" if self.broker_id == 0 else "the slave was not compared yet"
        unread_reasons = [slave.error for slave in slaves if slave.error]
        if unread_reasons:
            return f"unknown: {unread_reasons[0]}"
        return "no difference in topics, groups, offsets and settings"
