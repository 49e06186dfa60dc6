"""The quotas of each connection, and the observer that receives reports of exceeded limits."""

from collections.abc import Callable
from typing import Protocol

from namesrv_core.protocol.size_limits import NO_LIMITS, UNLIMITED, DecodeLimits
from namesrv_core.transport.answer_work import WorkMemory
from namesrv_core.transport.fair_scheduler import FairScheduler


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
