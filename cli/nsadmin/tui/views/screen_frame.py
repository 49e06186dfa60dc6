"""The frame around every view: header, screen bar, footer and key hints. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.key_bindings import KEY_BINDINGS, KeyBinding
from nsadmin.tui.model.agreement import AgreementVerdict
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedNameServer, Silence
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell, Tone

_AGREEMENT_LABELS: dict[str, tuple[str, Tone]] = {
    "agree": ("✓ agree", "good"),
    "diverge": ("≠ diverge", "bad"),
    "unknown": ("? unknown", "warn"),
    "single": ("single name server", "dim"),
    "silent": ("✕ no name server answers", "bad"),
}


class AppStatus(NamedTuple):
    """The state of the app for the header. `shown_at_ms` is the time that the screen shows.

    `feed_mode` is "live", "paused", or a text such as "replay x60".
    """

    context_label: str
    color: str | None
    interval_seconds: float
    shown_at_ms: int
    feed_mode: str = "live"
    is_read_only: bool = False
    is_recording: bool = False
    log_count: int = 0


def render_header(
    model: ClusterModel, status: AppStatus, verdict: AgreementVerdict, width: int
) -> list[CellLine]:
    """Two lines: first agreement, context and clock, as far as they fit; then the name servers."""
    left = _left_parts(status, _label_agreement(verdict, len(model.name_servers)), verdict.reasons, width)
    right = _right_parts(status, width)
    # Keep one blank between the left and the right parts.
    while (spare_width := width - 1 - sum(part.min_width for part in (*left, *right))) < 0:
        dropped = max((*left, *right), key=lambda part: part.drop_rank)
        if dropped.drop_rank == 0:
            break
        left, right = ([part for part in side if part is not dropped] for side in (left, right))
    cells = []
    for part in left:
        extra_width = min(len(part.text) - part.min_width, max(spare_width, 0))
        spare_width -= extra_width
        cells.append(part.to_cell(part.min_width + extra_width))
    first_line = spread_cells(cells, [part.to_cell() for part in right], width)
    return [first_line, _servers_line(model, status, width)]


def _label_agreement(verdict: AgreementVerdict, server_count: int) -> tuple[str, Tone]:
    if verdict.outcome == "partial":
        return f"✕ {len(verdict.reasons)} of {server_count} silent", "bad"
    return _AGREEMENT_LABELS[verdict.outcome]


class _HeaderPart(NamedTuple):
    """A part of the header. Parts with the highest `drop_rank` are left out first.

    A part may be cut to `min_width`.
    """

    text: str
    tone: Tone
    drop_rank: int
    min_width: int

    def to_cell(self, max_width: int | None = None) -> Cell:
        if max_width is None or len(self.text) <= max_width:
            return Cell(self.text, self.tone)
        return Cell(self.text[: max_width - 2] + "…" + self.text[-1], self.tone)


def _make_part(text: str, tone: Tone, drop_rank: int, min_width: int | None = None) -> _HeaderPart:
    return _HeaderPart(text, tone, drop_rank, min(len(text), min_width or len(text)))


_MIN_TEXT_WIDTH = 8
"""The shortest useful width of a context's name and of the list of differing aspects."""


def _left_parts(
    status: AppStatus, agreement_label: tuple[str, Tone], reasons: Sequence[str], width: int
) -> list[_HeaderPart]:
    """The context and the agreement of the name servers. The agreement is never left out."""
    sign_text, tone = agreement_label
    context_tone = f"context-{status.color}" if status.color else "context"
    parts = [
        _make_part(" nsadmin ", "brand", 5),
        _make_part(f" {status.context_label} ", context_tone, 2, _MIN_TEXT_WIDTH),
        _make_part("  ", "", 2),
        _make_part(sign_text, tone, 0),
    ]
    if reasons and width >= 100:
        parts.append(_make_part(f" ({', '.join(reasons)})", "dim", 6, _MIN_TEXT_WIDTH))
    return parts


def _right_parts(status: AppStatus, width: int) -> list[_HeaderPart]:
    """The state of the app, with shorter texts on narrow screens."""
    gap = _make_part("  " if width >= 60 else " ", "", 1)
    parts = []
    if status.log_count:
        log_text = "in the log" if width >= 60 else "log"
        parts += [_make_part(f"{status.log_count} {log_text}", "warn", 1), gap]
    if status.is_recording:
        parts += [_make_part("● rec", "bad", 1), gap]
    if status.is_read_only:
        parts += [_make_part(" READ-ONLY " if width >= 90 else " RO ", "badge", 1), gap]
    is_live = status.feed_mode == "live"
    return [
        *parts,
        _make_part("" if is_live else f"{status.feed_mode} ", "dim" if is_live else "warn", 1),
        _make_part(f"{'every ' if width >= 90 else ''}{status.interval_seconds:g} s ", "dim", 4),
        _make_part(units.format_clock(status.shown_at_ms) + " ", "strong", 3),
    ]


def _servers_line(model: ClusterModel, status: AppStatus, width: int) -> CellLine:
    """All name servers, with the duration of their last answer if all of them fit."""
    servers = list(model.name_servers.values())
    server_width = max((width - 1) // max(len(servers), 1) - 2, 12)
    line = _server_cells(servers, status.shown_at_ms, server_width)
    # The two blanks after the last name server need not fit.
    is_fitting = sum(len(cell.text) for cell in line) - 2 <= width
    return line if is_fitting else _server_cells(servers, status.shown_at_ms, 0)


def _server_cells(servers: Sequence[ObservedNameServer], now_ms: int, server_width: int) -> CellLine:
    """The name servers, each at most this wide. With width 0, only the sign and the port."""
    cells: list[Cell] = [Cell(" ")]
    for server in servers:
        state = display_states.state_of_name_server(server)
        answer_text, tone = _server_answer(server, now_ms)
        is_fitting = len(server.addr) + len(answer_text) + 3 <= server_width
        shown_addr = server.addr if is_fitting else f":{server.addr.rpartition(':')[2]}"
        cells += [Cell(state.sign + " ", state.tone), Cell(shown_addr, "")]
        cells += [Cell(f" {answer_text}" if server_width else "", tone), Cell("  ")]
    return cells


def _server_answer(server: ObservedNameServer, now_ms: int) -> tuple[str, Tone]:
    if server.error_text is not None and server.silent_since_ms is not None:
        return f"silent {units.format_age(now_ms - server.silent_since_ms)}", "bad"
    if server.last_poll is None:
        return "…", "dim"
    millis = server.last_poll.millis
    return units.format_millis(millis), alert_levels.figure_tone("latency", millis) or "dim"


def spread_cells(left_cells: Sequence[Cell], right_cells: Sequence[Cell], width: int) -> CellLine:
    """Align cells to the left and the right edge. If both do not fit, cut the left cells."""
    free_width = width - sum(len(cell.text) for cell in right_cells)
    kept_cells: list[Cell] = []
    for cell in left_cells:
        if free_width <= 0:
            break
        kept_cells.append(cell._replace(text=cell.text[:free_width]))
        free_width -= len(kept_cells[-1].text)
    return [*kept_cells, Cell(" " * max(free_width, 0)), *right_cells]


def render_silence(silence: Silence | None, now_ms: int) -> CellLine:
    """The reason and the duration of a silence, shown after figures that are old."""
    if silence is None:
        return []
    duration_text = "" if silence.since_ms is None else f", for {units.format_age(now_ms - silence.since_ms)}"
    return [Cell(f"  {silence.reason}{duration_text}", "warn")]


def dim_line(line: CellLine) -> CellLine:
    """A line in the tone of outdated figures."""
    return [cell._replace(tone="dim") for cell in line]


_MIN_TAB_WIDTH = 7
"""The width of a number and two letters of a screen's title."""


def render_screen_bar(
    titles: Sequence[str],
    chosen_title: str | None,
    width: int,
    problem_counts: Mapping[str, int] | None = None,
) -> CellLine:
    """The root views and their numbers, and how many rows with problems each has.

    On narrow screens, counts, blanks and titles are cut or left out. The tone still marks the problems.
    """
    counts = problem_counts or {}
    texts = [f"{title} ({counts[title]})" if counts.get(title) else title for title in titles]
    if sum(len(text) + 4 for text in texts) > width:
        texts = list(titles)
    needed = sum(len(text) + 4 for text in texts)
    last_blank = " " if needed <= width else ""
    if not last_blank:
        needed -= len(titles)
    tab_width = width if needed <= width else width // max(len(titles), 1) - 1
    cells: list[Cell] = []
    for number, title in enumerate(titles):
        is_chosen = title == chosen_title
        # The tab has a blank before the number, one after it, and one after the title.
        tab_text = f" {number} {texts[number]}{last_blank}"
        if tab_width < _MIN_TAB_WIDTH and not is_chosen:
            tab_text = f" {number} "
        elif len(tab_text) > tab_width >= _MIN_TAB_WIDTH:
            tab_text = f" {number} {title[: tab_width - 5]}… "
        tone: Tone = "tabProblem" if counts.get(title) else "tab"
        cells.append(Cell(tab_text, "tabChosen" if is_chosen else tone))
    return cells


def render_tab_bar(names: Sequence[str], chosen_index: int, title_path: Sequence[str]) -> CellLine:
    """The titles on the navigation stack, and the tabs of the current object."""
    cells = [Cell(" " + " › ".join(title_path) + "  ", "strong")]
    for index, name in enumerate(names):
        cells.append(Cell(f" {name} ", "tabChosen" if index == chosen_index else "tab"))
    return cells


def render_footer(
    shown_count: int,
    total_count: int,
    filter_text: str,
    sort_key: str,
    hidden_columns: int,
    width: int,
    marked_count: int = 0,
) -> CellLine:
    """The number of shown, of all and of marked rows, with the filter and the sort column."""
    row_word = "row" if total_count == 1 else "rows"
    rows_text = f" of {total_count} {row_word}" if shown_count != total_count else f" {row_word}"
    cells = [Cell(f" {shown_count}", "strong"), Cell(rows_text, "dim")]
    if marked_count:
        cells.append(Cell(f"  ◆ {marked_count} marked", "mark"))
    if hidden_columns and width < 60:
        cells.append(Cell(f"  +{hidden_columns} ← →", "dim"))
    if filter_text:
        cells += [Cell("  filter ", "dim"), Cell(filter_text, "accent")]
    if sort_key:
        cells += [Cell("  by ", "dim"), Cell(sort_key, "accent")]
    if hidden_columns and width >= 60:
        cells.append(Cell(f"  {count_noun(hidden_columns, 'column')} more: ← →", "dim"))
    return cells


def list_hints(has_messages: bool = False) -> list[KeyBinding]:
    """The bindings that the last line of the screen shows, in order. A narrow screen lacks the last ones.

    Views with `has_messages` show the key for messages instead of the key for sorting.
    """
    late_ids = ("sort", "pause") if has_messages else ("pause",)
    hinted = [b for b in KEY_BINDINGS if b.footer_hint and (has_messages or b.binding_id != "messages")]
    return sorted(hinted, key=lambda binding: binding.binding_id in late_ids)


def render_key_hints(width: int, has_messages: bool = False) -> CellLine:
    """The most important keys, as many as fit."""
    cells: list[Cell] = []
    for binding in list_hints(has_messages):
        key_label = format_keys(binding.key_names.split(",")[0])
        width -= len(key_label) + len(binding.footer_hint) + 3
        if width < 0:
            break
        cells += [Cell(f" {key_label}", "key"), Cell(f" {binding.footer_hint} ", "dim")]
    return cells


_KEY_LABELS = {
    "question_mark": "?", "exclamation_mark": "!", "slash": "/", "colon": ":", "minus": "-", "plus": "+",
    "underscore": "_", "escape": "Esc", "enter": "Enter", "space": "Space", "left_square_bracket": "[",
    "right_square_bracket": "]", "full_stop": ".", "greater_than_sign": ">", "comma": ",",
    "left_curly_bracket": "{", "right_curly_bracket": "}", "tab": "Tab", "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl-P",
}  # fmt: skip


def format_keys(key_names: str) -> str:
    """The keys of a binding, as a keyboard labels them."""
    return " ".join(_KEY_LABELS.get(key_name, key_name) for key_name in key_names.split(","))
