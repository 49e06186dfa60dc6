"""The tones of figures: the warning and critical thresholds of `nsadmin check`, as tones of cells. Pure."""

from nsadmin.operations.checks.check import CheckScale
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.findings import CheckMeasure, CheckState
from nsadmin.tui.views.table import Tone

FIGURE_MEASURES = (
    # Above 85 % brokers delete messages early (diskSpaceCleanForciblyRatio); at 90 % writes stop
    # (diskSpaceWarningLevelRatio).
    CheckMeasure("disk", "used disk space of a broker", "%", warning="75", critical="85"),
    # Brokers refuse messages that wait longer than 200 ms (waitTimeMillsInSendQueue).
    CheckMeasure("sendWait", "wait of the oldest message in ms", warning="50", critical="200"),
    # Brokers refuse messages from 1000 ms on (osPageCacheBusyTimeOutMills).
    CheckMeasure(
        "pageCache", "time that a write holds the page cache, in ms", warning="300", critical="1000"
    ),
    CheckMeasure("dispatch", "bytes that are not in queues yet", "B", warning="1048576", critical="67108864"),
    # A slave that is further behind is not in sync (haMaxGapNotInSync).
    CheckMeasure(
        "replica", "bytes that a slave does not have yet", "B", warning="16777216", critical="268435456"
    ),
    CheckMeasure("latency", "duration of a small request, in ms", warning="100", critical="1000"),
)
"""Figures of brokers and name servers that no check measures. The limits follow RocketMQ 5.5.0."""
_LAG_SCALE, _HEARTBEAT_SCALE = (find_check(name).make_scale() for name in ("lag", "heartbeat"))
_FIGURE_SCALE = CheckScale("figures", FIGURE_MEASURES)
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
    """The tone of a figure of FIGURE_MEASURES, or "" if it is below its thresholds or unknown."""
    return _scale_tone(_FIGURE_SCALE, figure_name, value)


def slave_state_tone(slave_state: str) -> Tone:
    """The tone of a slave's or a difference's state: equal, lag, drift or unknown."""
    return {"equal": "good", "lag": "info", "drift": "warn"}.get(slave_state, "dim")


def _scale_tone(scale: CheckScale, measure_name: str, measured_value: float | None) -> Tone:
    if measured_value is None:
        return ""
    return _TONE_BY_STATE.get(scale.judge_value(measure_name, measured_value), "")
