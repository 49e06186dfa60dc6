"""The tabs of one broker process: figures, settings, topics, producers and history. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import BrokerProcessKey, LatestAnswer, ObservedBroker, Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import BrokerTopicsPolled, ClientConnection, ConnectionsPolled
from nsadmin.tui.views import display_states, events, units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.brokers.broker_figures import BrokerFigure, list_figures
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view_targets import TopicTarget


class BrokerDetailView(View):
    """The base class of all tabs of a broker."""

    tab_set = "broker"

    def __init__(self, broker_name: str, broker_id: int, broker_addr: str, cluster_name: str) -> None:
        self.broker_name = broker_name
        self.broker_id = broker_id
        self.broker_addr = broker_addr
        self.cluster_name = cluster_name

    @property
    def key(self) -> BrokerProcessKey:
        return BrokerProcessKey(self.broker_name, self.broker_id, self.broker_addr)

    @property
    def view_title(self) -> str:
        return f"{self.broker_name} {'master' if self.broker_id == 0 else f'slave {self.broker_id}'}"

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject(
            broker_name=self.broker_name, broker_addr=self.broker_addr, cluster=self.cluster_name
        )

    def find_broker(self, model: ClusterModel) -> ObservedBroker | None:
        return model.brokers.get(self.key)

    def render_headline(self, model: ClusterModel) -> CellLine:
        broker = self.find_broker(model)
        if broker is None:
            return [Cell(f"no name server lists {self.broker_addr} any more", "bad")]
        state = display_states.state_of_broker(broker)
        cells = [
            Cell(f"{state.sign} {state.name}", state.tone),
            Cell(f"  {self.cluster_name}  {self.broker_addr}", "dim"),
        ]
        if broker.error_text is not None:
            silence_age = units.format_age(model.now_ms - (broker.silent_since_ms or model.now_ms))
            cells += [
                Cell(f"  {broker.error_text}", "bad"),
                Cell(f"  these figures are {silence_age} old", "warn"),
            ]
        return cells


class BrokerFiguresView(BrokerDetailView):
    """All runtime figures that the broker reports."""

    view_name = "figures"
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
        broker = self.find_broker(model)
        table = broker.last_poll.table if broker is not None and broker.last_poll is not None else None
        return list_figures(table, model.now_ms) if table else []

    def row_key(self, row: BrokerFigure) -> str:
        return row.figure_key


class QueriedBrokerView(BrokerDetailView):
    """A tab whose detail query runs while the tab is open.

    `awaited_phrase` names the missing data before the first answer, such as "its topics are".
    """

    awaited_phrase: ClassVar[str]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[Any] | None:
        """The last answer to the query of this tab."""
        raise NotImplementedError

    def find_silence(self, model: ClusterModel) -> Silence | None:
        answer = self.find_answer(model)
        return None if answer is None else answer.current_silence

    def empty_message(self, model: ClusterModel) -> str:
        return (
            model.describe_awaited(self.awaited_phrase)
            if self.find_answer(model) is None
            else super().empty_message(model)
        )


class BrokerTopicRow(NamedTuple):
    """A topic in the broker's own configuration."""

    topic: str
    read_queues: int
    write_queues: int
    perm: int


class BrokerTopicsView(QueriedBrokerView):
    """The topics in the broker's own configuration."""

    view_name = "topics"
    awaited_phrase = "the topics are"
    empty_text = "the broker has no topics"
    columns: Sequence[Column[BrokerTopicRow]] = (
        Column("topic", "TOPIC", 30, "", lambda row: row.topic, tone="strong", grow=True),
        Column("perm", "PERM", 5, "r read, w write, i inherit",
               lambda row: row.perm, show=perm_text, tone=lambda perm: "" if perm & 2 else "warn",
               flash=True),
        Column("write", "WRITE", 6, "number of write queues",
               lambda row: row.write_queues, right=True, flash=True),
        Column("read", "READ", 6, "number of read queues",
               lambda row: row.read_queues, right=True, flash=True),
    )  # fmt: skip

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("brokerTopics", self.broker_addr)]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[BrokerTopicsPolled] | None:
        return model.broker_topic_answers.get(self.broker_addr)

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerTopicRow]:
        answer = self.find_answer(model)
        queues_by_topic = (
            answer.last_poll.topics if answer is not None and answer.last_poll is not None else None
        )
        return [
            BrokerTopicRow(topic, queues.read, queues.write, queues.perm)
            for topic, queues in (queues_by_topic or {}).items()
        ]

    def row_key(self, row: BrokerTopicRow) -> str:
        return row.topic

    def subject_of_row(self, row: BrokerTopicRow) -> RowSubject:
        return super().subject_of_row(row)._replace(topic=row.topic)

    def open_row(self, row: BrokerTopicRow) -> TopicTarget:
        return TopicTarget(row.topic)


class BrokerProducersView(QueriedBrokerView):
    """The producers that are connected to the broker."""

    view_name = "producers"
    awaited_phrase = "the producers are"
    empty_text = "no producer is connected"
    columns: Sequence[Column[tuple[str, ClientConnection]]] = (
        Column("group", "PRODUCER GROUP", 26, "", lambda row: row[0], tone="strong", grow=True),
        Column("client", "CLIENT", 34, "", lambda row: row[1].client_id),
        Column("addr", "ADDRESS", 21, "", lambda row: row[1].addr, tone="dim", drop=2),
        Column("language", "LANGUAGE", 8, "", lambda row: row[1].language, tone="dim", drop=1),
        Column("version", "VERSION", 8, "", lambda row: row[1].version, tone="dim", drop=1),
    )  # fmt: skip

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("connections", self.broker_addr)]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[ConnectionsPolled] | None:
        return model.connection_answers.get(self.broker_addr)

    def build_rows(self, model: ClusterModel) -> Sequence[tuple[str, ClientConnection]]:
        answer = self.find_answer(model)
        producers = (
            answer.last_poll.producers if answer is not None and answer.last_poll is not None else None
        )
        return [
            (group, client) for group, group_clients in (producers or {}).items() for client in group_clients
        ]

    def row_key(self, row: tuple[str, ClientConnection]) -> str:
        return f"{row[0]} {row[1].client_id} {row[1].addr}"


class BrokerHistoryView(BrokerDetailView):
    """The detected changes and the journal events that concern the broker."""

    view_name = "history"
    puts_problems_first = False
    empty_text = "no change since this screen was opened"

    columns = events.EVENT_COLUMNS

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        return events.notices_about(model, self.broker_name, self.broker_addr)
