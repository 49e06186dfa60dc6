"""The handlers for topic lists, and for deleting or registering a single topic."""

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.handlers.answer import Answer, check_topics
from namesrv_core.protocol import bodies, headers
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import lookup, topics
from namesrv_core.state.name_server import NameServerState


def list_all(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_ALL_TOPIC_LIST_FROM_NAMESERVER."""
    if not state.settings.enableAllTopicList:
        raise RequestError("disable")
    return reply(request, body=bodies.topic_list(state.tables.topics)), ()


def list_of_cluster(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_TOPICS_BY_CLUSTER."""
    _check_enabled(state)
    cluster = headers.read(headers.ClusterName, request.ext).cluster
    return reply(request, body=bodies.topic_list(lookup.topics_of_cluster(state.tables, cluster))), ()


def list_system(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_SYSTEM_TOPIC_LIST_FROM_NS."""
    return reply(request, body=bodies.topic_list(*lookup.system_topics(state.tables))), ()


def list_unit(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_UNIT_TOPIC_LIST."""
    _check_enabled(state)
    return reply(request, body=bodies.topic_list(lookup.unit_topics(state.tables))), ()


def list_unit_sub(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_HAS_UNIT_SUB_TOPIC_LIST."""
    _check_enabled(state)
    return reply(request, body=bodies.topic_list(lookup.unit_sub_topics(state.tables))), ()


def list_unit_sub_ununit(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST."""
    _check_enabled(state)
    return reply(request, body=bodies.topic_list(lookup.unit_sub_ununit_topics(state.tables))), ()


def _check_enabled(state: NameServerState) -> None:
    if not state.settings.enableTopicList:
        raise RequestError("disable")


def delete(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """DELETE_TOPIC_IN_NAMESRV."""
    header = headers.read(headers.DeleteTopic, request.ext)
    return reply(request), topics.delete(state.tables, header.topic, header.cluster_name)


def register(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """REGISTER_TOPIC_IN_NAMESRV."""
    topic = headers.read(headers.TopicName, request.ext).topic
    try:
        queues = bodies.queue_datas(request.body, state.limits.json_depth) if request.body else []
    except ValueError as error:
        raise BadRequest(f"no TopicRouteData: {error}") from None
    if topic is not None:
        check_topics(state, (topic,))
    return reply(request), topics.register(state.tables, topic, queues)
