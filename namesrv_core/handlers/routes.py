"""The handler for routes, which clients poll."""

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.handlers.answer import Answer
from namesrv_core.protocol.codes import V4_9_4
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import lookup
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.state.name_server import NameServerState

_NOT_FOUND = (
    "No topic route info in name server for the topic: {}\n"
    "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
)


def get_route(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_ROUTEINFO_BY_TOPIC, in the standard JSON dialect for clients of 4.9.4 and later, or on request.

    A route for the client's zone is always in the default dialect, as upstream.
    """
    settings = state.settings
    if settings.needWaitForService and now - state.started_at < settings.waitSecondsForService * 1000:
        raise RequestError("name server not ready")
    ext = request.ext or {}
    topic = ext.get("topic")
    zone = _zone(ext.get("__ZONE_MODE"), ext.get("__ZONE_NAME"))
    standard = zone is None and (
        request.version >= V4_9_4 or (ext.get("acceptStandardJsonOnly") or "").lower() == "true"
    )
    return reply(request, body=_body(state, topic, standard, zone)), ()


def _zone(mode: str | None, name: str | None) -> str | None:
    """The zone that the client wants, or None for all zones."""
    return name if (mode or "").lower() == "true" and name and name.strip() else None


def _body(state: NameServerState, topic: str | None, standard: bool, zone: str | None) -> bytes:
    placement = None if topic is None else state.tables.topics.get(topic)
    if topic is None or placement is None:
        raise _no_route(topic)
    order = state.kv.get(ORDER_TOPIC_CONFIG, topic) if state.settings.orderMessageEnable else None
    # Topics that share a placement share a body, except with a queue mapping or for a zone.
    is_own = zone is not None or topic in state.tables.mappings
    key = (placement, order, standard, lookup.is_of_members(topic))
    body = None if is_own else state.remembered_body(key)
    if body is None:
        found = lookup.route(state.tables, topic, state.settings.supportActingMaster)
        if found is None:
            raise _no_route(topic)
        body = lookup.route_body(found if zone is None else lookup.in_zone(found, zone), order, standard)
        if not is_own:
            state.remember_body(key, body)
    return body


def _no_route(topic: str | None) -> TopicNotExist:
    return TopicNotExist(_NOT_FOUND.format("null" if topic is None else topic))
