"""Exchange: what an observer of calls is told of a request, and CallError, that it got no answer."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand


class CallError(RocketMQError):
    """A request that got no answer; `reason` says why in words.

    `kind` is "unresolvable", "unconnected" or "untrusted" (no TLS came about) where it was never sent, and
    "timeout", "closed", "unreadable" or "interrupted" where nobody knows whether it was carried out.
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
    """One request and what became of it.

    `began` is when it was handed to the socket, or its server's turn came if it never was
    (`time.monotonic`), `seconds` how long it then took. `outcome` is the answer's code, or why there is
    none. Bytes are those of whole frames. It was the `done`th to end of the `total` asked together. `via`
    is where it was connected to, if not to `addr`.
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
    """What has to be remembered of requests that were asked together, to tell an observer of each."""

    def __init__(
        self, exchange_observer: ExchangeObserver, addressed_requests: Sequence[tuple[str, RemotingCommand]]
    ) -> None:
        self._observer = exchange_observer
        self._addressed_requests = addressed_requests
        self._sent_by_index: dict[int, tuple[float, int]] = {}
        self._done_count = 0

    def record_sent(self, request_index: int, frame_bytes: int) -> None:
        """The request at this place was handed to the socket, in so many bytes."""
        self._sent_by_index[request_index] = (monotonic(), frame_bytes)

    def report_ended(
        self,
        request_index: int,
        request_result: RemotingCommand | CallError,
        answer_bytes: int,
        turn_began_at: float,
    ) -> None:
        """It ended, with so many bytes of an answer; the turn of its server came at `turn`."""
        server_addr, request = self._addressed_requests[request_index]
        began_at, bytes_out = self._sent_by_index.get(request_index, (turn_began_at, 0))
        outcome = request_result.code if isinstance(request_result, RemotingCommand) else request_result
        self._done_count += 1
        seconds = monotonic() - began_at
        size_and_progress = (bytes_out, answer_bytes, self._done_count, len(self._addressed_requests))
        self._observer(Exchange(server_addr, request.code, began_at, seconds, outcome, *size_and_progress))
