"""Requests as lines of the log, put around the handlers while somebody looks for a reason."""

from collections.abc import Callable, Sequence

from namesrv_core.errors import ResponseCode
from namesrv_core.events import Event
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.server.log import log
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import Peer

Answer = tuple[Command, Sequence[Event]]


Handle = Callable[[NameServerState, Command, int, int, Peer], Answer]


def told(handle: Handle) -> Handle:
    """The same, with a line for each request: what, on which connection, how it was answered."""

    def tell(state: NameServerState, request: Command, channel: int, now: int, peer: Peer) -> Answer:
        answered = handle(state, request, channel, now, peer)
        log.debug("%s on connection %d: %s", request_name(request.code), channel, code_name(answered[0].code))
        return answered

    return tell


def request_name(code: int) -> str:
    """What is asked for, as the protocol names it."""
    try:
        return RequestCode(code).name
    except ValueError:
        return f"request {code}"


def code_name(code: int) -> str:
    """How it was answered, as the protocol names it."""
    try:
        return ResponseCode(code).name
    except ValueError:
        return f"code {code}"
