"""AnswerSource, which answers instead of a client's servers, or records the servers' answers."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError

SendLive = Callable[[Sequence[int]], list[RemotingCommand | CallError]]
"""Takes indexes of requests. Sends these requests to their servers, and returns the answers in order."""


class AnswerSource(Protocol):
    """Answers requests from a file, or passes them on to the servers and notes the answers."""

    @property
    def is_static(self) -> bool:
        """Whether the answers never change, because they come from a file."""

    @property
    def clock_ms(self) -> int:
        """The moment that ages are computed for, in ms since 1970 (UTC)."""

    def answer_calls(
        self, identity: str, calls: Sequence[tuple[str, RemotingCommand]], send_live: SendLive
    ) -> list[RemotingCommand | CallError]:
        """Answer requests."""

    def answer_probe(self, probe_name: str, server_addr: str, probe_live: Callable[[], Any]) -> Any:
        """Return the result of a probe that is not a request, such as a TLS handshake."""
