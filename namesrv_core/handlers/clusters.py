"""The handler for the cluster map."""

from namesrv_core.handlers.answer import Answer
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import liveness, lookup
from namesrv_core.state.name_server import NameServerState


def cluster_info(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_BROKER_CLUSTER_INFO, always in the default JSON dialect.

    With the ext field `withHeartbeats` the answer has the ext field `heartbeats`: JSON with the silence and
    the timeout (ms) of each broker address.
    """
    ext = None
    if headers.read(headers.GetClusterInfo, request.ext).with_heartbeats:
        told = {addr: list(pair) for addr, pair in liveness.heard_of(state.tables, now).items()}
        ext = {"heartbeats": fastjson.dumps(told).decode()}
    return reply(request, ext=ext, body=lookup.cluster_body(state.tables)), ()
