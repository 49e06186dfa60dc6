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
        """Answer requests.

        Args:
            identity: How the client identifies itself, and whether it uses TLS; see `Access.identity`.
            calls: Pairs of (server address before the address map, unsigned request).
            send_live: Sends requests to the servers.

        Returns:
            One answer or CallError per request, in order.
        """

    def answer_probe(self, probe_name: str, server_addr: str, probe_live: Callable[[], Any]) -> Any:
        """Return the result of a probe that is not a request, such as a TLS handshake.

        Args:
            probe_name: The kind of probe.
            server_addr: The address of the server, before the address map; or the name of a cluster.
            probe_live: Probes the server. Its result can be written as JSON. It may raise CallError.

        Raises:
            CallError: The probe failed, or its result is unknown.
        """
