"""Exchange: what an observer of calls is told of a request, and CallError, that it got no answer."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command


class CallError(RocketMQError):
    """A request that got no answer; `reason` says why in words.

    `kind` is "unresolvable", "unconnected" or "untrusted" (no TLS came about) where it was never sent, and
    "timeout", "closed", "unreadable" or "interrupted" where nobody knows whether it was carried out.
    """

    def __init__(self, addr: str, kind: str, reason: str) -> None:
        super().__init__(f"{addr}: {reason}")
        self.addr = addr
        self.kind = kind
        self.reason = reason

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


Observer = Callable[[Exchange], None]


class Tally:
    """What has to be remembered of requests that were asked together, to tell an observer of each."""

    def __init__(self, observer: Observer, calls: Sequence[tuple[str, Command]]) -> None:
        self._observer = observer
        self._calls = calls
        self._sent: dict[int, tuple[float, int]] = {}
        self._done = 0

    def sent(self, index: int, size: int) -> None:
        """The request at this place was handed to the socket, in so many bytes."""
        self._sent[index] = (monotonic(), size)

    def ended(self, index: int, result: Command | CallError, size: int, turn: float) -> None:
        """It ended, with so many bytes of an answer; the turn of its server came at `turn`."""
        addr, request = self._calls[index]
        began, bytes_out = self._sent.get(index, (turn, 0))
        outcome = result.code if isinstance(result, Command) else result
        self._done += 1
        seconds = monotonic() - began
        counts = (bytes_out, size, self._done, len(self._calls))
        self._observer(Exchange(addr, request.code, began, seconds, outcome, *counts))
