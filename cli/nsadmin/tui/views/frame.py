"""The frame around every view: header, screen bar, footer and key hints. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import levels, units
from nsadmin.tui.agreement import Verdict
from nsadmin.tui.keys import KEYS
from nsadmin.tui.model import Model, NameServer, Silence
from nsadmin.tui.views import states
from nsadmin.tui.views.table import Cell, Tone
from nsadmin.tui.views.view import Line

_AGREEMENT: dict[str, tuple[str, Tone]] = {
    "agree": ("✓ agree", "good"),
    "diverge": ("≠ diverge", "bad"),
    "unknown": ("? unknown", "warn"),
}


class Status(NamedTuple):
    """The state of the app for the header. `shown_at_ms` is the time that the screen shows.

    `feed_mode` is "live", "paused", or a text such as "replay x60".
    """

    context: str
    color: str | None
    interval: float
    at: int
    mode: str = "live"
    read_only: bool = False
    recording: bool = False
    errors: int = 0


def header(model: Model, status: Status, verdict: Verdict, width: int) -> list[Line]:
    """Two lines: first agreement, context and clock, as far as they fit; then the name servers."""
    left, right = _left(status, verdict, width), _right(status, width)
    # Keep one blank between the left and the right parts.
    while (spare := width - 1 - sum(part.least for part in (*left, *right))) < 0:
        last = max((*left, *right), key=lambda part: part.rank)
        if last.rank == 0:
            break
        left, right = ([part for part in side if part is not last] for side in (left, right))
    first = []
    for part in left:
        taken = min(len(part.text) - part.least, max(spare, 0))
        spare -= taken
        first.append(part.cell(part.least + taken))
    return [spread(first, [part.cell() for part in right], width), _servers(model, status, width)]


class _Part(NamedTuple):
    """A part of the header. Parts with the highest `drop_rank` are left out first.

    A part may be cut to `min_width`.
    """

    text: str
    tone: Tone
    rank: int
    least: int

    def cell(self, room: int | None = None) -> Cell:
        if room is None or len(self.text) <= room:
            return Cell(self.text, self.tone)
        return Cell(self.text[: room - 2] + "…" + self.text[-1], self.tone)


def _part(text: str, tone: Tone, rank: int, least: int | None = None) -> _Part:
    return _Part(text, tone, rank, min(len(text), least or len(text)))


_SHORTEST = 8
"""The shortest useful width of a context's name and of the list of differing aspects."""


def _left(status: Status, verdict: Verdict, width: int) -> list[_Part]:
    """The context and the agreement of the name servers. The agreement is never left out."""
    sign, tone = _AGREEMENT[verdict.word]
    context = f"context-{status.color}" if status.color else "context"
    parts = [
        _part(" nsadmin ", "brand", 5),
        _part(f" {status.context} ", context, 2, _SHORTEST),
        _part("  ", "", 2),
        _part(sign, tone, 0),
    ]
    if verdict.why and width >= 100:
        parts.append(_part(f" ({', '.join(verdict.why)})", "dim", 6, _SHORTEST))
    return parts


def _right(status: Status, width: int) -> list[_Part]:
    """The state of the app, with shorter texts on narrow screens."""
    gap = "  " if width >= 60 else " "
    parts = []
    if status.errors:
        log = "in the log" if width >= 60 else "log"
        parts += [_part(f"{status.errors} {log}", "warn", 1), _part(gap, "", 1)]
    if status.recording:
        parts += [_part("● rec", "bad", 1), _part(gap, "", 1)]
    if status.read_only:
        parts += [_part(" READ-ONLY " if width >= 90 else " RO ", "badge", 1), _part(gap, "", 1)]
    live = status.mode == "live"
    parts.append(_part("" if live else f"{status.mode} ", "dim" if live else "warn", 1))
    interval = f"every {status.interval:g} s " if width >= 90 else f"{status.interval:g} s "
    return [*parts, _part(interval, "dim", 4), _part(units.clock(status.at) + " ", "strong", 3)]


def _servers(model: Model, status: Status, width: int) -> Line:
    """All name servers, with the duration of their last answer if all of them fit."""
    servers = list(model.servers.values())
    room = max((width - 1) // max(len(servers), 1) - 2, 12)
    line = _each_server(servers, status.at, room)
    # The two blanks after the last name server need not fit.
    if sum(len(cell.text) for cell in line) - 2 > width:
        return _each_server(servers, status.at, 0)
    return line


def _each_server(servers: Sequence[NameServer], now: int, room: int) -> Line:
    """The name servers, each at most this wide. With width 0, only the sign and the port."""
    cells: list[Cell] = [Cell(" ")]
    for server in servers:
        state = states.of_name_server(server)
        said, tone = _said(server, now)
        addr = (
            server.addr if len(server.addr) + len(said) + 3 <= room else f":{server.addr.rpartition(':')[2]}"
        )
        cells += [Cell(state.sign + " ", state.tone), Cell(addr, "")]
        cells += [Cell(f" {said}" if room else "", tone), Cell("  ")]
    return cells


def _said(server: NameServer, now: int) -> tuple[str, Tone]:
    if server.error is not None and server.since is not None:
        return f"silent {units.age(now - server.since)}", "bad"
    if server.last is None:
        return "…", "dim"
    return units.millis(server.last.millis), levels.tone("latency", server.last.millis) or "dim"


def spread(left: Sequence[Cell], right: Sequence[Cell], width: int) -> Line:
    """Align cells to the left and the right edge. If both do not fit, cut the left cells."""
    room = width - sum(len(cell.text) for cell in right)
    kept: list[Cell] = []
    for cell in left:
        if room <= 0:
            break
        kept.append(cell._replace(text=cell.text[:room]))
        room -= len(kept[-1].text)
    return [*kept, Cell(" " * max(room, 0)), *right]


def silent(silence: Silence | None, now: int) -> Line:
    """The reason and the duration of a silence, shown after figures that are old."""
    if silence is None:
        return []
    held = "" if silence.since is None else f", for {units.age(now - silence.since)}"
    return [Cell(f"  {silence.why}{held}", "warn")]


def old(line: Line) -> Line:
    """A line in the tone of old figures."""
    return [cell._replace(tone="dim") for cell in line]


_NARROWEST = 7
"""The width of a number and two letters of a screen's title."""


def screens(names: Sequence[str], chosen: str | None, width: int) -> Line:
    """The root views and their numbers. On narrow screens, titles are cut or left out."""
    needed = sum(len(name) + 4 for name in names)
    room = width if needed <= width else width // max(len(names), 1) - 1
    are_numbers = room < _NARROWEST
    cells: list[Cell] = []
    for at, name in enumerate(names, 1):
        is_chosen = name == chosen
        # The tab has a blank before the number, one after it, and one after the title.
        text = f" {at} {name} "
        if are_numbers and not is_chosen:
            text = f" {at} "
        elif len(text) > room and not are_numbers:
            text = f" {at} {name[: room - 5]}… "
        cells.append(Cell(text, "tabChosen" if is_chosen else "tab"))
    return cells


def tabs(names: Sequence[str], chosen: int, path: Sequence[str]) -> Line:
    """The titles on the navigation stack, and the tabs of the current object."""
    cells = [Cell(" " + " › ".join(path) + "  ", "strong")]
    for at, name in enumerate(names):
        cells.append(Cell(f" {name} ", "tabChosen" if at == chosen else "tab"))
    return cells


def footer(shown: int, total: int, chosen_filter: str, ordered: str, hidden: int, width: int) -> Line:
    """The number of shown and of all rows, with the filter and the sort column."""
    left = [Cell(f" {shown}", "strong")]
    left.append(Cell(f" of {total} rows" if shown != total else " rows", "dim"))
    if hidden and width < 60:
        left.append(Cell(f"  +{hidden} ← →", "dim"))
    if chosen_filter:
        left += [Cell("  filter ", "dim"), Cell(chosen_filter, "accent")]
    if ordered:
        left += [Cell("  by ", "dim"), Cell(ordered, "accent")]
    if hidden and width >= 60:
        left.append(Cell(f"  {hidden} columns more: ← →", "dim"))
    return left


def hints(width: int, extra: Sequence[tuple[str, str]] = ()) -> Line:
    """The most important keys, as many as fit."""
    cells: list[Cell] = []
    room = width
    known = [(_shown(key.keys), key.hint) for key in KEYS if key.hint]
    for key, word in [*extra, *known]:
        need = len(key) + len(word) + 3
        if need > room:
            break
        room -= need
        cells += [Cell(f" {key}", "key"), Cell(f" {word} ", "dim")]
    return cells


_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "minus": "-",
    "plus": "+",
    "underscore": "_",
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "full_stop": ".",
    "comma": ",",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
}


def _shown(keys: str) -> str:
    first = keys.split(",")[0]
    return _NAMES.get(first, first)


def shown_keys(keys: str) -> str:
    """The keys of a binding, as a keyboard labels them."""
    return " ".join(_NAMES.get(key, key) for key in keys.split(","))
