"""The quotas of each connection: frames and bytes per second, its share of the work, what it may hold.

A connection that exceeds a rate is not closed. It rests: for some time nothing more is read from it.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from namesrv_core.protocol.size_limits import NO_LIMITS, UNLIMITED, DecodeLimits
from namesrv_core.transport.answer_work import WorkMemory
from namesrv_core.transport.fair_scheduler import TURN_SECONDS, FairScheduler


class ObservedStream(Protocol):
    """A stream that reports to an observer."""

    peer_addr: str

    def abort(self) -> None:
        """Close the connection at once."""


class QuotaObserver(Protocol):
    """Receives the reports of streams. `limit_key` is the key of a setting."""

    def report_over_limit(self, stream: ObservedStream, limit_key: str, text: str) -> None:
        """A stream exceeded a limit; it waits or is being closed."""

    def report_held_bytes(self, stream: ObservedStream, held: int) -> None:
        """A stream holds this many bytes of unhandled requests, computations and unsent answers."""


class _NullObserver:
    def report_over_limit(self, stream: ObservedStream, limit_key: str, text: str) -> None:
        pass

    def report_held_bytes(self, stream: ObservedStream, held: int) -> None:
        pass


class StreamQuotas:
    """The quotas of a stream. The quota of one second is also the largest burst.

    `work_clock` measures work in seconds of processor time, so that a pause of the machine does not count
    against a peer. With the default clock, which stands still, no work counts as long. All computations
    that run in turns may together hold `max_work_bytes`.
    """

    __slots__ = (
        "bytes_per_second",
        "decode_limits",
        "fair_scheduler",
        "frames_per_second",
        "max_unsent_bytes",
        "quota_observer",
        "work_clock",
        "work_memory",
    )

    def __init__(
        self,
        quota_observer: QuotaObserver | None = None,
        limits: DecodeLimits = NO_LIMITS,
        frames_per_second: int = UNLIMITED,
        bytes_per_second: int = UNLIMITED,
        max_unsent_bytes: int = UNLIMITED,
        work_clock: Callable[[], float] = lambda: 0.0,
        max_work_bytes: int = UNLIMITED,
    ) -> None:
        self.quota_observer: QuotaObserver = quota_observer or _NullObserver()
        self.decode_limits = limits
        self.frames_per_second = frames_per_second
        self.bytes_per_second = bytes_per_second
        self.max_unsent_bytes = max_unsent_bytes
        self.work_clock = work_clock
        self.fair_scheduler = FairScheduler(work_clock)
        self.work_memory = WorkMemory(max_work_bytes)


_LONG_WORK_SECONDS = 0.02
_REST_FACTOR = 9


class LimitedStream(Protocol):
    """A stream that keeps to rate limits. `frame_count` and `byte_count` count all its input."""

    frame_count: int
    byte_count: int

    def update_reading(self) -> None:
        """Pause or resume reading, as the state of the stream demands."""

    def resume_work(self) -> None:
        """Continue after a rest has ended."""

    def report_over_limit(self, limit_key: str, text: str) -> None:
        """Report that the limit of the setting `limit_key` was exceeded."""


class RateLimiter:
    """The rate limits of one stream, which is an argument, so that the two do not refer to each other.

    The stream compares its counts with `frames_granted` and `bytes_granted`, and calls `refill_grants` if it
    has read more. `refilled_at` (loop time) is when they were granted. The stream reads nothing while it
    `is_resting`, and processes its requests in turns while it `is_slow`.
    """

    __slots__ = (
        "_charged_at",
        "_charged_seconds",
        "_loop",
        "_quotas",
        "bytes_granted",
        "frames_granted",
        "is_resting",
        "is_slow",
        "refilled_at",
    )

    def __init__(self, stream_quotas: StreamQuotas, loop: asyncio.AbstractEventLoop) -> None:
        self._quotas = stream_quotas
        self._loop = loop
        self.frames_granted = stream_quotas.frames_per_second
        self.bytes_granted = stream_quotas.bytes_per_second
        self.is_resting = self.is_slow = False
        self.refilled_at = self._charged_at = self._charged_seconds = 0.0

    def refill_grants(self, stream: LimitedStream) -> None:
        """Refill the rate limits for the time that has passed. If they stay exceeded, the stream rests."""
        quotas, now = self._quotas, self._loop.time()
        frame_count, count = stream.frame_count, stream.byte_count
        passed, self.refilled_at = now - self.refilled_at, now
        frames_left = min(
            quotas.frames_per_second,
            self.frames_granted - frame_count + int(passed * quotas.frames_per_second),
        )
        bytes_left = min(
            quotas.bytes_per_second, self.bytes_granted - count + int(passed * quotas.bytes_per_second)
        )
        self.frames_granted, self.bytes_granted = frame_count + frames_left, count + bytes_left
        pause_seconds = max(-frames_left / quotas.frames_per_second, -bytes_left / quotas.bytes_per_second)
        if pause_seconds > 0 and not self.is_resting:
            limit_key = "maxFramesPerSecond" if frames_left < 0 else "maxBytesPerSecond"
            stream.report_over_limit(limit_key, f"reading pauses for {pause_seconds:.1f} s")
            self._rest_for(stream, pause_seconds)

    def rest_after_work(self, stream: LimitedStream, work_seconds: float) -> None:
        """Rest nine times as long as slow work took, so one connection uses at most a tenth of the server."""
        self.is_slow = work_seconds > TURN_SECONDS
        if work_seconds > _LONG_WORK_SECONDS and not self.is_resting:
            self._rest_for(stream, _REST_FACTOR * work_seconds)

    def charge_work(self, stream: LimitedStream, work_seconds: float) -> None:
        """Charge work that belongs to no single request. Rest if it exceeds a tenth of the time for long."""
        now = self._loop.time()
        paid_seconds = (now - self._charged_at) / (1 + _REST_FACTOR)
        self._charged_seconds = max(self._charged_seconds - paid_seconds, 0) + work_seconds
        self._charged_at = now
        if self._charged_seconds > _LONG_WORK_SECONDS and not self.is_resting:
            self._rest_for(stream, _REST_FACTOR * self._charged_seconds)

    def _rest_for(self, stream: LimitedStream, rest_seconds: float) -> None:
        self.is_resting = True
        stream.update_reading()
        self._loop.call_later(rest_seconds, self._end_rest, stream)

    def _end_rest(self, stream: LimitedStream) -> None:
        self.is_resting = False
        stream.resume_work()
