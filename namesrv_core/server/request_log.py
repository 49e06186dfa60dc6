"""The request log: a wrapper around the handlers that logs each request at level DEBUG."""

from collections.abc import Callable, Sequence

from namesrv_core.errors import ResponseCode
from namesrv_core.events import Event
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.server.log import log
from namesrv_core.state.access_policy import RequestPeer
from namesrv_core.state.name_server_state import NameServerState

AnswerAndEvents = tuple[RemotingCommand, Sequence[Event]]
HandleFunction = Callable[[NameServerState, RemotingCommand, int, int, RequestPeer], AnswerAndEvents]


def log_requests(handle_request: HandleFunction) -> HandleFunction:
    """Wrap a handler, to log each request with its connection and response code."""

    def handle_logged(
        state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int, peer: RequestPeer
    ) -> AnswerAndEvents:
        answer_and_events = handle_request(state, request, channel_id, now_ms, peer)
        code = answer_and_events[0].code
        outcome = ResponseCode.name_of(code) or f"code {code}"
        log.debug("%s on connection %d: %s", RequestCode.name_of(request.code), channel_id, outcome)
        return answer_and_events

    return handle_logged
