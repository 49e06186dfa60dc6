"""The views of differences between name servers: their number, the objects, and the probable causes. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.agreement import (
    COMPARED_ASPECTS,
    NameServerDifference,
    count_pairwise_differences,
    find_differences,
)
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedNameServer, Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import DivergenceFinding
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import (
    CellLine,
    DifferenceTarget,
    FindingTarget,
    TopicTarget,
    View,
    clip_lines,
)
from nsadmin.tui.views.table import Cell, Column, align_text

_TOO_FEW_SERVERS = "unknown: fewer than two name servers answer"


_MAX_COLUMN_WIDTH, _MIN_COLUMN_WIDTH = 22, 8
"""The width of a matrix column: from the word `equal` or the end of an address up to an address with port."""


class DivergenceMatrixView(View):
    """The number of differences between each pair of name servers."""

    view_name = "matrix"
    tab_set = "servers"
    view_title = "Servers"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        servers = list(model.name_servers.values())
        pair_counts = count_pairwise_differences(model.list_fresh_servers())
        column_width = max(min((width - 2) // (len(servers) + 1), _MAX_COLUMN_WIDTH), _MIN_COLUMN_WIDTH)
        max_columns = max((width - column_width - 2) // column_width, 1)
        header_line = [
            Cell(" " * (column_width + 2)),
            *(
                Cell(_shorten_addr(head_server.addr, column_width - 1).rjust(column_width - 1) + " ", "dim")
                for head_server in servers[:max_columns]
            ),
        ]
        lines: list[CellLine] = [[], header_line]
        if len(servers) > max_columns:
            lines[0] = [
                Cell(
                    f"  … and {len(servers) - max_columns} more columns: use a wider terminal to see them",
                    "warn",
                )
            ]
        for row in servers:
            cells = [
                Cell(
                    "  " + _shorten_addr(row.addr, column_width - 1).ljust(column_width),
                    "strong" if row.is_fresh else "dim",
                )
            ]
            for column in servers[:max_columns]:
                cells.append(
                    _pair_cell(row, column, pair_counts.get((row.addr, column.addr)), column_width - 1)
                )
            lines.append(cells)
        lines += [[], [Cell("  by state", "dim")]]
        fresh = model.list_fresh_servers()
        for aspect in COMPARED_ASPECTS:
            count = None
            if len(aspect.filter_reporting(fresh)) > 1:
                count = sum(1 for _ in find_differences(fresh, aspect.aspect_name))
            lines.append([Cell(f"  {aspect.aspect_name:<14}"), _agreement_cell(count)])
        lines += [[], [Cell("  Tab: differences and causes", "dim")]]
        return clip_lines(lines, height)


def _shorten_addr(namesrv_addr: str, cell_width: int) -> str:
    """An address, cut at its start if it is too long, because addresses differ at their ends."""
    return namesrv_addr if len(namesrv_addr) <= cell_width else "…" + namesrv_addr[1 - cell_width :]


def _agreement_cell(count: int | None) -> Cell:
    if count is None:
        return Cell("unknown", "warn")
    return Cell("equal", "good") if count == 0 else Cell(f"{count} differ", "bad")


def _pair_cell(
    row: ObservedNameServer, column: ObservedNameServer, count: int | None, cell_width: int
) -> Cell:
    if row is column:
        return Cell(align_text("·", cell_width, True) + " ", "dim")
    if count is None:
        return Cell(align_text("?", cell_width, True) + " ", "warn")
    return Cell(
        align_text("equal" if count == 0 else str(count), cell_width, True) + " ",
        "good" if count == 0 else "bad",
    )


class DifferencesView(View):
    """The objects on which the last polls of the name servers differ."""

    view_name = "differences"
    tab_set = "servers"
    view_title = "Servers"
    empty_text = "the name servers that answer have the same brokers, permissions, topics and KV keys"
    columns: Sequence[Column[NameServerDifference]] = (
        Column("what", "WHAT", 11, "", lambda row: row.aspect_name, tone="info"),
        Column("name", "NAME", 24, "", lambda row: row.object_name, tone="strong", grow=True),
        Column("sides", "VALUES", 40, "", lambda row: _describe_sides(row), grow=True),
    )  # fmt: skip

    def empty_message(self, model: ClusterModel) -> str:
        return self.empty_text if len(model.list_fresh_servers()) > 1 else _TOO_FEW_SERVERS

    def build_rows(self, model: ClusterModel) -> Sequence[NameServerDifference]:
        return list(find_differences(model.list_fresh_servers()))

    def row_key(self, row: NameServerDifference) -> str:
        return f"{row.aspect_name} {row.object_name}"

    def open_row(self, row: NameServerDifference) -> TopicTarget | DifferenceTarget:
        return (
            TopicTarget(row.object_name)
            if row.aspect_name == "topics"
            else DifferenceTarget(row.aspect_name, row.object_name)
        )


def _describe_sides(difference: NameServerDifference) -> str:
    """The reported texts, each with the name servers that report it."""
    addrs_by_text: dict[str, list[str]] = {}
    for addr, text in difference.text_by_server.items():
        addrs_by_text.setdefault(text, []).append(addr)
    return "; ".join(f"{text} on {' '.join(addrs)}" for text, addrs in addrs_by_text.items())


class DifferenceSidesView(View):
    """One difference, with the text that each name server reports."""

    view_name = "sides"
    columns: Sequence[Column[tuple[str, str]]] = (
        Column("addr", "NAME SERVER", 22, "", lambda row: row[0], tone="strong"),
        Column("said", "TELLS", 40, "",
               lambda row: row[1], tone=lambda text: "bad" if text == "absent" else "",
               grow=True),
    )  # fmt: skip
    empty_text = "the name servers agree now"

    def __init__(self, aspect_name: str, name: str) -> None:
        self.aspect_name = aspect_name
        self.object_name = name

    @property
    def view_title(self) -> str:
        return self.object_name

    def empty_message(self, model: ClusterModel) -> str:
        return self.empty_text if len(model.list_fresh_servers()) > 1 else _TOO_FEW_SERVERS

    def build_rows(self, model: ClusterModel) -> Sequence[tuple[str, str]]:
        for difference in find_differences(model.list_fresh_servers(), self.aspect_name):
            if difference.object_name == self.object_name:
                return list(difference.text_by_server.items())
        return []

    def row_key(self, row: tuple[str, str]) -> str:
        return row[0]


class DivergenceCausesView(View):
    """The findings of the command `divergence`, which compares all routes and suggests causes."""

    view_name = "causes"
    tab_set = "servers"
    view_title = "Servers"
    empty_text = "no difference found so far; comparing every route of every name server takes a while"
    columns: Sequence[Column[DivergenceFinding]] = (
        Column("what", "WHAT", 8, "", lambda row: row.section_name, tone="info"),
        Column("name", "NAME", 20, "",
               lambda row: row.name if row.count == 1 else f"{row.name} and {row.count - 1} more",
               tone="strong", grow=True),
        Column("state", "STATE", 6, "new: may disappear with the next heartbeats; drift: stays",
               lambda row: row.state, tone=lambda state: "bad" if state == "drift" else "warn"),
        Column("age", "SEEN", 7, "", lambda row: row.age, show=units.format_age, right=True),
        Column("cause", "CAUSE", 30, "", lambda row: row.cause, grow=True),
        Column("differs", "DIFFERS", 30, "", lambda row: row.differs, tone="dim", drop=1, grow=True),
    )  # fmt: skip

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("divergence")]

    def build_rows(self, model: ClusterModel) -> Sequence[DivergenceFinding]:
        return (
            list(model.divergence_answer.last_poll.findings)
            if model.divergence_answer.last_poll is not None
            else []
        )

    def row_key(self, row: DivergenceFinding) -> str:
        return f"{row.section_name} {row.parent_name} {row.name} {row.cause}"

    def find_silence(self, model: ClusterModel) -> Silence | None:
        return model.divergence_answer.current_silence

    def render_headline(self, model: ClusterModel) -> CellLine:
        answer = model.divergence_answer
        if answer.last_poll is None and answer.error_text is not None:
            return [Cell("the comparison failed", "warn")]
        if answer.last_poll is None:
            return [Cell(model.describe_awaited("the routes of all name servers are"), "dim")]
        return [Cell("verdict: "), Cell(answer.last_poll.verdict or "", "strong")]

    def subject_of_row(self, row: DivergenceFinding) -> RowSubject:
        return RowSubject(remedy_words=row_actions.find_remedy_words(row.advice))

    def open_row(self, row: DivergenceFinding) -> FindingTarget:
        return FindingTarget(row.section_name, row.name, row.cause)


class DivergenceAdviceView(View):
    """One finding: the value of each name server, the cause, and the advice."""

    view_name = "advice"
    is_drawing = True

    def __init__(self, aspect_name: str, name: str, cause_text: str) -> None:
        self.aspect_name = aspect_name
        self.object_name = name
        self.cause_text = cause_text

    @property
    def view_title(self) -> str:
        return self.object_name

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("divergence")]

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        findings = (
            model.divergence_answer.last_poll.findings
            if model.divergence_answer.last_poll is not None
            else ()
        )
        matching_findings = [
            finding
            for finding in findings
            if (finding.section_name, finding.name, finding.cause)
            == (self.aspect_name, self.object_name, self.cause_text)
        ]
        if not matching_findings:
            return [[], [Cell("  this difference is gone", "good")]]
        lines: list[CellLine] = [[]]
        for addr, text in matching_findings[0].texts_by_server.items():
            lines.append([Cell(f"  {addr:<22}", "strong"), Cell(f" {text}")])
        lines += [[], *_wrap_text("cause", matching_findings[0].cause, width)]
        lines += _wrap_text("to do", matching_findings[0].advice, width)
        return clip_lines(lines, height)


_LABEL_WIDTH = 10


def _wrap_text(label: str, text: str, width: int) -> list[CellLine]:
    """A labelled text, wrapped between words: a command that is cut cannot be copied."""
    wrapped_lines = textwrap.wrap(
        text, max(width - _LABEL_WIDTH, 20), break_long_words=False, break_on_hyphens=False
    ) or [""]
    labels = [f"  {label}".ljust(_LABEL_WIDTH), *[" " * _LABEL_WIDTH] * (len(wrapped_lines) - 1)]
    return [
        [Cell(line_label, "accent"), Cell(line)]
        for line_label, line in zip(labels, wrapped_lines, strict=True)
    ]
