"""The name servers, the settings of one of them, and their differences with the probable causes. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.agreement import (
    COMPARED_ASPECTS,
    NameServerDifference,
    count_pairwise_differences,
    find_differences,
    judge_agreement,
)
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import LatestAnswer, ObservedNameServer
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import DivergenceFinding, DivergencePolled
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import CellLine, View, clip_lines, open_topic
from nsadmin.tui.views.table import Cell, Column, align_text


class NameServerRow(NamedTuple):
    """A name server, and the largest number of differences between it and another name server.

    `other_name` is the address under which the same name server is listed already.
    """

    server: ObservedNameServer
    now_ms: int
    difference_count: int | None
    other_name: str | None

    @property
    def note_text(self) -> str:
        """The error of the last poll, or the other name of the same name server."""
        if self.other_name is not None:
            return f"same name server as {self.other_name}"
        return self.server.error_text or ""

    @property
    def answer_ms(self) -> float | None:
        """The duration of a request; None while the name server is silent."""
        poll = self.server.last_poll
        return poll.millis if poll is not None and self.server.is_fresh else None

    @property
    def broker_count(self) -> int | None:
        poll = self.server.last_poll
        return None if poll is None else sum(len(group.broker_addrs) for group in poll.groups.values())

    @property
    def topic_count(self) -> int | None:
        return None if self.server.last_poll is None else len(self.server.topic_set)

    @property
    def key_count(self) -> int | None:
        return None if self.server.last_poll is None else sum(map(len, self.server.kv_tables.values()))


def _state_cell(row: NameServerRow) -> Cell:
    state, since_ms = display_states.state_of_name_server(row.server), row.server.silent_since_ms
    age_text = "" if since_ms is None else f" {units.format_age(row.now_ms - since_ms)}"
    return Cell(f"{state.sign} {state.name}{age_text}", state.tone)


def _count_cell(count: int | None, row: NameServerRow) -> Cell:
    return Cell(units.format_count(count), "" if row.server.is_fresh else "dim")


SERVER_COLUMNS: Sequence[Column[NameServerRow]] = (
    Column("addr", "NAME SERVER", 22, "", lambda row: row.server.addr, tone="strong", grow=True),
    Column("state", "STATE", 12, "● up, ✕ down, with the time since then",
           lambda row: row.server.is_fresh, cell=_state_cell, flash=True),
    Column("latency", "ANSWER", 8, "duration of one request",
           lambda row: row.answer_ms, show=units.format_millis,
           tone=partial(alert_levels.figure_tone, "latency"), right=True),
    Column("latencies", "", 16, "ANSWER over the last polls",
           lambda row: 0,
           cell=lambda row: Cell(units.draw_sparkline(row.server.latencies_ms, 16, 5), "spark"), drop=3),
    Column("brokers", "BROKERS", 8, "number of listed broker processes",
           lambda row: row.broker_count, cell=lambda row: _count_cell(row.broker_count, row), right=True,
           flash=True),
    Column("topics", "TOPICS", 8, "number of listed topics",
           lambda row: row.topic_count, cell=lambda row: _count_cell(row.topic_count, row), right=True,
           flash=True),
    Column("keys", "KV", 6, "keys in the shown KV namespaces",
           lambda row: row.key_count, cell=lambda row: _count_cell(row.key_count, row), right=True, drop=1,
           flash=True),
    Column("differs", "DIFFERS", 8, "number of differences from the other name servers that answer",
           lambda row: row.difference_count, show=units.format_count,
           tone=lambda count: "bad" if count else "good",
           right=True, flash=True),
    Column("error", "", 30, "",
           lambda row: row.note_text,
           cell=lambda row: Cell(row.note_text, "warn" if row.other_name is not None else "bad"), drop=2),
)  # fmt: skip


class ServersTabView(View):
    """The base class of all tabs of the name servers."""

    scope = "servers"
    title = "Servers"

    def list_tabs(self) -> Sequence[View]:
        return [ServersView(), DivergenceMatrixView(), DifferencesView(), DivergenceCausesView()]


class ServersView(ServersTabView):
    name = "servers"
    key_fields = ("server.addr",)
    filter_fields = ("server.addr",)
    columns = SERVER_COLUMNS
    empty_text = "no name server is known"

    def build_rows(self, model: ClusterModel) -> Sequence[NameServerRow]:
        pair_counts = count_pairwise_differences(model.list_fresh_servers()).items()
        rows = []
        for server in model.name_servers.values():
            largest = max((count for (addr, _), count in pair_counts if addr == server.addr), default=None)
            rows.append(NameServerRow(server, model.now_ms, largest, model.find_other_name(server)))
        return rows

    def subject_of_row(self, row: NameServerRow) -> RowSubject:
        return RowSubject(name_server=row.server.addr)

    def render_headline(self, model: ClusterModel) -> CellLine:
        verdict = judge_agreement(model)
        silent_count = sum(not server.is_fresh for server in model.name_servers.values())
        cells = [Cell(count_noun(len(model.name_servers), "name server"), "strong")]
        if silent_count:
            cells.append(Cell(f"  {silent_count} silent", "bad"))
        phrase_by_outcome = {
            "agree": ("  all answers agree", "good"),
            "diverge": (f"  they diverge: {', '.join(verdict.reasons)}", "bad"),
            "single": ("  only one name server: there is nothing to compare", "dim"),
            "silent": ("", "bad"),
        }
        return [*cells, Cell(*phrase_by_outcome.get(verdict.outcome, ("  agreement unknown", "warn")))]

    def open_row(self, row: NameServerRow) -> View:
        return NameServerSettingsView(row.server.addr)


class SettingRow(NamedTuple):
    """A setting of a name server. `differing_addrs` are the other name servers, joined by blanks."""

    setting_name: str
    setting_value: str
    differing_addrs: str


class NameServerSettingsView(View):
    name = "settings"
    key_fields = ("setting_name",)
    empty_text = "the name server returned no settings"
    columns: Sequence[Column[SettingRow]] = (
        Column("key", "SETTING", 40, "", lambda row: row.setting_name),
        Column("value", "VALUE", 30, "", lambda row: row.setting_value, tone="strong", flash=True, grow=True),
        Column("others", "DIFFERS ON", 30, "name servers that have another value",
               lambda row: row.differing_addrs, tone="warn", drop=1),
    )  # fmt: skip

    def __init__(self, addr: str) -> None:
        self.addr = self.title = addr

    def build_rows(self, model: ClusterModel) -> Sequence[SettingRow]:
        server = model.name_servers.get(self.addr)
        others = [other for other in model.name_servers.values() if other is not server and other.settings]
        rows = []
        for name, value in (server.settings if server is not None else {}).items():
            differing = [other.addr for other in others if other.settings.get(name) != value]
            rows.append(SettingRow(name, value, " ".join(differing)))
        return rows

    def subject_of_row(self, row: SettingRow) -> RowSubject:
        return RowSubject(name_server=self.addr, key=row.setting_name, value=row.setting_value)


_TOO_FEW_SERVERS = "unknown: fewer than two name servers answer"
_MAX_COLUMN_WIDTH, _MIN_COLUMN_WIDTH = 22, 8
"""The width of a matrix column: from the word `equal` or the end of an address up to an address with port."""


class DivergenceMatrixView(ServersTabView):
    """The number of differences between each pair of name servers."""

    name = "matrix"
    is_drawing = True

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        servers, fresh = list(model.name_servers.values()), model.list_fresh_servers()
        pair_counts = count_pairwise_differences(fresh)
        column_width = max(min((width - 2) // (len(servers) + 1), _MAX_COLUMN_WIDTH), _MIN_COLUMN_WIDTH)
        cell_width = column_width - 1
        columns = servers[: max((width - column_width - 2) // column_width, 1)]
        lines: list[CellLine] = [[]]
        if len(servers) > len(columns):
            hidden_count = len(servers) - len(columns)
            hidden_text = (
                f"  … and {count_noun(hidden_count, 'more column')}: use a wider terminal to see them"
            )
            lines = [[Cell(hidden_text, "warn")]]
        headings = [_shorten_addr(column.addr, cell_width).rjust(cell_width) + " " for column in columns]
        lines.append([Cell(" " * (column_width + 2)), *(Cell(heading, "dim") for heading in headings)])
        for row in servers:
            addr_text = "  " + _shorten_addr(row.addr, cell_width).ljust(column_width)
            lines.append(
                [
                    Cell(addr_text, "strong" if row.is_fresh else "dim"),
                    *(_pair_cell(row, c, pair_counts.get((row.addr, c.addr)), cell_width) for c in columns),
                ]
            )
        lines += [[], [Cell("  by state", "dim")]]
        for aspect in COMPARED_ASPECTS:
            count = None
            if len(aspect.filter_reporting(fresh)) > 1:
                count = sum(1 for _ in find_differences(fresh, aspect.aspect_name))
            lines.append([Cell(f"  {aspect.aspect_name:<14}"), _agreement_cell(count)])
        lines += [[], [Cell("  Tab: differences and causes", "dim")]]
        return clip_lines(lines, height)


def _shorten_addr(addr: str, cell_width: int) -> str:
    """An address, cut at its start if it is too long, because addresses differ at their ends."""
    return addr if len(addr) <= cell_width else "…" + addr[1 - cell_width :]


def _agreement_cell(count: int | None) -> Cell:
    if count is None:
        return Cell("unknown", "warn")
    return Cell("equal", "good") if count == 0 else Cell(f"{count} differ", "bad")


def _pair_cell(row: ObservedNameServer, column: ObservedNameServer, count: int | None, width: int) -> Cell:
    if row is column:
        text, tone = "·", "dim"
    elif count is None:
        text, tone = "?", "warn"
    else:
        text, tone = ("equal", "good") if count == 0 else (str(count), "bad")
    return Cell(align_text(text, width, True) + " ", tone)


class DifferencesView(ServersTabView):
    """The objects on which the last polls of the name servers differ."""

    name = "differences"
    key_fields = ("aspect_name", "object_name")
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

    def open_row(self, row: NameServerDifference) -> View:
        if row.aspect_name == "topics":
            return open_topic(row.object_name)
        return DifferenceSidesView(row.aspect_name, row.object_name)


def _describe_sides(difference: NameServerDifference) -> str:
    """The reported texts, each with the name servers that report it."""
    addrs_by_text: dict[str, list[str]] = {}
    for addr, text in difference.text_by_server.items():
        addrs_by_text.setdefault(text, []).append(addr)
    return "; ".join(f"{text} on {' '.join(addrs)}" for text, addrs in addrs_by_text.items())


class DifferenceSidesView(View):
    """One difference, with the text that each name server reports."""

    name = "sides"
    columns: Sequence[Column[tuple[str, str]]] = (
        Column("addr", "NAME SERVER", 22, "", lambda row: row[0], tone="strong"),
        Column("said", "TELLS", 40, "",
               lambda row: row[1], tone=lambda text: "bad" if text == "absent" else "",
               grow=True),
    )  # fmt: skip
    empty_text = "the name servers agree now"

    def __init__(self, aspect_name: str, object_name: str) -> None:
        self.aspect_name, self.object_name = aspect_name, object_name
        self.title = object_name

    def empty_message(self, model: ClusterModel) -> str:
        return self.empty_text if len(model.list_fresh_servers()) > 1 else _TOO_FEW_SERVERS

    def build_rows(self, model: ClusterModel) -> Sequence[tuple[str, str]]:
        for difference in find_differences(model.list_fresh_servers(), self.aspect_name):
            if difference.object_name == self.object_name:
                return list(difference.text_by_server.items())
        return []

    def row_key(self, row: tuple[str, str]) -> str:
        return row[0]


class DivergenceCausesView(ServersTabView):
    """The findings of the command `divergence`, which compares all routes and suggests causes."""

    name = "causes"
    key_fields = ("section_name", "parent_name", "name", "cause")
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

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("divergence")]

    def build_rows(self, model: ClusterModel) -> Sequence[DivergenceFinding]:
        return _list_findings(model)

    def find_answer(self, model: ClusterModel) -> LatestAnswer[DivergencePolled]:
        return model.divergence_answer

    def render_headline(self, model: ClusterModel) -> CellLine:
        answer = model.divergence_answer
        if answer.last_poll is not None:
            return [Cell("verdict: "), Cell(answer.last_poll.verdict or "", "strong")]
        if answer.error_text is not None:
            return [Cell("the comparison failed", "warn")]
        return [Cell(model.describe_awaited("the routes of all name servers are"), "dim")]

    def subject_of_row(self, row: DivergenceFinding) -> RowSubject:
        return RowSubject(remedy_words=row_actions.find_remedy_words(row.advice))

    def open_row(self, row: DivergenceFinding) -> View:
        return DivergenceAdviceView(row.section_name, row.name, row.cause)


def _list_findings(model: ClusterModel) -> list[DivergenceFinding]:
    poll = model.divergence_answer.last_poll
    return list(poll.findings) if poll is not None else []


class DivergenceAdviceView(View):
    """One finding: the value of each name server, the cause, and the advice."""

    name = "advice"
    is_drawing = True

    def __init__(self, aspect_name: str, object_name: str, cause: str) -> None:
        self.finding_key = (aspect_name, object_name, cause)
        self.title = object_name

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("divergence")]

    def draw_lines(self, model: ClusterModel, width: int, height: int) -> list[CellLine]:
        for finding in _list_findings(model):
            if (finding.section_name, finding.name, finding.cause) == self.finding_key:
                lines: list[CellLine] = [
                    [],
                    *(
                        [Cell(f"  {addr:<22}", "strong"), Cell(f" {text}")]
                        for addr, text in finding.texts_by_server.items()
                    ),
                    [],
                    *_wrap_text("cause", finding.cause, width),
                    *_wrap_text("to do", finding.advice, width),
                ]
                return clip_lines(lines, height)
        return [[], [Cell("  this difference is gone", "good")]]


_LABEL_WIDTH = 10


def _wrap_text(label: str, text: str, width: int) -> list[CellLine]:
    """A labelled text, wrapped between words: a command that is cut cannot be copied."""
    width = max(width - _LABEL_WIDTH, 20)
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    labels = [f"  {label}".ljust(_LABEL_WIDTH), *[" " * _LABEL_WIDTH] * (len(lines) - 1)]
    return [[Cell(label, "accent"), Cell(line)] for label, line in zip(labels, lines, strict=True)]
