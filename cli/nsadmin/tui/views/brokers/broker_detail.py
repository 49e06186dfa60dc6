"""The tabs of one broker process: summary, figures, topics, producers, history, settings, slaves. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.operations.config_diff import DefaultTexts, KnownDefaults, is_own_setting
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import (
    BrokerProcessKey,
    LatestAnswer,
    ObservedBroker,
    last_poll_of,
)
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    BrokerTopicsPolled,
    ClientConnection,
    ConfigPolled,
    ConnectionsPolled,
    QueueCounts,
    SlaveDifferenceRecord,
    SlaveRecord,
)
from nsadmin.tui.views import display_states, events, units
from nsadmin.tui.views.alert_levels import slave_state_tone
from nsadmin.tui.views.base_view import CellLine, View, open_group, open_topic
from nsadmin.tui.views.brokers.broker_figures import BrokerFigure, list_figures
from nsadmin.tui.views.brokers.broker_table import BROKER_COLUMNS, draw_broker_facts, list_broker_rows
from nsadmin.tui.views.table import Cell, Column, SortOrder


class BrokerDetailView(View):
    """The base class of all tabs of a broker."""

    scope = "brokers"

    def __init__(self, broker_name: str, broker_id: int, broker_addr: str, cluster_name: str) -> None:
        self.key = BrokerProcessKey(broker_name, broker_id, broker_addr)
        self.cluster_name = cluster_name
        self.title = f"{broker_name} {self.key.role}"

    def list_tabs(self) -> Sequence[View]:
        tab_classes = (
            BrokerSummaryView, BrokerFiguresView, BrokerConfigView, BrokerTopicsView, BrokerProducersView,
            ReplicaDifferencesView, BrokerHistoryView,
        )  # fmt: skip
        return [tab_class(*self.key, self.cluster_name) for tab_class in tab_classes]

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject(broker_name=self.key.name, broker_addr=self.key.addr, cluster=self.cluster_name)

    def find_broker(self, model: ClusterModel) -> ObservedBroker | None:
        return model.brokers.get(self.key)

    def render_headline(self, model: ClusterModel) -> CellLine:
        broker = self.find_broker(model)
        if broker is None:
            return [Cell(f"no name server lists {self.key.addr} any more", "bad")]
        state = display_states.state_of_broker(broker)
        place = f"  {self.cluster_name}  {self.key.addr}"
        cells = [Cell(f"{state.sign} {state.name}", state.tone), Cell(place, "dim")]
        if broker.error_text is not None:
            age = units.format_age(model.now_ms - (broker.silent_since_ms or model.now_ms))
            cells += [Cell(f"  {broker.error_text}", "bad"), Cell(f"  these figures are {age} old", "warn")]
        return cells


class BrokerSummaryView(BrokerDetailView):
    """The state of the broker at a glance. The tab `figures` has everything that the broker reports."""

    name = "summary"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        for row in list_broker_rows(model):
            if row.broker.key == self.key:
                return draw_broker_facts(BROKER_COLUMNS, row, width, height)
        return [[], [Cell(f"  no name server lists {self.key.addr} any more", "bad")]]


class BrokerFiguresView(BrokerDetailView):
    name = "figures"
    key_fields = ("figure_key",)
    puts_problems_first = False
    empty_text = "the broker returned no figures yet"
    columns: Sequence[Column[BrokerFigure]] = (
        Column("group", "", 9, "",
               lambda row: row.group_name, cell=lambda row: Cell(row.group_label, "accent"), drop=1),
        Column("key", "FIGURE", 38, "",
               lambda row: row.figure_key.lower(), cell=lambda row: Cell(row.figure_key)),
        Column("value", "VALUE", 30, "with its unit; – while it is unknown",
               lambda row: row.value_text, tone="strong", grow=True),
        Column("note", "", 32, "", lambda row: row.unit_note, tone="dim", drop=2),
    )  # fmt: skip

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerFigure]:
        poll = last_poll_of(self.find_broker(model))
        return list_figures(poll.table, model.now_ms) if poll is not None and poll.table else []


class BrokerTopicsView(BrokerDetailView):
    """The topics in the broker's own configuration."""

    name = "topics"
    awaited_phrase = "the topics are"
    empty_text = "the broker has no topics"
    columns: Sequence[Column[tuple[str, QueueCounts]]] = (
        Column("topic", "TOPIC", 30, "", lambda row: row[0], tone="strong", grow=True),
        Column("perm", "PERM", 5, "r read, w write, i inherit",
               lambda row: row[1].perm, show=perm_text, tone=lambda perm: "" if perm & 2 else "warn",
               flash=True),
        Column("write", "WRITE", 6, "number of write queues",
               lambda row: row[1].write, right=True, flash=True),
        Column("read", "READ", 6, "number of read queues",
               lambda row: row[1].read, right=True, flash=True),
    )  # fmt: skip

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("brokerTopics", self.key.addr)]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[BrokerTopicsPolled] | None:
        return model.broker_topic_answers.get(self.key.addr)

    def build_rows(self, model: ClusterModel) -> Sequence[tuple[str, QueueCounts]]:
        poll = last_poll_of(self.find_answer(model))
        topics = (poll.topics if poll is not None else None) or {}
        return list(topics.items())

    def row_key(self, row: tuple[str, QueueCounts]) -> str:
        return row[0]

    def subject_of_row(self, row: tuple[str, QueueCounts]) -> RowSubject:
        return super().subject_of_row(row)._replace(topic=row[0])

    def open_row(self, row: tuple[str, QueueCounts]) -> View:
        return open_topic(row[0])


class ProducerRow(NamedTuple):
    """A client of a producer group, and the masters of a topic that it is connected to."""

    group: str
    client: ClientConnection
    brokers: tuple[str, ...] = ()


PRODUCER_COLUMNS: Sequence[Column[ProducerRow]] = (
    Column("group", "PRODUCER GROUP", 26, "", lambda row: row.group, tone="strong", grow=True),
    Column("client", "CLIENT", 34, "", lambda row: row.client.client_id),
    Column("addr", "ADDRESS", 21, "", lambda row: row.client.addr, tone="dim", drop=2),
    Column("language", "LANGUAGE", 8, "", lambda row: row.client.language, tone="dim", drop=1),
    Column("version", "VERSION", 8, "", lambda row: row.client.version, tone="dim", drop=1),
)  # fmt: skip


class BrokerProducersView(BrokerDetailView):
    name = "producers"
    key_fields = ("group", "client.client_id", "client.addr")
    awaited_phrase = "the producers are"
    empty_text = "no producer is connected"
    columns = PRODUCER_COLUMNS

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("connections", self.key.addr)]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[ConnectionsPolled] | None:
        return model.connection_answers.get(self.key.addr)

    def build_rows(self, model: ClusterModel) -> Sequence[ProducerRow]:
        poll = last_poll_of(self.find_answer(model))
        producers = (poll.producers if poll is not None else None) or {}
        return [ProducerRow(group, client) for group, clients in producers.items() for client in clients]


class BrokerHistoryView(BrokerDetailView):
    """The detected changes and the journal events that concern the broker."""

    name = "history"
    puts_problems_first = False
    empty_text = "no change since this screen was opened"
    columns = events.EVENT_COLUMNS

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        return events.notices_about(model, self.key.name, self.key.addr)


_MAX_PEERS = 8


class BrokerSettingRow(NamedTuple):
    """A setting, the default of the broker's release, and the peers that have another value."""

    setting_name: str
    setting_value: str
    default_value: str | None
    differing_peers: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        return self.default_value is not None and self.default_value != self.setting_value


class BrokerConfigView(BrokerDetailView):
    """The broker's current settings. Settings that differ come first."""

    name = "config"
    key_fields = ("setting_name",)
    awaited_phrase = "the settings are"
    empty_text = "the broker returned no settings"
    default_sort = SortOrder("differs")
    columns: Sequence[Column[BrokerSettingRow]] = (
        Column("key", "SETTING", 40, "",
               lambda row: row.setting_name.lower(), cell=lambda row: Cell(row.setting_name)),
        Column("value", "VALUE", 22, "",
               lambda row: row.setting_value,
               cell=lambda row: Cell(row.setting_value, "strong" if row.is_changed else ""), flash=True,
               grow=True),
        Column("differs", "", 4, "≠ where brokers with the same role differ, * where it is not the default",
               lambda row: (not row.differing_peers, not row.is_changed),
               cell=lambda row: _difference_marks(row)),
        Column("default", "DEFAULT", 16, "default of its release, if the value differs",
               lambda row: (row.is_changed and row.default_value) or "", tone="dim",
               drop=1),
        Column("peers", "DIFFERS ON", 26, "brokers of the cluster with the same role that have another value",
               lambda row: row.differing_peers, show=", ".join, tone="warn", drop=2),
    )  # fmt: skip

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("config", addr) for addr in [self.key.addr, *self._find_peers(model)]]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[ConfigPolled] | None:
        return model.config_answers.get(self.key.addr)

    def _find_peers(self, model: ClusterModel) -> list[str]:
        """The brokers of the cluster with the same role. Masters and slaves differ on purpose."""
        peers = [
            broker.key.addr
            for broker in model.brokers.values()
            if broker.cluster_name == self.cluster_name
            and (broker.key.id == 0) == (self.key.id == 0)
            and broker.key.addr != self.key.addr
            and broker.is_fresh
        ]
        return sorted(peers)[:_MAX_PEERS]

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerSettingRow]:
        broker = self.find_broker(model)
        defaults = _default_settings(broker.read_text("brokerVersionDesc") if broker is not None else None)
        labels = {key.addr: f"{key.name}:{key.id}" for key in model.brokers}
        configs = {addr: _find_config(model, addr) for addr in self._find_peers(model)}
        rows = []
        for name, value in _find_config(model, self.key.addr).items():
            if is_own_setting(name):
                rows.append(BrokerSettingRow(name, value, None, ()))
                continue
            differing = (addr for addr, config in configs.items() if config.get(name, value) != value)
            peers = tuple(labels.get(addr, addr) for addr in differing)
            rows.append(BrokerSettingRow(name, value, defaults.get(name), peers))
        return rows

    def subject_of_row(self, row: BrokerSettingRow) -> RowSubject:
        return super().subject_of_row(row)._replace(key=row.setting_name, value=row.setting_value)


def _difference_marks(row: BrokerSettingRow) -> Cell:
    marks = ("≠" if row.differing_peers else " ") + ("*" if row.is_changed else "")
    return Cell(marks, "warn" if row.differing_peers else "info")


def _find_config(model: ClusterModel, addr: str) -> dict[str, str]:
    poll = last_poll_of(model.config_answers.get(addr))
    return dict((poll.config if poll is not None else None) or {})


@cache
def _default_settings(version: str | None) -> DefaultTexts:
    """The default settings of a broker release, or none for an unknown release."""
    release = (version or "").removeprefix("V").replace("_", ".").lower()
    return KnownDefaults().get_defaults("broker", release) if release else {}


class SlaveDifferenceRow(NamedTuple):
    """An item that differs on a slave, and the current time (ms since 1970)."""

    slave_id: int
    record: SlaveDifferenceRecord
    now_ms: int


class ReplicaDifferencesView(BrokerDetailView):
    """The differences of one slave, or those of all slaves of a master."""

    name = "replicas"
    key_fields = ("slave_id", "record.kind", "record.name")
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
        slaves = () if model.replicas_poll is None else model.replicas_poll.slaves
        return [s for s in slaves if s.broker_name == self.key.name and self.key.id in (0, s.broker_id)]

    def build_rows(self, model: ClusterModel) -> Sequence[SlaveDifferenceRow]:
        records = [
            (slave.broker_id, record) for slave in self._list_slaves(model) for record in slave.differences
        ]
        return [SlaveDifferenceRow(broker_id, record, model.now_ms) for broker_id, record in records]

    def open_row(self, row: SlaveDifferenceRow) -> View | None:
        if row.record.kind == "topic":
            return open_topic(row.record.name)
        return open_group(row.record.name) if row.record.kind == "group" else None

    def render_headline(self, model: ClusterModel) -> CellLine:
        """The state of the broker, the counts of its slaves, and the age of the comparison."""
        cells = [*super().render_headline(model)]
        poll, slaves = model.replicas_poll, self._list_slaves(model)
        if poll is None or not slaves:
            return cells
        drift_count = sum(slave.drift_count for slave in slaves)
        lag_count = sum(slave.lag_count for slave in slaves)
        hidden_count = drift_count + lag_count - len(self.build_rows(model))
        return [
            *cells,
            Cell(f"  {drift_count} drift", slave_state_tone("drift") if drift_count else "dim"),
            Cell(f"  {lag_count} lag", "dim"),
            *([Cell(f"  {hidden_count} not shown", "warn")] if hidden_count else []),
            Cell(f"  compared {units.format_age(model.now_ms - poll.at)} ago", "dim"),
            *(Cell(f"  slave {slave.broker_id}: {slave.error}", "warn") for slave in slaves if slave.error),
        ]

    def empty_message(self, model: ClusterModel) -> str:
        if model.replicas_poll is None:
            return model.describe_awaited("the comparison is")
        slaves = self._list_slaves(model)
        if not slaves:
            return "the broker has no slaves" if self.key.id == 0 else "the slave was not compared yet"
        errors = [slave.error for slave in slaves if slave.error]
        return f"unknown: {errors[0]}" if errors else "no difference in topics, groups, offsets and settings"
