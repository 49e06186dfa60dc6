"""The list of name servers and the settings of one of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.agreement import count_pairwise_differences, judge_agreement
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedNameServer
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.table import Cell, Column


class NameServerRow(NamedTuple):
    """A name server, and the largest number of differences between it and another name server.

    `other_name` is the address under which the same name server is listed already.
    """

    server: ObservedNameServer
    now_ms: int
    difference_count: int | None
    other_name: str | None = None

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
        from nsadmin.tui.views.divergence import DifferencesView, DivergenceCausesView, DivergenceMatrixView

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
