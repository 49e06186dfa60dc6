"""The home screen: the problems of the cluster, worst first, and a line with its pulse. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ProblemRecord
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.base_view import CellLine, CommandTarget, View, open_group
from nsadmin.tui.views.brokers.broker_table import list_broker_rows, summarize_brokers
from nsadmin.tui.views.table import Cell, Column, Tone

_SEVERITIES: dict[str, tuple[int, str, Tone]] = {
    "CRITICAL": (0, "✕", "bad"),
    "WARNING": (1, "!", "warn"),
    "UNKNOWN": (2, "?", "info"),
}
_STATE_BY_TONE = {"bad": "CRITICAL", "warn": "WARNING"}


class ProblemRow(NamedTuple):
    """A problem. `age_ms` is the time since when its check is not OK; None if unknown."""

    record: ProblemRecord
    age_ms: int | None

    @property
    def check_words(self) -> str:
        """The check and its subject, as `nsadmin check` takes them."""
        return f"{self.record.check} {self.record.about}" if self.record.about else self.record.check


def list_problems(model: ClusterModel) -> list[ProblemRow]:
    """All problems, worst first: those of the checks, and groups beyond the limits of `check lag`."""
    rows = [
        ProblemRow(record, model.now_ms - model.problem_starts_ms[record.check, record.about])
        for record in (model.problems_poll.problems if model.problems_poll is not None else ())
    ]
    for group, answer in model.group_answers.items():
        poll = answer.last_poll
        lag = poll.lag.messages if poll is not None else None
        state = _STATE_BY_TONE.get(alert_levels.lag_tone(lag))
        if poll is None or state is None:
            continue
        text = f"{group} has a lag of {units.format_count(lag)} messages"
        if not answer.is_fresh:
            text += f" ({units.format_age(model.now_ms - poll.at)} ago: {answer.error_text})"
        rows.append(ProblemRow(ProblemRecord("lag", group, state, text), None))
    rows.sort(key=lambda row: (_SEVERITIES[row.record.state][0], row.check_words))
    return rows


def _state_cell(row: ProblemRow) -> Cell:
    _, sign, tone = _SEVERITIES[row.record.state]
    return Cell(f"{sign} {row.record.state.lower()}", tone)


PROBLEM_COLUMNS: Sequence[Column[ProblemRow]] = (
    Column("state", "STATE", 10, "state of the check, as in `nsadmin check`",
           lambda row: _SEVERITIES[row.record.state][0], cell=_state_cell),
    Column("check", "CHECK", 12, "check that found the problem; Enter shows its whole output",
           lambda row: row.check_words, cell=lambda row: Cell(row.record.check, "strong")),
    Column("text", "PROBLEM", 36, "", lambda row: row.record.text, grow=True),
    Column("age", "SINCE", 7, "time since the check was OK, while this screen was open",
           lambda row: row.age_ms, show=units.format_age, right=True),
    Column("remedy", "TO DO", 30, "command or step that fixes it; x runs the command after a preview",
           lambda row: row.record.remedy, tone="accent", drop=1, grow=True),
)  # fmt: skip


class HomeView(View):
    """The problems that `nsadmin check all` reports, with the same limits."""

    name = "home"
    key_fields = ("check_words", "record.text")
    filter_fields = ("record.state", "check_words", "record.text")
    needs_name_servers = True
    puts_problems_first = False
    title = "Home"
    columns = PROBLEM_COLUMNS

    def build_rows(self, model: ClusterModel) -> Sequence[ProblemRow]:
        return list_problems(model)

    def subject_of_row(self, row: ProblemRow) -> RowSubject:
        return RowSubject(remedy_words=row_actions.find_remedy_words(row.record.remedy))

    def open_row(self, row: ProblemRow) -> CommandTarget | View:
        if row.record.check == "lag" and row.record.about is not None:
            return open_group(row.record.about)
        return CommandTarget(("check", row.record.check))

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        return [DetailQuery("groups")]

    def empty_message(self, model: ClusterModel) -> str:
        silence, poll = self.find_silence(model), model.problems_poll
        if silence is not None:
            return f"unknown: {silence.reason}"
        if poll is None:
            return "the checks are not in the recording" if model.is_replay else "the checks are running"
        unchecked = _list_unchecked(model)
        unchecked_text = f". Not checked: {', '.join(unchecked)}" if unchecked else ""
        return f"no problem in {count_noun(poll.check_count, 'check')}{unchecked_text}"

    def render_headline(self, model: ClusterModel) -> CellLine:
        """The counts of problems, and the pulse: brokers, messages in and out, lag, the fullest disk."""
        problems = list_problems(model)
        cells = [*_count_cells(problems), *summarize_brokers(list_broker_rows(model))]
        lags = [trend.last_value for trend in model.lag_trends.values() if trend.last_value is not None]
        if lags:
            cells += [Cell("  behind "), Cell(units.format_count(sum(lags)), "accent")]
        ratios = [broker.read_now("commitLogDiskRatio") for broker in model.brokers.values()]
        fullest = max((ratio for ratio in ratios if ratio is not None), default=None)
        if fullest is not None:
            cells += [Cell("  disk "), Cell(units.format_percent(fullest), alert_levels.disk_tone(fullest))]
        if problems and (unchecked := _list_unchecked(model)):
            cells.append(Cell(f"  not checked: {', '.join(unchecked)}", "dim"))
        return cells


def _list_unchecked(model: ClusterModel) -> list[str]:
    """What no check looked at. This screen looks at the lag of groups itself, one after another."""
    names_poll = model.group_names_answer.last_poll
    known_groups = {name for name, answer in model.group_answers.items() if answer.last_poll is not None}
    unread_count = None if names_poll is None else len(set(names_poll.names) - known_groups)
    lag_text = "lag" if unread_count is None else f"lag of {count_noun(unread_count, 'group')}"
    return [
        lag_text if check == "lag" else check
        for check in (model.problems_poll.unchecked if model.problems_poll is not None else ())
        if check != "lag" or unread_count != 0
    ]


def _count_cells(rows: Sequence[ProblemRow]) -> list[Cell]:
    counts = Counter(row.record.state for row in rows)
    return [
        Cell(f"{sign} {counts[state]} {state.lower()}  ", tone)
        for state, (_, sign, tone) in _SEVERITIES.items()
        if counts[state]
    ]
