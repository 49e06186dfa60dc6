"""The view of the messages of a topic, live or from an earlier place, and the dead letters of a group. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from nsadmin.client.messages.dead_letter_selection import DEAD_LETTER_PREFIX, DeadLetter
from nsadmin.output.timestamps import format_utc
from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.messages.message_log import MessageLog
from nsadmin.tui.messages.message_query import (
    MAX_KEPT_MESSAGES,
    BrowsedMessage,
    MessageQuery,
    query_topic,
)
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.table import Cell, Column, SortOrder, Tone
from nsadmin.tui.views.view_targets import MessageTarget

MAX_REPLAYED_LETTERS = 100
"""One command replays at most this many dead letters that are named one by one."""


def format_message_time(time_ms: int) -> str:
    """The local date and time with milliseconds."""
    return f"{datetime.fromtimestamp(time_ms / 1000):%m-%d %H:%M:%S}.{time_ms % 1000:03}"


def _letter(row: BrowsedMessage) -> DeadLetter:
    return DeadLetter(row.broker_name, row.message)


def _preview_cell(row: BrowsedMessage) -> Cell:
    return Cell(row.preview, "warn" if row.message.body_error is not None else "")


_TIME_COLUMN: Column[BrowsedMessage] = Column(
    "time",
    "STORED",
    18,
    lambda row: row.sort_key,
    lambda row: Cell(format_message_time(row.message.store_timestamp), "dim"),
    help_text="time at which the broker stored the message",
)
_QUEUE_COLUMN: Column[BrowsedMessage] = Column(
    "queue",
    "QUEUE",
    12,
    lambda row: (row.broker_name, row.message.queue_id),
    lambda row: Cell(f"{row.broker_name}/{row.message.queue_id}"),
    drop_rank=3,
    help_text="broker and number of the queue",
)
_OFFSET_COLUMN: Column[BrowsedMessage] = Column(
    "offset",
    "OFFSET",
    10,
    lambda row: row.message.queue_offset,
    lambda row: Cell(str(row.message.queue_offset), "dim"),
    is_right_aligned=True,
    drop_rank=4,
    help_text="offset in the queue",
)
_KEY_COLUMN: Column[BrowsedMessage] = Column(
    "key",
    "KEY",
    14,
    lambda row: row.message.keys,
    lambda row: Cell(" ".join(row.message.keys), "strong"),
    drop_rank=1,
    help_text="keys that the producer set",
)
_TAG_COLUMN: Column[BrowsedMessage] = Column(
    "tag",
    "TAG",
    9,
    lambda row: row.message.tags or "",
    lambda row: Cell(row.message.tags or "", "info"),
    drop_rank=2,
)
_SIZE_COLUMN: Column[BrowsedMessage] = Column(
    "size",
    "SIZE",
    8,
    lambda row: row.body_size,
    lambda row: Cell(units.format_size(row.body_size), "dim"),
    is_right_aligned=True,
    drop_rank=5,
    help_text="size of the body, decompressed",
)
_BODY_COLUMN: Column[BrowsedMessage] = Column(
    "body",
    "BODY",
    20,
    lambda row: row.preview,
    _preview_cell,
    grows_to_fit=True,
    help_text="begin of the body; 0x if it is not UTF-8. Enter shows all of it",
)
MESSAGE_COLUMNS = (
    _TIME_COLUMN, _QUEUE_COLUMN, _OFFSET_COLUMN, _KEY_COLUMN, _TAG_COLUMN, _SIZE_COLUMN, _BODY_COLUMN,
)  # fmt: skip
LETTER_COLUMNS: Sequence[Column[BrowsedMessage]] = (
    _TIME_COLUMN,
    Column(
        "origin",
        "ORIGIN TOPIC",
        16,
        lambda row: _letter(row).origin_topic or "",
        lambda row: Cell(_letter(row).origin_topic or units.UNKNOWN_MARK),
        help_text="topic to which the producer sent the message",
    ),
    _KEY_COLUMN,
    _TAG_COLUMN,
    Column(
        "attempts",
        "TRIES",
        5,
        lambda row: _letter(row).attempts,
        lambda row: Cell(str(_letter(row).attempts)),
        is_right_aligned=True,
        drop_rank=3,
        help_text="deliveries before the message became a dead letter",
    ),
    Column(
        "replays",
        "REPLAYS",
        7,
        lambda row: _letter(row).replay_count,
        lambda row: Cell(str(_letter(row).replay_count), "warn" if _letter(row).replay_count else "dim"),
        is_right_aligned=True,
        drop_rank=6,
        help_text="replays with nsadmin before the message died again",
    ),
    _QUEUE_COLUMN,
    _OFFSET_COLUMN,
    _SIZE_COLUMN,
    _BODY_COLUMN,
)

_STATE_CELLS: dict[str, tuple[str, Tone]] = {
    "reading": ("reading", "accent"),
    "waiting": ("waiting for messages", "good"),
    "done": ("all read", "good"),
}


class MessagesView(View):
    """The messages of one query."""

    view_name = "messages"

    def __init__(self, query: MessageQuery) -> None:
        self.message_query = query

    @property
    def group(self) -> str | None:
        """The group whose dead letters these are; None for other messages."""
        topic = self.message_query.topic
        return (
            topic.removeprefix(DEAD_LETTER_PREFIX) if topic.startswith(DEAD_LETTER_PREFIX) else None
        )

    @property
    def view_title(self) -> str:
        return (
            f"messages of {self.message_query.topic}"
            if self.group is None
            else f"dead letters of {self.group}"
        )

    @property
    def columns(self) -> Sequence[Column[BrowsedMessage]]:  # type: ignore[override]
        return MESSAGE_COLUMNS if self.group is None else LETTER_COLUMNS

    @property
    def default_sort(self) -> SortOrder:  # type: ignore[override]
        """Live messages have the newest first. Old messages are in the order in which they were stored."""
        return SortOrder("time", self.message_query.is_tail)

    @property
    def follows_first_row(self) -> bool:  # type: ignore[override]
        return self.message_query.is_tail

    def find_log(self, model: ClusterModel) -> MessageLog | None:
        """The messages of this query, if its reading has begun."""
        message_log = model.message_log
        is_own = message_log is not None and self.message_query.is_same_search(message_log.query)
        return message_log if is_own else None

    def build_rows(self, model: ClusterModel) -> Sequence[BrowsedMessage]:
        message_log = self.find_log(model)
        return () if message_log is None else tuple(message_log.messages)

    def row_key(self, row: BrowsedMessage) -> str:
        return row.place

    def open_row(self, row: BrowsedMessage) -> MessageTarget:
        return MessageTarget(row)

    def subject_of_rows(
        self, row: BrowsedMessage | None, shown_rows: Sequence[BrowsedMessage]
    ) -> RowSubject:
        if self.group is None or row is None:
            return RowSubject()
        return RowSubject(
            group=self.group,
            replay_words=build_replay_words(self.group, [row]),
            replay_shown_words=(
                build_replay_words(self.group, shown_rows)
                if len(shown_rows) <= MAX_REPLAYED_LETTERS
                else ()
            ),
        )

    def render_headline(self, model: ClusterModel) -> CellLine:
        if model.is_replay:
            return []
        message_log = self.find_log(model)
        if message_log is None:
            return [Cell("reading", "dim")]
        return [
            *_state_cells(self.message_query, message_log),
            *_error_cells(message_log),
            Cell(f"  {self.message_query.conditions_text}", "accent"),
            *_count_cells(self.message_query, message_log),
        ]

    def empty_message(self, model: ClusterModel) -> str:
        message_log = self.find_log(model)
        if model.is_replay:
            return "a recording contains no messages"
        if message_log is None or message_log.read_state == "reading":
            return "reading"
        if "" in message_log.errors:
            return message_log.errors[""]
        if self.message_query.is_tail:
            return "no message since this view was opened; m shows older ones"
        return "no message meets the conditions" if message_log.examined_count else "no messages"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same search: the operator may have raised its read limit."""
        return (
            type(self) is type(other)
            and isinstance(other, MessagesView)
            and self.message_query.is_same_search(other.message_query)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.message_query.topic))


class TopicMessagesView(MessagesView):
    """The messages to come, as a tab of the topic."""

    tab_set = "topic"

    def __init__(self, topic: str) -> None:
        super().__init__(query_topic(topic))

    @property
    def view_title(self) -> str:
        return self.message_query.topic


class GroupLettersView(MessagesView):
    """The dead letters, as a tab of the group."""

    view_name = "dead letters"
    tab_set = "group"

    def __init__(self, group: str) -> None:
        super().__init__(query_topic(DEAD_LETTER_PREFIX + group))

    @property
    def view_title(self) -> str:
        return self.group or ""


def build_replay_words(group: str, letters: Sequence[BrowsedMessage]) -> tuple[str, ...]:
    """The command line that replays these dead letters. The times spare the command the others."""
    store_times = [letter.message.store_timestamp for letter in letters]
    if not store_times:
        return ()
    id_words = [word for letter in letters for word in ("--id", letter.message.offset_msg_id)]
    time_words = ("--since", format_utc(min(store_times)), "--until", format_utc(max(store_times) + 1))
    group_words = ("--consumerGroup", group) if group.startswith("-") else (group,)
    return ("dlq", "replay", *group_words, *time_words, *id_words)


def _state_cells(query: MessageQuery, message_log: MessageLog) -> list[Cell]:
    if message_log.read_state == "full":
        return [Cell(f"stopped after {query.read_limit} messages: > reads on", "warn")]
    state_text, tone = _STATE_CELLS[message_log.read_state]
    return [Cell(state_text, tone)]


def _error_cells(message_log: MessageLog) -> list[Cell]:
    """The error of the first broker that did not answer, and the number of the others."""
    if not message_log.errors:
        return []
    (broker_name, error_line), *others = message_log.errors.items()
    shown_text = f"{broker_name}: {error_line}" if broker_name else error_line
    return [Cell(f"  ✕ {shown_text}{f' and {len(others)} more' if others else ''}", "bad")]


def _count_cells(query: MessageQuery, message_log: MessageLog) -> list[Cell]:
    count_cells = []
    if query.has_client_filter:
        count_cells.append(Cell(f"  {message_log.examined_count} examined", "dim"))
    if message_log.dropped_count:
        dropped_text = f"  {message_log.dropped_count} dropped (the screen keeps {MAX_KEPT_MESSAGES})"
        count_cells.append(Cell(dropped_text, "dim"))
    if message_log.skipped_count:
        count_cells.append(Cell(f"  {message_log.skipped_count} skipped to keep up", "warn"))
    if message_log.lost_count:
        count_cells.append(Cell(f"  {message_log.lost_count} deleted before they were read", "warn"))
    return count_cells
