"""The tones of figures: the warning and critical thresholds of `nsadmin check`, as tones of cells. Pure."""

from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.checks.thresholds import FIGURE_MEASURES, CheckScale
from nsadmin.tui.views.table import Tone

_LAG_SCALE, _HEARTBEAT_SCALE = CheckScale("lag"), CheckScale("heartbeat")
_FIGURE_SCALE = CheckScale("figures", own_measures=FIGURE_MEASURES.values())
_TONE_BY_STATE: dict[CheckState, Tone] = {CheckState.WARNING: "warn", CheckState.CRITICAL: "bad"}


def lag_tone(lag_messages: float | None) -> Tone:
    """The tone of a consumer lag (messages), with the thresholds of `check lag`."""
    return _scale_tone(_LAG_SCALE, "lag", lag_messages)


def heartbeat_tone(patience_ratio: float | None) -> Tone:
    """The tone of a heartbeat's age as a ratio of the expiry time, by the thresholds of `check heartbeat`."""
    return _scale_tone(_HEARTBEAT_SCALE, "longest", None if patience_ratio is None else patience_ratio * 100)


def disk_tone(used_ratio: float | None) -> Tone:
    """The tone of a disk's usage, a ratio between 0 and 1."""
    return _scale_tone(_FIGURE_SCALE, "disk", None if used_ratio is None else used_ratio * 100)


def figure_tone(figure_name: str, value: float | None) -> Tone:
    """The tone of a figure of `thresholds.FIGURES`, or "" if it is below its thresholds or unknown."""
    return _scale_tone(_FIGURE_SCALE, figure_name, value)


def slave_state_tone(slave_state: str) -> Tone:
    """The tone of a slave's or a difference's state: equal, lag, drift or unknown."""
    return {"equal": "good", "lag": "info", "drift": "warn"}.get(slave_state, "dim")


def _scale_tone(scale: CheckScale, measure_name: str, measured_value: float | None) -> Tone:
    if measured_value is None:
        return ""
    return _TONE_BY_STATE.get(scale.make_sample(measure_name, measured_value).alert_state, "")
