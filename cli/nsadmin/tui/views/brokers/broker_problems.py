"""The problem rank of a broker's row. Pure."""

from nsadmin.tui.views import alert_levels
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.brokers.broker_rows import BrokerRow
from nsadmin.tui.views.table import Tone


def rank_broker(row: BrokerRow) -> int:
    """0 for a fault, 1 for a warning. The figures of a poll are judged once, because there are many brokers.

    The duration of the last answer does not count: rows would change their places after each late answer.
    """
    tones = {row.state.tone}
    if row.server_count and row.listing_count < row.server_count:
        tones.add("warn" if row.listing_count else "bad")
    if row.broker.is_fresh:
        tones |= row.broker.compute_once("figure tones", lambda: _judge_figures(row))
        tones.add(alert_levels.figure_tone("replica", row.missing_bytes))
        if row.slave_state is not None:
            tones.add(alert_levels.slave_state_tone(row.slave_state))
        if row.longest_silence is not None:
            tones.add(alert_levels.heartbeat_tone(row.longest_silence[1]))
    return 0 if "bad" in tones else 1 if "warn" in tones else NO_PROBLEM


def _judge_figures(row: BrokerRow) -> frozenset[Tone]:
    """The tones of the figures that depend only on the last poll of the broker."""
    read_number = row.broker.read_number
    ratio = read_number("commitLogDiskRatio")
    return frozenset(
        (
            alert_levels.disk_tone(None if ratio is None or ratio < 0 else ratio),
            alert_levels.figure_tone("sendWait", read_number("sendThreadPoolQueueHeadWaitTimeMills")),
            alert_levels.figure_tone("dispatch", read_number("dispatchBehindBytes")),
        )
    )
