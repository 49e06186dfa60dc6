"""The base class of all views: a table of rows or a drawing, with its detail queries and links. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import LatestAnswer, ObservedBroker, Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.views.table import Cell, Column, SortOrder, draw_row_facts

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_query import MessageQuery


class CommandTarget(NamedTuple):
    """The output of a command of nsadmin that only reads. A separate screen shows it, not a view."""

    words: tuple[str, ...]


CellLine = Sequence[Cell]
NO_PROBLEM = 2
"""The problem rank of a row without a problem."""


def clip_lines(lines: list[CellLine], height: int) -> list[CellLine]:
    """The lines that fit. If some do not fit, the last line has their number."""
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], [Cell(f"  … {len(lines) - height + 1} lines more", "dim")]]


class View:
    """A view. `name` is for `:` and in file names. `title` is shown above it. `scope` is the name of the root
    view whose plugins work in it, if that is another one.

    `key_fields` are the attributes that identify a row. Filters apply to `filter_fields`, or without them to
    the cells of all columns. `grouping_key` is the key of the column by which rows can be grouped. Until the
    operator chooses an order, rows with problems come first, unless `puts_problems_first` is False.

    With `follows_first_row`, a cursor on the first row stays there when other rows appear above. The rows are
    topics, queues, groups or messages if `has_messages` is set.

    If `needs_name_servers` is set, the rows are old while no name server answers. `awaited_phrase` names the
    missing data before the first answer, such as "the topics are".

    A view stores only the object that it shows. It builds its rows from the model each time.
    """

    name: ClassVar[str] = ""
    title = ""
    scope: ClassVar[str] = ""
    columns: Sequence[Column[Any]] = ()
    grouping_key: str | None = None
    default_sort: SortOrder | None = None
    puts_problems_first = True
    is_drawing = False
    key_fields: tuple[str, ...] = ()
    filter_fields: tuple[str, ...] = ()
    needs_name_servers = False
    awaited_phrase = ""
    empty_text = "no rows"
    follows_first_row = False
    has_messages = False

    @property
    def message_query(self) -> MessageQuery | None:
        """The messages that the view shows, or None."""
        return None

    def build_rows(self, model: ClusterModel) -> Sequence[Any]:
        """All rows, before they are filtered and sorted."""
        return ()

    def row_key(self, row: Any) -> str:
        """A key that identifies a row, and stays the same after the next poll."""
        return _join_fields(row, self.key_fields) if self.key_fields else str(row)

    def filter_text(self, row: Any) -> str:
        """The text of a row to which filters apply."""
        if self.filter_fields:
            return _join_fields(row, self.filter_fields)
        return " ".join(column.render_cell(row).text for column in self.columns)

    def problem_rank(self, row: Any) -> int:
        """0 if a cell of the row has the tone of a fault, 1 for that of a warning, else `NO_PROBLEM`."""
        cells = (column.render_cell(row) for column in self.columns)
        cell_tones = {cell.tone for cell in cells if cell.text}
        return 0 if "bad" in cell_tones else 1 if "warn" in cell_tones else NO_PROBLEM

    def rank_problems(self, model: ClusterModel, rows: Sequence[Any]) -> list[int]:
        """The problem rank of each row. Views with thousands of rows have a faster way."""
        return [self.problem_rank(row) for row in rows]

    def is_problem(self, row: Any) -> bool:
        return self.problem_rank(row) < NO_PROBLEM

    def is_hidden(self, row: Any) -> bool:
        """Whether the row is left out until the operator asks for all rows."""
        return False

    def subject_of_row(self, row: Any) -> RowSubject:
        return RowSubject()

    def summarize_rows(self, rows: Sequence[Any]) -> CellLine:
        """The summary of a group of rows, for its heading."""
        return [Cell(count_noun(len(rows), "row"), "dim")]

    def open_row(self, row: Any) -> View | CommandTarget | None:
        """What Enter opens, or None."""
        return None

    def list_tabs(self) -> Sequence[View]:
        """All tabs of the object of this view, including this one, or nothing if it has no tabs."""
        return ()

    def draw_details(self, model: ClusterModel, row: Any, width: int, height: int) -> list[CellLine]:
        """The details of the row at the cursor, which a wide screen shows beside the table."""
        return draw_row_facts(self.columns, row, width)[:height]

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        """The detail queries that this view needs, in addition to the polls of all servers.

        `rows` are the row at the cursor, and the visible rows.
        """
        return []

    def list_sort_queries(self, sort_key: str | None) -> list[DetailQuery]:
        """The detail queries that an order by this column needs."""
        return []

    def render_headline(self, model: ClusterModel) -> CellLine:
        """The line above the table."""
        return ()

    def find_answer(self, model: ClusterModel) -> LatestAnswer[Any] | None:
        """The answer to the detail query from which the rows are made. None without one, or before it."""
        return None

    def find_silence(self, model: ClusterModel) -> Silence | None:
        """The silence of the servers that report these rows, or None. Rows are dimmed during a silence."""
        silence, answer = model.find_silence() if self.needs_name_servers else None, self.find_answer(model)
        return silence or (None if answer is None else answer.current_silence)

    def empty_message(self, model: ClusterModel) -> str:
        """The text that is shown if there are no rows. It is "unknown" if the servers are silent."""
        silence, answer = self.find_silence(model), self.find_answer(model)
        if silence is not None:
            return f"unknown: {silence.reason}"
        if self.awaited_phrase and (answer is None or answer.last_poll is None):
            return model.describe_awaited(self.awaited_phrase)
        return self.empty_text

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        return []

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *(value for value in vars(self).values() if isinstance(value, str))))


_make_getter = cache(attrgetter)


def _join_fields(row: Any, fields: tuple[str, ...]) -> str:
    """The texts of these attributes. There may be ten thousand rows."""
    found = _make_getter(*fields)(row)
    return found if len(fields) == 1 else " ".join(map(str, found))


# Views that many rows open.


def open_view(class_path: str, *arguments: Any) -> View:
    """Create a view of another module. It is imported only now, so that the first screen appears sooner."""
    view: View = resolve_name(f"nsadmin.tui.{class_path}")(*arguments)
    return view


def open_topic(topic: str) -> View:
    return open_view("views.topics.topic_detail:TopicRouteView", topic)


def open_group(group: str) -> View:
    return open_view("views.groups.group_detail:GroupQueuesView", group)


def open_broker(broker: ObservedBroker) -> View:
    return open_view("views.brokers.broker_detail:BrokerSummaryView", *broker.key, broker.cluster_name)
