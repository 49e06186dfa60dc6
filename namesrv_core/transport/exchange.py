"""Exchange, the record of a finished request for observers, and CallError, a request without answer."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand


class CallError(RocketMQError):
    """A request got no answer. `reason` describes why.

    `kind` is "unresolvable", "unconnected" or "untrusted" (TLS failed) if the request was never sent. It is
    "timeout", "closed", "unreadable" or "interrupted" if the server may have executed it.
    """

    def __init__(self, server_addr: str, error_kind: str, error_reason: str) -> None:
        super().__init__(f"{server_addr}: {error_reason}")
        self.addr = server_addr
        self.kind = error_kind
        self.reason = error_reason

    @property
    def was_sent(self) -> bool:
        return self.kind in ("timeout", "closed", "unreadable", "interrupted")


class Exchange(NamedTuple):
    """A request and its outcome.

    `began` is when the request was written to the socket (`time.monotonic`), or when its server's turn came
    if it never was; `seconds` is the time from then on. `outcome` is the answer's code, or the error. Byte
    counts are those of whole frames. `done` of `total` requests of the same batch have ended, this one
    included. `via` is the address of the connection, if it differs from `addr`.
    """

    addr: str
    code: int
    began: float
    seconds: float
    outcome: int | CallError
    bytes_out: int
    bytes_in: int
    done: int
    total: int
    via: str | None = None


ExchangeObserver = Callable[[Exchange], None]


class ExchangeTracker:
    """Tracks the requests of a batch and calls an observer as each one ends."""

    def __init__(
        self, exchange_observer: ExchangeObserver, addressed_requests: Sequence[tuple[str, RemotingCommand]]
    ) -> None:
        self._observer = exchange_observer
        self._addressed_requests = addressed_requests
        self._sent_by_index: dict[int, tuple[float, int]] = {}
        self._ended_indexes: set[int] = set()

    def record_sent(self, request_index: int, frame_bytes: int) -> None:
        """Record that a request was written to the socket, and its size."""
        self._sent_by_index[request_index] = (monotonic(), frame_bytes)

    def report_ended(
        self,
        request_index: int,
        request_result: RemotingCommand | CallError,
        answer_bytes: int,
        turn_began_at: float,
    ) -> None:
        """Report a request that ended, once. `turn_began_at` is when its server's turn came."""
        if request_index in self._ended_indexes:
            return
        server_addr, request = self._addressed_requests[request_index]
        began_at, bytes_out = self._sent_by_index.get(request_index, (turn_began_at, 0))
        outcome = request_result.code if isinstance(request_result, RemotingCommand) else request_result
        seconds = monotonic() - began_at
        done_count = len(self._ended_indexes) + 1
        size_and_progress = (bytes_out, answer_bytes, done_count, len(self._addressed_requests))
        self._observer(Exchange(server_addr, request.code, began_at, seconds, outcome, *size_and_progress))
        # Afterwards: if a signal interrupts the observer, the request is reported again as interrupted.
        self._ended_indexes.add(request_index)
