"""The home screen: the problems of the cluster, worst first, and a line with its pulse. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ProblemRecord
from nsadmin.tui.views import alert_levels, units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from nsadmin.tui.views.brokers.broker_table import summarize_brokers
from nsadmin.tui.views.table import Cell, Column, Tone, make_column
from nsadmin.tui.views.view_targets import CommandTarget, GroupTarget

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
    check_records = model.problems_poll.problems if model.problems_poll is not None else ()
    problem_rows = [
        ProblemRow(record, model.now_ms - model.problem_starts_ms[record.check, record.about])
        for record in check_records
    ]
    for group_name, group_answer in model.group_answers.items():
        group_poll = group_answer.last_poll
        group_lag = group_poll.lag.messages if group_poll is not None else None
        lag_state = _STATE_BY_TONE.get(alert_levels.lag_tone(group_lag))
        if lag_state is not None:
            lag_text = f"{group_name} has a backlog of {units.format_count(group_lag)} messages"
            problem_rows.append(ProblemRow(ProblemRecord("lag", group_name, lag_state, lag_text), None))
    problem_rows.sort(key=lambda row: (_SEVERITIES[row.record.state][0], row.check_words))
    return problem_rows


def _state_cell(row: ProblemRow) -> Cell:
    _, sign, tone = _SEVERITIES[row.record.state]
    return Cell(f"{sign} {row.record.state.lower()}", tone)


PROBLEM_COLUMNS: Sequence[Column[ProblemRow]] = (
    Column(
        "state",
        "STATE",
        10,
        lambda row: _SEVERITIES[row.record.state][0],
        _state_cell,
        help_text="state of the check, as in `nsadmin check`",
    ),
    Column(
        "check",
        "CHECK",
        12,
        lambda row: row.check_words,
        lambda row: Cell(row.record.check, "strong"),
        help_text="check that found the problem; Enter shows its whole output",
    ),
    make_column(
        "text",
        "PROBLEM",
        36,
        lambda row: row.record.text,
        grows_to_fit=True,
    ),
    make_column(
        "age",
        "SINCE",
        7,
        lambda row: row.age_ms,
        format_value=units.format_age,
        is_right_aligned=True,
        help_text="time since the check was OK, while this screen was open",
    ),
    make_column(
        "remedy",
        "TO DO",
        30,
        lambda row: row.record.remedy,
        tone="accent",
        drop_rank=1,
        grows_to_fit=True,
        help_text="command or step that fixes it; x runs the command after a preview",
    ),
)


class HomeView(View):
    """The problems that `nsadmin check all` reports, with the same limits."""

    view_name = "home"
    puts_problems_first = False
    view_title = "Home"
    columns = PROBLEM_COLUMNS

    def build_rows(self, model: ClusterModel) -> Sequence[ProblemRow]:
        return list_problems(model)

    def row_key(self, row: ProblemRow) -> str:
        return f"{row.check_words} {row.record.text}"

    def filter_text(self, row: ProblemRow) -> str:
        return f"{row.record.state} {row.check_words} {row.record.text}"

    def subject_of_row(self, row: ProblemRow) -> RowSubject:
        return RowSubject(remedy_words=row_actions.find_remedy_words(row.record.remedy))

    def open_row(self, row: ProblemRow) -> CommandTarget | GroupTarget:
        if row.record.check == "lag" and row.record.about is not None:
            return GroupTarget(row.record.about)
        return CommandTarget(("check", row.record.check))

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("groups")]

    def find_silence(self, model: ClusterModel) -> Silence | None:
        return model.find_silence()

    def empty_message(self, model: ClusterModel) -> str:
        silence = self.find_silence(model)
        if silence is not None:
            return f"unknown: {silence.reason}"
        if model.problems_poll is None:
            return "the checks are not in the recording" if model.is_replay else "the checks are running"
        return f"no problem: all {model.problems_poll.check_count} checks are OK"

    def render_headline(self, model: ClusterModel) -> CellLine:
        """The counts of problems, and the pulse: brokers, messages in and out, lag, the fullest disk."""
        headline_cells = [*_count_cells(list_problems(model)), *summarize_brokers(list_broker_rows(model))]
        lag_values = [trend.values[-1] for trend in model.lag_trends.values() if trend.values]
        if lag_values:
            headline_cells += [Cell("  behind "), Cell(units.format_count(sum(lag_values)), "accent")]
        disk_ratios = [broker.read_number("commitLogDiskRatio") for broker in model.brokers.values()]
        fullest_ratio = max((ratio for ratio in disk_ratios if ratio is not None), default=None)
        if fullest_ratio is not None:
            disk_cell = Cell(units.format_percent(fullest_ratio), alert_levels.disk_tone(fullest_ratio))
            headline_cells += [Cell("  disk "), disk_cell]
        return headline_cells


def _count_cells(problem_rows: Sequence[ProblemRow]) -> list[Cell]:
    if not problem_rows:
        return []
    count_cells = []
    for state, (_, sign, tone) in _SEVERITIES.items():
        state_count = sum(1 for row in problem_rows if row.record.state == state)
        if state_count:
            count_cells.append(Cell(f"{sign} {state_count} {state.lower()}  ", tone))
    return count_cells
