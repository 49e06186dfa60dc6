"""The handlers for routes, which clients poll, and for the cluster map."""

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.handlers.handler_types import HandlerAnswer
from namesrv_core.handlers.stepped_reply import answer_list
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.codes import V4_9_4
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.state import liveness, routes
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.state.name_server_state import NameServerState

_NO_ROUTE_REMARK = (
    "No topic route info in name server for the topic: {}\n"
    "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
)


def get_route(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_ROUTEINFO_BY_TOPIC, in the standard JSON dialect for clients of 4.9.4 and later, or on request.

    A route for the client's zone is always in the default dialect, as upstream.
    """
    settings = state.settings
    if settings.needWaitForService and now_ms - state.started_at_ms < settings.waitSecondsForService * 1000:
        raise RequestError("name server not ready")
    ext_fields = request.ext or {}
    topic = ext_fields.get("topic")
    zone_name = ext_fields.get("__ZONE_NAME")
    if (ext_fields.get("__ZONE_MODE") or "").lower() != "true" or not zone_name or not zone_name.strip():
        zone_name = None
    is_standard = zone_name is None and (
        request.version >= V4_9_4 or (ext_fields.get("acceptStandardJsonOnly") or "").lower() == "true"
    )
    return build_reply(request, body=_encode_route(state, topic, is_standard, zone_name)), ()


def _encode_route(
    state: NameServerState, topic: str | None, is_standard: bool, zone_name: str | None
) -> bytes:
    placement = None if topic is None else state.tables.placements_by_topic.get(topic)
    if topic is None or placement is None:
        raise _build_no_route_error(topic)
    conf = state.kv_config.get_value(ORDER_TOPIC_CONFIG, topic) if state.settings.orderMessageEnable else None
    # Topics that share a placement share a body, except with a queue mapping or for a zone.
    has_own_body = zone_name is not None or topic in state.tables.queue_mappings
    cache_key = (placement, conf, is_standard, routes.is_member_topic(topic))
    route_body = None if has_own_body else state.get_cached_body(cache_key)
    if route_body is None:
        route = routes.find_route(state.tables, topic, state.settings.supportActingMaster)
        if route is None:
            raise _build_no_route_error(topic)
        route_body = routes.encode_route_body(
            route if zone_name is None else routes.cut_to_zone(route, zone_name), conf, is_standard
        )
        if not has_own_body:
            state.cache_body(cache_key, route_body)
    return route_body


def _build_no_route_error(topic: str | None) -> TopicNotExist:
    return TopicNotExist(_NO_ROUTE_REMARK.format("null" if topic is None else topic))


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
        silences_by_addr = {a: list(t) for a, t in liveness.silences_by_addr(state.tables, now_ms).items()}
        ext_fields = {"heartbeats": fastjson.encode_json(silences_by_addr).decode()}
    reply = answer_list(
        state,
        build_reply(request, ext=ext_fields),
        request.code,
        lambda: routes.encode_cluster_body_in_steps(state.tables),
        len(state.tables.broker_groups) > _MAX_GROUPS_AT_ONCE,
    )
    return reply, ()
