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

    def __init__(self, server_addr: str, kind: str, reason: str) -> None:
        super().__init__(f"{server_addr}: {reason}")
        self.addr = server_addr
        self.kind = kind
        self.reason = reason

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

    def __init__(self, observer: ExchangeObserver, requests: Sequence[tuple[str, RemotingCommand]]) -> None:
        self._observer = observer
        self._addressed_requests = requests
        self._sent_by_index: dict[int, tuple[float, int]] = {}
        self._ended_indexes: set[int] = set()

    def record_sent(self, index: int, frame_bytes: int) -> None:
        """Record that a request was written to the socket, and its size."""
        self._sent_by_index[index] = (monotonic(), frame_bytes)

    def report_ended(
        self, index: int, result: RemotingCommand | CallError, answer: int, turn_began_at: float
    ) -> None:
        """Report a request that ended, once. `turn_began_at` is when its server's turn came."""
        if index in self._ended_indexes:
            return
        server_addr, request = self._addressed_requests[index]
        began, bytes_out = self._sent_by_index.get(index, (turn_began_at, 0))
        outcome = result.code if isinstance(result, RemotingCommand) else result
        seconds = monotonic() - began
        done_count = len(self._ended_indexes) + 1
        size_and_progress = (bytes_out, answer, done_count, len(self._addressed_requests))
        self._observer(Exchange(server_addr, request.code, began, seconds, outcome, *size_and_progress))
        # Afterwards: if a signal interrupts the observer, the request is reported again as interrupted.
        self._ended_indexes.add(index)
