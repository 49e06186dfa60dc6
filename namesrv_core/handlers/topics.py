"""The handlers for topic lists, and for deleting or registering a single topic."""

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.handlers.handler_types import HandlerAnswer, check_topic_limit
from namesrv_core.protocol import headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.state import table_lookup, topics
from namesrv_core.state.name_server_state import NameServerState


def list_all_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_ALL_TOPIC_LIST_FROM_NAMESERVER."""
    if not state.settings.enableAllTopicList:
        raise RequestError("disable")
    return build_reply(request, body=json_bodies.encode_topic_list(state.tables.placements_by_topic)), ()


def list_cluster_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_TOPICS_BY_CLUSTER."""
    _check_lists_enabled(state)
    cluster_name = headers.read_header(headers.ClusterName, request.ext).cluster
    return build_reply(
        request,
        body=json_bodies.encode_topic_list(table_lookup.topics_of_cluster(state.tables, cluster_name)),
    ), ()


def list_system_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_SYSTEM_TOPIC_LIST_FROM_NS."""
    return build_reply(
        request, body=json_bodies.encode_topic_list(*table_lookup.system_topics(state.tables))
    ), ()


def list_unit_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_UNIT_TOPIC_LIST."""
    _check_lists_enabled(state)
    return build_reply(
        request, body=json_bodies.encode_topic_list(table_lookup.unit_topics(state.tables))
    ), ()


def list_unit_sub_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_HAS_UNIT_SUB_TOPIC_LIST."""
    _check_lists_enabled(state)
    return build_reply(
        request, body=json_bodies.encode_topic_list(table_lookup.unit_sub_topics(state.tables))
    ), ()


def list_unit_sub_ununit_topics(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST."""
    _check_lists_enabled(state)
    return build_reply(
        request, body=json_bodies.encode_topic_list(table_lookup.unit_sub_ununit_topics(state.tables))
    ), ()


def _check_lists_enabled(state: NameServerState) -> None:
    if not state.settings.enableTopicList:
        raise RequestError("disable")


def delete_topic(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """DELETE_TOPIC_IN_NAMESRV."""
    request_header = headers.read_header(headers.DeleteTopic, request.ext)
    return build_reply(request), topics.delete_topic(
        state.tables, request_header.topic, request_header.cluster_name
    )


def register_topic(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """REGISTER_TOPIC_IN_NAMESRV."""
    topic = headers.read_header(headers.TopicName, request.ext).topic
    try:
        queue_datas = (
            json_bodies.parse_queue_datas(request.body, state.decode_limits.json_depth)
            if request.body
            else []
        )
    except ValueError as error:
        raise BadRequest(f"no TopicRouteData: {error}") from None
    if topic is not None:
        check_topic_limit(state, (topic,))
    return build_reply(request), topics.register_topic_queues(state.tables, topic, queue_datas)
