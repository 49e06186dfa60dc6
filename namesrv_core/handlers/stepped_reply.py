"""SteppedReply, an answer whose body takes so long that it is computed in steps."""

from collections.abc import Callable, Generator, Hashable

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state.list_cache import BodySteps
from namesrv_core.state.name_server_state import NameServerState


class SteppedReply(RemotingCommand):
    """An answer whose body is missing until all steps are done."""

    __slots__ = ("_body_steps",)

    def __init__(self, reply: RemotingCommand, body_steps: BodySteps) -> None:
        super().__init__(
            reply.code,
            reply.ext,
            opaque=reply.opaque,
            flag=reply.flag,
            language=reply.language,
            version=reply.version,
            header_type=reply.header_type,
        )
        self._body_steps = body_steps

    def complete_in_steps(self) -> Generator[None, None, RemotingCommand]:
        self.body = yield from self._body_steps
        return self


def answer_list(
    state: NameServerState,
    reply: RemotingCommand,
    list_key: Hashable,
    begin_steps: Callable[[], BodySteps],
    is_large: bool,
) -> RemotingCommand:
    """Put a list into the body of a reply: the cached one, or a new one, which takes steps if it is large."""
    cached = state.list_cache.get_body(list_key)
    if cached is None and is_large:
        return SteppedReply(reply, state.list_cache.compute_in_steps(list_key, begin_steps))
    reply.body = state.list_cache.compute_at_once(list_key, begin_steps()) if cached is None else cached
    return reply
