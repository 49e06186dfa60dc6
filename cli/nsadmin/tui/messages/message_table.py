"""The view of the messages of a topic, or of the dead letters of a group. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client.messages.dead_letter_selection import DeadLetter
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.messages.message_lines import format_message_time, list_message_lines, show_body
from nsadmin.tui.messages.message_log import MessageLog
from nsadmin.tui.messages.message_query import (
    MAX_KEPT_MESSAGES,
    BrowsedMessage,
    MessageQuery,
    query_topic,
)
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View, clip_lines
from nsadmin.tui.views.table import Cell, Column, SortOrder, Tone


def _letter_of_row(row: BrowsedMessage) -> DeadLetter:
    return DeadLetter(row.broker_name, row.message)


def _preview_cell(row: BrowsedMessage) -> Cell:
    return Cell(row.preview, "warn" if row.message.body_error is not None else "")


MESSAGE_COLUMNS: Sequence[Column[BrowsedMessage]] = (
    Column("time", "STORED", 18, "time at which the broker stored the message",
           lambda row: row.sort_key, show=lambda sort_key: format_message_time(sort_key[0]), tone="dim"),
    Column("queue", "QUEUE", 12, "broker and number of the queue",
           lambda row: (row.broker_name, row.message.queue_id), show=lambda place: f"{place[0]}/{place[1]}",
           drop=3),
    Column("offset", "OFFSET", 10, "offset in the queue",
           lambda row: row.message.queue_offset, tone="dim", right=True, drop=4),
    Column("key", "KEY", 14, "keys that the producer set",
           lambda row: row.message.keys, show=" ".join, tone="strong", drop=1),
    Column("tag", "TAG", 9, "", lambda row: row.message.tags or "", tone="info", drop=2),
    Column("size", "SIZE", 8, "size of the body, decompressed",
           lambda row: row.body_size, show=units.format_size, tone="dim", right=True, drop=5),
    Column("body", "BODY", 20, "begin of the body; 0x if it is not UTF-8. Enter shows all of it",
           lambda row: row.preview, cell=_preview_cell, grow=True),
)  # fmt: skip
_TIME, _QUEUE, _OFFSET, _KEY, _TAG, _SIZE, _BODY = MESSAGE_COLUMNS
LETTER_COLUMNS: Sequence[Column[BrowsedMessage]] = (
    _TIME,
    Column("origin", "ORIGIN TOPIC", 16, "topic to which the producer sent the message",
           lambda row: _letter_of_row(row).origin_topic or "",
           cell=lambda row: Cell(_letter_of_row(row).origin_topic or units.UNKNOWN_MARK)),
    _KEY, _TAG,
    Column("attempts", "TRIES", 5, "deliveries before the message became a dead letter",
           lambda row: _letter_of_row(row).attempts, right=True, drop=3),
    Column("replays", "REPLAYS", 7, "replays with nsadmin before the message died again",
           lambda row: _letter_of_row(row).replay_count, tone=lambda count: "warn" if count else "dim",
           right=True, drop=6),
    _QUEUE, _OFFSET, _SIZE, _BODY,
)  # fmt: skip

_STATE_CELLS: dict[str, tuple[str, Tone]] = {
    "reading": ("reading", "accent"),
    "waiting": ("waiting for messages", "good"),
    "done": ("all read", "good"),
}


class MessagesView(View):
    """The messages of one query. `dead_group` is the group whose dead letters these are, or None."""

    name = "messages"
    key_fields = ("position_text",)
    puts_problems_first = False
    has_messages = True

    def __init__(self, query: MessageQuery) -> None:
        self.query, topic = query, query.topic
        is_dead = topic.startswith(DLQ_PREFIX)
        self.dead_group = topic.removeprefix(DLQ_PREFIX) if is_dead else None
        self.title = f"dead letters of {self.dead_group}" if is_dead else f"messages of {topic}"

    @classmethod
    def of_topic(cls, topic: str, broker_name: str | None = None) -> MessagesView:
        return cls(query_topic(topic, broker_name))

    @property
    def message_query(self) -> MessageQuery:
        return self.query

    def read_more(self) -> None:
        self.query = self.query.read_more()

    @property
    def columns(self) -> Sequence[Column[BrowsedMessage]]:  # type: ignore[override]
        return MESSAGE_COLUMNS if self.dead_group is None else LETTER_COLUMNS

    @property
    def default_sort(self) -> SortOrder:  # type: ignore[override]
        """Live messages have the newest first. Old messages are in the order in which they were stored."""
        return SortOrder("time", self.query.is_tail)

    @property
    def follows_first_row(self) -> bool:  # type: ignore[override]
        return self.query.is_tail

    def find_log(self, model: ClusterModel) -> MessageLog | None:
        """The messages of this query, if its reading has begun."""
        log = model.message_log
        is_own = log is not None and self.query.is_same_search(log.query)
        return log if is_own else None

    def build_rows(self, model: ClusterModel) -> Sequence[BrowsedMessage]:
        log = self.find_log(model)
        return () if log is None else tuple(log.messages)

    def subject_of_row(self, row: BrowsedMessage) -> RowSubject:
        if self.dead_group is None:
            return RowSubject()
        stored_ms = row.message.store_timestamp
        letter_ids = (row.message.offset_msg_id,)
        return RowSubject(group=self.dead_group, letter_ids=letter_ids, letter_times=(stored_ms, stored_ms))

    def draw_details(
        self, model: ClusterModel, row: BrowsedMessage, width: int, height: int
    ) -> list[CellLine]:
        """The message with its body, as the screen of one message shows it at first."""
        return clip_lines([*islice(list_message_lines(row, show_body(row), width), height + 1)], height)

    def render_headline(self, model: ClusterModel) -> CellLine:
        if model.is_replay:
            return []
        log = self.find_log(model)
        if log is None:
            return [Cell("reading", "dim")]
        return [
            *_state_cells(self.query, log),
            *_error_cells(log),
            Cell(f"  {self.query.conditions_text}" if self.query.conditions else "", "accent"),
            *_count_cells(self.query, log),
        ]

    def empty_message(self, model: ClusterModel) -> str:
        log = self.find_log(model)
        if model.is_replay:
            return "a recording contains no messages"
        if log is None or log.read_state == "reading":
            return "reading"
        if "" in log.errors:
            return log.errors[""]
        if self.query.is_tail:
            return "no message since this view was opened; v shows older ones"
        return "no message meets the conditions" if log.examined_count else "no messages"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same search: the operator may have raised its read limit."""
        if type(self) is not type(other) or not isinstance(other, MessagesView):
            return False
        return self.query.is_same_search(other.query)

    def __hash__(self) -> int:
        return hash((type(self), self.query.topic))


def _state_cells(query: MessageQuery, log: MessageLog) -> list[Cell]:
    if log.read_state == "full":
        return [Cell(f"stopped after {query.read_limit} messages, press > to read on", "warn")]
    state_text, tone = _STATE_CELLS[log.read_state]
    return [Cell(state_text, tone)]


def _error_cells(log: MessageLog) -> list[Cell]:
    """The error of the first broker that did not answer, and the number of the others."""
    if not log.errors:
        return []
    (name, line), *other_errors = log.errors.items()
    shown_text = f"{name}: {line}" if name else line
    return [Cell(f"  ✕ {shown_text}{f' and {len(other_errors)} more' if other_errors else ''}", "bad")]


def _count_cells(query: MessageQuery, log: MessageLog) -> list[Cell]:
    cells = []
    if query.has_client_filter:
        cells.append(Cell(f"  {log.examined_count} examined", "dim"))
    if log.dropped_count:
        dropped_text = f"  {log.dropped_count} dropped (the screen keeps {MAX_KEPT_MESSAGES})"
        cells.append(Cell(dropped_text, "dim"))
    if log.skipped_count:
        cells.append(Cell(f"  {log.skipped_count} skipped to keep up", "warn"))
    if log.lost_count:
        cells.append(Cell(f"  {log.lost_count} deleted before they were read", "warn"))
    return cells
