"""The table from request codes to handlers, and the conversion of errors to response codes."""

from collections.abc import Mapping, Sequence

from namesrv_core.errors import BadRequest, NotSupported, OverLimit, RequestError, detach_error
from namesrv_core.events import Event
from namesrv_core.handlers import access_guard, brokers, kv, routes, settings, topics
from namesrv_core.handlers.decoded_bodies import TopicQueuesRequest
from namesrv_core.handlers.handler_types import HandlerAnswer, RequestHandler
from namesrv_core.printable_text import cut_text
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.state.access_policy import ANONYMOUS_PEER, RequestPeer
from namesrv_core.state.name_server_state import NameServerState

HANDLERS_BY_CODE: Mapping[int, RequestHandler] = {
    RequestCode.PUT_KV_CONFIG: kv.put_kv_config,
    RequestCode.GET_KV_CONFIG: kv.get_kv_config,
    RequestCode.DELETE_KV_CONFIG: kv.delete_kv_config,
    RequestCode.GET_KVLIST_BY_NAMESPACE: kv.list_kv_namespace,
    RequestCode.REGISTER_BROKER: brokers.register_broker,
    RequestCode.UNREGISTER_BROKER: brokers.unregister_broker,
    RequestCode.QUERY_DATA_VERSION: brokers.query_data_version,
    RequestCode.BROKER_HEARTBEAT: brokers.record_broker_heartbeat,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: brokers.wipe_write_perm,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: brokers.add_write_perm,
    RequestCode.GET_BROKER_MEMBER_GROUP: brokers.get_member_group,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: routes.get_route,
    RequestCode.GET_BROKER_CLUSTER_INFO: routes.get_cluster_info,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: topics.list_all_topics,
    RequestCode.GET_TOPICS_BY_CLUSTER: topics.list_cluster_topics,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: topics.list_system_topics,
    RequestCode.GET_UNIT_TOPIC_LIST: topics.list_unit_topics,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: topics.list_unit_sub_topics,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: topics.list_unit_sub_ununit_topics,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: topics.delete_topic,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: topics.register_topic,
    RequestCode.UPDATE_NAMESRV_CONFIG: settings.update_namesrv_config,
    RequestCode.GET_NAMESRV_CONFIG: settings.get_namesrv_config,
}

# Answers to these requests have a header class upstream, so a refusal has extFields that are empty.
_EXT_FIELD_CODES = frozenset({RequestCode.GET_KV_CONFIG, RequestCode.REGISTER_BROKER})
# These bodies are small in practice, and their decoders would take seconds for megabytes.
_SLOW_BODY_CODES = frozenset(
    {RequestCode.REGISTER_TOPIC_IN_NAMESRV, RequestCode.UPDATE_NAMESRV_CONFIG, RequestCode.QUERY_DATA_VERSION}
)
_MAX_REMARK_LENGTH = 1_000


def handle_request(
    state: NameServerState,
    request: RemotingCommand,
    channel_id: int,
    now_ms: int,
    peer: RequestPeer = ANONYMOUS_PEER,
) -> tuple[RemotingCommand, Sequence[Event]]:
    """The answer to a request, refused or not, and the events. A caller does not answer a oneway request.

    The guard decides before any lookup, also of cached answers.
    """
    handler = HANDLERS_BY_CODE.get(request.code, _reject_unknown_code)
    try:
        # Before the guard, which computes signatures and reads the body of a fenced broker.
        if len(request.body) > effective_limit(state.settings.maxBodyBytes):
            _check_body_size(state, request, peer)
        if request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
            request = TopicQueuesRequest.decode_once(request, state.decode_limits.json_depth)
        if state.policy is not None:
            access_guard.check_access(state, state.policy, request, peer)
        return handler(state, request, channel_id, now_ms)
    except RequestError as error:
        # An error that a request keeps and raises is a cycle with its traceback.
        detach_error(error)
        if isinstance(error, OverLimit):
            state.limit_hits.record_hit(error.limit_key, f"{peer.host}: {error.remark}")
        ext_fields: dict[str, str | None] | None = (
            {} if request.code in _EXT_FIELD_CODES and not isinstance(error, BadRequest) else None
        )
        return build_reply(request, error.code, remark=_cut_own_remark(error), ext=ext_fields), ()


def _cut_own_remark(error: RequestError) -> str | None:
    """Cut a remark of ours, which may quote megabytes of a compressed body. Java's remarks quote headers."""
    if error.remark is None or not isinstance(error, BadRequest):
        return error.remark
    return cut_text(error.remark, _MAX_REMARK_LENGTH)


def _check_body_size(state: NameServerState, request: RemotingCommand, peer: RequestPeer) -> None:
    """Refuse a large body that is slow to read, or that would be hashed although nobody reads it."""
    if request.code in _SLOW_BODY_CODES or (
        request.code != RequestCode.REGISTER_BROKER
        and state.policy is not None
        and access_guard.claimed_access_key(request) is not None
        and access_guard.is_key_needed(state.policy, state, request, peer)
    ):
        raise OverLimit("maxBodyBytes", f"a body of {len(request.body)} bytes")


def _reject_unknown_code(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    raise NotSupported(f" request type {request.code} not supported")
