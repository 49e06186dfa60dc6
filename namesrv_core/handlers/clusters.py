"""The handler for the cluster map."""

from namesrv_core.handlers.handler_types import HandlerAnswer
from namesrv_core.handlers.stepped_reply import answer_list
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.state import liveness, table_lookup
from namesrv_core.state.name_server_state import NameServerState

_MAX_GROUPS_AT_ONCE = 100


def get_cluster_info(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_BROKER_CLUSTER_INFO, always in the default JSON dialect.

    With the ext field `withHeartbeats` the answer has the ext field `heartbeats`: JSON with the silence and
    the timeout (ms) of each broker address.
    """
    ext_fields = None
    if headers.read_header(headers.GetClusterInfo, request.ext).with_heartbeats:
        silences_by_addr = {
            addr: list(timeout) for addr, timeout in liveness.silences_by_addr(state.tables, now_ms).items()
        }
        ext_fields = {"heartbeats": fastjson.encode_json(silences_by_addr).decode()}
    reply = answer_list(
        state,
        build_reply(request, ext=ext_fields),
        request.code,
        lambda: table_lookup.encode_cluster_body_in_steps(state.tables),
        len(state.tables.broker_groups) > _MAX_GROUPS_AT_ONCE,
    )
    return reply, ()
