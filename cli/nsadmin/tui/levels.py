"""Levels: which figures deserve a look, and which a hand: those of checks, in the tones of a screen. Pure."""

from nsadmin.operations.checks.finding import State
from nsadmin.operations.checks.thresholds import FIGURES, Scale
from nsadmin.tui.views.table import Tone

_LAG, _HEARTBEAT = Scale("lag"), Scale("heartbeat")
_FIGURES = Scale("figures", measures=FIGURES.values())
_TONES: dict[State, Tone] = {State.WARNING: "warn", State.CRITICAL: "bad"}


def lag(number: float | None) -> Tone:
    """As `check lag` has it."""
    return _tone(_LAG, "lag", number)


def heartbeat(part: float | None) -> Tone:
    """As `check heartbeat` has it: the part of the time that a broker may be silent."""
    return _tone(_HEARTBEAT, "longest", None if part is None else part * 100)


def disk(ratio: float | None) -> Tone:
    """A part of the whole."""
    return _tone(_FIGURES, "disk", None if ratio is None else ratio * 100)


def tone(name: str, number: float | None) -> Tone:
    """How bad a figure of `thresholds.FIGURES` is; "" for one that is all right or not known."""
    return _tone(_FIGURES, name, number)


def _tone(scale: Scale, name: str, number: float | None) -> Tone:
    return "" if number is None else _TONES.get(scale.sample(name, number).state, "")
