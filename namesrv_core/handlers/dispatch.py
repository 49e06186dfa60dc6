"""The table from request codes to handlers, and the conversion of errors to response codes."""

from collections.abc import Mapping, Sequence

from namesrv_core.errors import BadRequest, NotSupported, OverLimit, RequestError
from namesrv_core.events import Event
from namesrv_core.handlers import brokers, clusters, guard, kv, routes, settings, topics
from namesrv_core.handlers.answer import Answer, Handler
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state.limits import effective
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import NOBODY, Peer

HANDLERS: Mapping[int, Handler] = {
    RequestCode.PUT_KV_CONFIG: kv.put,
    RequestCode.GET_KV_CONFIG: kv.get,
    RequestCode.DELETE_KV_CONFIG: kv.delete,
    RequestCode.GET_KVLIST_BY_NAMESPACE: kv.list_namespace,
    RequestCode.REGISTER_BROKER: brokers.register_broker,
    RequestCode.UNREGISTER_BROKER: brokers.unregister_broker,
    RequestCode.QUERY_DATA_VERSION: brokers.query_data_version,
    RequestCode.BROKER_HEARTBEAT: brokers.broker_heartbeat,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: brokers.wipe_write_perm,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: brokers.add_write_perm,
    RequestCode.GET_BROKER_MEMBER_GROUP: brokers.member_group,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: routes.get_route,
    RequestCode.GET_BROKER_CLUSTER_INFO: clusters.cluster_info,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: topics.list_all,
    RequestCode.GET_TOPICS_BY_CLUSTER: topics.list_of_cluster,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: topics.list_system,
    RequestCode.GET_UNIT_TOPIC_LIST: topics.list_unit,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: topics.list_unit_sub,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: topics.list_unit_sub_ununit,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: topics.delete,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: topics.register,
    RequestCode.UPDATE_NAMESRV_CONFIG: settings.update,
    RequestCode.GET_NAMESRV_CONFIG: settings.get,
}

# Answers to these requests have a header class upstream, so a refusal has extFields that are empty.
_WITH_EXT = frozenset({RequestCode.GET_KV_CONFIG, RequestCode.REGISTER_BROKER})
# These bodies are small in practice, and their decoders would take seconds for megabytes.
_READ_SLOWLY = frozenset(
    {
        RequestCode.REGISTER_TOPIC_IN_NAMESRV,
        RequestCode.UPDATE_NAMESRV_CONFIG,
        RequestCode.QUERY_DATA_VERSION,
    }
)


def handle(
    state: NameServerState, request: Command, channel: int, now: int, peer: Peer = NOBODY
) -> tuple[Command, Sequence[Event]]:
    """The answer to a request, refused or not, and the events. A caller does not answer a oneway request.

    The guard decides before any lookup, also of cached answers.
    """
    handler = HANDLERS.get(request.code, _unknown)
    try:
        if state.policy is not None:
            guard.check(state, state.policy, request, peer)
        if request.code in _READ_SLOWLY:
            _check_size(state, request)
        return handler(state, request, channel, now)
    except RequestError as error:
        if isinstance(error, OverLimit):
            state.met.note(error.limit, f"{peer.host}: {error.remark}")
        ext: dict[str, str | None] | None = (
            {} if request.code in _WITH_EXT and not isinstance(error, BadRequest) else None
        )
        return reply(request, error.code, remark=error.remark, ext=ext), ()


def _check_size(state: NameServerState, request: Command) -> None:
    if len(request.body) > effective(state.settings.maxBodyBytes):
        raise OverLimit("maxBodyBytes", f"a body of {len(request.body)} bytes")


def _unknown(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    raise NotSupported(f" request type {request.code} not supported")
