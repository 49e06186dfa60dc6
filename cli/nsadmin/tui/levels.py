"""The tones of figures: the warning and critical thresholds of `nsadmin check`, as tones of cells. Pure."""

from nsadmin.operations.checks.finding import State
from nsadmin.operations.checks.thresholds import FIGURES, Scale
from nsadmin.tui.views.table import Tone

_LAG, _HEARTBEAT = Scale("lag"), Scale("heartbeat")
_FIGURES = Scale("figures", measures=FIGURES.values())
_TONES: dict[State, Tone] = {State.WARNING: "warn", State.CRITICAL: "bad"}


def lag(number: float | None) -> Tone:
    """The tone of a consumer lag (messages), with the thresholds of `check lag`."""
    return _tone(_LAG, "lag", number)


def heartbeat(part: float | None) -> Tone:
    """The tone of a heartbeat's age as a ratio of the expiry time, by the thresholds of `check heartbeat`."""
    return _tone(_HEARTBEAT, "longest", None if part is None else part * 100)


def disk(ratio: float | None) -> Tone:
    """The tone of a disk's usage, a ratio between 0 and 1."""
    return _tone(_FIGURES, "disk", None if ratio is None else ratio * 100)


def tone(name: str, number: float | None) -> Tone:
    """The tone of a figure of `thresholds.FIGURES`, or "" if it is below its thresholds or unknown."""
    return _tone(_FIGURES, name, number)


def _tone(scale: Scale, name: str, number: float | None) -> Tone:
    return "" if number is None else _TONES.get(scale.sample(name, number).state, "")
