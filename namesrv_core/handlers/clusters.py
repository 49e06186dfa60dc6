"""The cluster map."""

from namesrv_core.handlers.answer import Answer
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import lookup
from namesrv_core.state.name_server import NameServerState


def cluster_info(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_BROKER_CLUSTER_INFO, in the default dialect whoever asks."""
    return reply(request, body=lookup.cluster_body(state.tables)), ()
