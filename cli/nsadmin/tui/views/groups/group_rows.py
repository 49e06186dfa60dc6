"""The rows of the list of consumer groups, with their lag and its growth. Pure."""

from math import isfinite
from typing import NamedTuple

from nsadmin.tui.model.cluster_model import Trend
from nsadmin.tui.model.server_states import LatestAnswer
from nsadmin.tui.polling.poll_records import GroupPolled
from nsadmin.tui.views import units


class GroupRow(NamedTuple):
    """A consumer group over all brokers and topics."""

    group: str
    answer: LatestAnswer[GroupPolled] | None
    trend: Trend | None
    now_ms: int

    @property
    def poll(self) -> GroupPolled | None:
        return self.answer.last_poll if self.answer is not None else None

    @property
    def is_fresh(self) -> bool:
        return self.answer is not None and self.answer.is_fresh

    @property
    def lag_text(self) -> str:
        """The lag; with a question mark if the group's brokers do not answer any more."""
        return units.format_count(self.total_lag) + ("?" if self.poll and not self.is_fresh else "")

    @property
    def client_count(self) -> int | None:
        """The connected clients. None: no client is known, and a broker did not return its connections."""
        if self.poll is None or not self.is_fresh:
            return None
        if not self.poll.members and self.poll.unreported:
            return None
        return len(self.poll.members)

    @property
    def client_text(self) -> str:
        """The number of clients, with a plus sign if more clients may be connected to silent brokers."""
        if self.client_count is None or self.poll is None:
            return units.UNKNOWN_MARK
        return f"{self.client_count}{'+' if self.poll.unreported else ''}"

    @property
    def total_lag(self) -> int | None:
        """The messages not consumed yet, on the queues whose lag is known."""
        return None if self.poll is None else self.poll.lag.messages

    @property
    def lag_reason(self) -> str | None:
        """Why the lag is unknown, or lacks some queues."""
        return None if self.poll is None else self.poll.lag.reason

    @property
    def growth_rate(self) -> float | None:
        """The growth of the lag in messages per second, over the last ten polls."""
        if self.trend is None or len(self.trend.values) < 2 or not self.is_fresh:
            return None
        first_index = max(len(self.trend.values) - 11, 0)
        seconds = (self.trend.times_ms[-1] - self.trend.times_ms[first_index]) / 1000
        growth = self.trend.values[-1] - self.trend.values[first_index]
        return growth / seconds if seconds and isfinite(growth) else None

    @property
    def catch_up_ms(self) -> float | None:
        """The time (ms) until the lag is 0 at the present trend. None if the lag does not shrink."""
        lag, growth = self.total_lag, self.growth_rate
        if not lag or growth is None or growth >= -0.05:
            return None
        return lag / -growth * 1000

    @property
    def delay_ms(self) -> int | None:
        """The age (ms) of the last consumed message, on the queue with a lag where it is oldest."""
        if self.poll is None:
            return None
        times = [queue.last_timestamp for queue in self.poll.lags if queue.diff and queue.last_timestamp]
        return self.now_ms - min(times) if times else None
