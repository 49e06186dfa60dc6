"""The handlers for topic lists, and for deleting or registering a single topic."""

from collections.abc import Callable

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.handlers.decoded_bodies import TopicQueuesRequest
from namesrv_core.handlers.handler_types import HandlerAnswer, RequestHandler, check_topic_limit
from namesrv_core.handlers.stepped_reply import answer_list
from namesrv_core.protocol import headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.resource_names import check_topic_name
from namesrv_core.state import list_cache, routes, topics
from namesrv_core.state.list_cache import BodySteps, PlacementTest
from namesrv_core.state.name_server_state import NameServerState

_MAX_TOPICS_AT_ONCE = 2_000


def list_all_topics(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    if not state.settings.enableAllTopicList:
        raise RequestError("disable")
    return _list_topics(state, request, lambda: list_cache.encode_topics_in_steps(state.tables))


def list_cluster_topics(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    _check_lists_enabled(state)
    cluster_name = headers.read_header(headers.ClusterName, request.ext).cluster
    if cluster_name not in state.tables.broker_names_by_cluster:
        return build_reply(request, body=json_bodies.encode_topic_list(())), ()
    return _list_topics(
        state,
        request,
        lambda: list_cache.encode_topics_in_steps(
            state.tables, list_cache.build_cluster_test(state.tables, cluster_name)
        ),
        cluster_name,
    )


def list_system_topics(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    return build_reply(request, body=json_bodies.encode_topic_list(*routes.system_topics(state.tables))), ()


def _list_by_flag(is_listed: PlacementTest) -> RequestHandler:
    def list_topics(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
        _check_lists_enabled(state)
        return _list_topics(
            state, request, lambda: list_cache.encode_topics_in_steps(state.tables, is_listed)
        )

    return list_topics


list_unit_topics = _list_by_flag(list_cache.is_unit_topic)
list_unit_sub_topics = _list_by_flag(list_cache.is_unit_sub_topic)
list_unit_sub_ununit_topics = _list_by_flag(list_cache.is_unit_sub_ununit_topic)


def _list_topics(
    state: NameServerState,
    request: RemotingCommand,
    begin_steps: Callable[[], BodySteps],
    cluster_name: str | None = None,
) -> HandlerAnswer:
    """The answer with a topic list: cached, computed now, or in steps if there are many topics."""
    is_large = len(state.tables.placements_by_topic) > _MAX_TOPICS_AT_ONCE
    return answer_list(state, build_reply(request), (request.code, cluster_name), begin_steps, is_large), ()


def _check_lists_enabled(state: NameServerState) -> None:
    if not state.settings.enableTopicList:
        raise RequestError("disable")


def delete_topic(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    header = headers.read_header(headers.DeleteTopic, request.ext)
    return build_reply(request), topics.delete_topic(state.tables, header.topic, header.cluster_name)


def register_topic(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    topic = headers.read_header(headers.TopicName, request.ext).topic
    queues = TopicQueuesRequest.decode_once(request, state.decode_limits.json_depth).queue_datas
    if isinstance(queues, RequestError):
        raise queues
    if isinstance(queues, ValueError):
        raise BadRequest(f"invalid TopicRouteData: {queues}")
    if topic is not None:
        check_topic_name(topic, state.decode_limits.name_bytes)
        check_topic_limit(state, (topic,))
    return build_reply(request), topics.register_topic_queues(state.tables, topic, queues)
