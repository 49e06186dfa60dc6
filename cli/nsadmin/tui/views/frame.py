"""Frame: what stands around every screen: who is looked at, whether they agree, where one is. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import levels, units
from nsadmin.tui.agreement import Verdict
from nsadmin.tui.keys import KEYS
from nsadmin.tui.model import Model, NameServer
from nsadmin.tui.views import states
from nsadmin.tui.views.table import Cell, Tone
from nsadmin.tui.views.view import Line

_AGREEMENT: dict[str, tuple[str, Tone]] = {
    "agree": ("✓ agree", "good"),
    "diverge": ("≠ diverge", "bad"),
    "unknown": ("? unknown", "warn"),
}


class Status(NamedTuple):
    """What the app does: `at` is what time it shows, `mode` live, paused or what is replayed."""

    context: str
    color: str | None
    interval: float
    at: int
    mode: str = "live"
    read_only: bool = False
    recording: bool = False
    errors: int = 0


def header(model: Model, status: Status, verdict: Verdict, width: int) -> list[Line]:
    """Two lines: context, agreement, clock; the name servers."""
    left = [
        Cell(" nsadmin ", "brand"),
        Cell(f" {status.context} ", f"context-{status.color}" if status.color else "context"),
        Cell("  "),
        Cell(*_AGREEMENT[verdict.word]),
    ]
    if verdict.why and width >= 100:
        left.append(Cell(f" ({', '.join(verdict.why)})"[: max(width - 80, 12)], "dim"))
    right: list[Cell] = []
    if status.errors:
        right += [Cell(f"{status.errors} in the log", "warn"), Cell("  ")]
    if status.recording:
        right += [Cell("● rec", "bad"), Cell("  ")]
    if status.read_only:
        right += [Cell(" READ-ONLY " if width >= 90 else " RO ", "badge"), Cell("  ")]
    mode: Tone = "dim" if status.mode == "live" else "warn"
    right.append(Cell(f"{status.mode} " if status.mode != "live" else "", mode))
    right.append(Cell(f"every {status.interval:g} s " if width >= 90 else f"{status.interval:g} s ", "dim"))
    right.append(Cell(units.clock(status.at) + " ", "strong"))
    return [spread(left, right, width), _servers(model, status, width)]


def _servers(model: Model, status: Status, width: int) -> Line:
    servers = list(model.servers.values())
    room = max((width - 1) // max(len(servers), 1) - 2, 12)
    cells: list[Cell] = [Cell(" ")]
    for server in servers:
        state = states.of_name_server(server)
        said, tone = _said(server, status.at)
        addr = (
            server.addr if len(server.addr) + len(said) + 3 <= room else f":{server.addr.rpartition(':')[2]}"
        )
        cells += [Cell(state.sign + " ", state.tone), Cell(addr, ""), Cell(f" {said}", tone), Cell("  ")]
    return cells


def _said(server: NameServer, now: int) -> tuple[str, Tone]:
    if server.error is not None and server.since is not None:
        return f"silent {units.age(now - server.since)}", "bad"
    if server.last is None:
        return "…", "dim"
    return units.millis(server.last.millis), levels.tone("latency", server.last.millis) or "dim"


def spread(left: Sequence[Cell], right: Sequence[Cell], width: int) -> Line:
    """The one at the left edge, the other at the right; where both have no room, the left is cut."""
    room = width - sum(len(cell.text) for cell in right)
    kept: list[Cell] = []
    for cell in left:
        if room <= 0:
            break
        kept.append(cell._replace(text=cell.text[:room]))
        room -= len(kept[-1].text)
    return [*kept, Cell(" " * max(room, 0)), *right]


def screens(names: Sequence[str], chosen: str | None, width: int) -> Line:
    """The screens and their numbers; names are cut where there is no room for all."""
    needed = sum(len(name) + 4 for name in names)
    room = width if needed <= width else width // max(len(names), 1) - 1
    cells: list[Cell] = []
    for at, name in enumerate(names, 1):
        is_chosen = name == chosen
        # A number and a blank before, a blank behind.
        text = f" {at} {name} "
        if len(text) > room:
            text = f" {at} {name[: max(room - 4, 2)]} "
        cells.append(Cell(text, "tabChosen" if is_chosen else "tab"))
    return cells


def tabs(names: Sequence[str], chosen: int, path: Sequence[str]) -> Line:
    """The way here, and the tabs of what one looks at."""
    cells = [Cell(" " + " › ".join(path) + "  ", "strong")]
    for at, name in enumerate(names):
        cells.append(Cell(f" {name} ", "tabChosen" if at == chosen else "tab"))
    return cells


def footer(shown: int, total: int, chosen_filter: str, ordered: str, hidden: int, width: int) -> Line:
    """How many rows of how many, and why."""
    left = [Cell(f" {shown}", "strong")]
    left.append(Cell(f" of {total} rows" if shown != total else " rows", "dim"))
    if chosen_filter:
        left += [Cell("  filter ", "dim"), Cell(chosen_filter, "accent")]
    if ordered:
        left += [Cell("  by ", "dim"), Cell(ordered, "accent")]
    if hidden and width >= 60:
        left.append(Cell(f"  {hidden} columns more: ← →", "dim"))
    return left


def hints(width: int, extra: Sequence[tuple[str, str]] = ()) -> Line:
    """The keys that matter most, as many as there is room for."""
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
    """All keys of one, as they are read on a keyboard."""
    return " ".join(_NAMES.get(key, key) for key in keys.split(","))
