"""The handlers for brokers: registration, heartbeat, data version, write permission and member group."""

from namesrv_core.errors import BadRequest, OverLimit, RequestError
from namesrv_core.events import Event
from namesrv_core.handlers.decoded_bodies import LazyRegistration, PreparedRequest
from namesrv_core.handlers.handler_types import HandlerAnswer, check_topic_limit, require_field
from namesrv_core.handlers.repeated_registration import apply_repeated_registration, record_fingerprint
from namesrv_core.protocol import fastjson, headers, json_bodies, registration_codec
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.resource_names import check_name
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.state import liveness, routes, write_permissions
from namesrv_core.state.broker_tables import BrokerClaim, LiveKey
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration import MasterAddress, apply_registration
from namesrv_core.state.unregistration import RegisteredPlace, is_stale_unregistration, unregister_brokers


def register_broker(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """REGISTER_BROKER. The answer has the master's address for a slave, and the ordered topics."""
    if request.version < 0 or request.ext is None:
        raise BadRequest("a registration needs ext fields and a version that is not negative")
    header = headers.read_header(headers.RegisterBroker, request.ext)
    lazy = (
        request.lazy_registration
        if isinstance(request, PreparedRequest)
        else LazyRegistration(state, request, header, now_ms)
    )
    result = (
        apply_repeated_registration(state, request, header, lazy, channel_id, now_ms)
        if state.settings.fastPath
        else None
    )
    master, events = result or _apply_new_registration(state, request, header, lazy, channel_id, now_ms)
    fields = {"haServerAddr": master.ha_server_addr, "masterAddr": master.master_addr}
    ext_fields = {name: text for name, text in fields.items() if text is not None}
    orders = state.kv_config.tables_by_namespace.get(ORDER_TOPIC_CONFIG)
    has_orders = orders is not None and state.settings.returnOrderTopicConfigToBroker
    body = json_bodies.encode_kv_table(orders or {}) if has_orders else b""
    return build_reply(request, ext=ext_fields, body=body), events


def _apply_new_registration(
    state: NameServerState,
    request: RemotingCommand,
    header: headers.RegisterBroker,
    lazy: LazyRegistration,
    channel_id: int,
    now_ms: int,
) -> tuple[MasterAddress, list[Event]]:
    if header.body_crc32 and header.body_crc32 != lazy.body_crc32:
        raise RequestError("crc32 not match")
    registration = _require_decoded(lazy)
    broker = BrokerClaim(
        require_field(header.cluster_name, "clusterName"),
        require_field(header.broker_name, "brokerName"),
        require_field(header.broker_id, "brokerId"),
        require_field(header.broker_addr, "brokerAddr"),
        header.ha_server_addr,
        header.heartbeat_timeout_millis,
        header.enable_acting_master,
        header.zone_name,
    )
    _check_names(broker, state.decode_limits.name_bytes)
    _check_broker_limit(state, broker, registration)
    result = apply_registration(
        state.tables,
        broker,
        registration,
        channel_id=channel_id,
        now_ms=now_ms,
        delete_missing_topics=state.settings.deleteTopicWithBrokerRegistration,
        registration_preview=lazy.registration_preview,
    )
    record_fingerprint(state, request, broker, lazy)
    return result


def _check_names(broker: BrokerClaim, max_bytes: int) -> None:
    check_name("cluster", broker.cluster_name, max_bytes)
    check_name("broker", broker.broker_name, max_bytes)
    check_name("address", broker.broker_addr, max_bytes)
    check_name("address", broker.ha_server_addr, max_bytes)
    check_name("zone", broker.zone_name, max_bytes)


def _require_decoded(lazy: LazyRegistration) -> registration_codec.BrokerRegistration:
    decoded = lazy.decoded_registration
    if isinstance(decoded, RequestError):
        raise decoded
    if isinstance(decoded, ValueError):
        raise BadRequest(f"Failed to decode RegisterBrokerBody: {decoded}")
    return decoded


def _check_broker_limit(
    state: NameServerState, broker: BrokerClaim, registration: registration_codec.BrokerRegistration
) -> None:
    """Raise OverLimit if the registration adds a broker or a topic beyond the limits."""
    tables, settings = state.tables, state.settings
    max_brokers = effective_limit(settings.maxBrokers)
    is_known = (broker.cluster_name, broker.broker_addr) in tables.live_brokers
    # Count brokers and groups: a group may have no live broker, and one broker may have several names. And
    # count filters: those of a broker stay when its registration is refused for its stateVersion.
    known_count = max(len(tables.live_brokers), len(tables.broker_groups), len(tables.filter_servers))
    if not is_known and known_count >= max_brokers:
        raise OverLimit("maxBrokers", f"more than {max_brokers} brokers")
    check_topic_limit(state, registration.topic_configs or ())


def unregister_broker(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """UNREGISTER_BROKER, applied before the answer, so that it does not affect later registrations.

    A request that is older than the broker's registration gets the same answer and changes nothing.
    """
    header = headers.read_header(headers.BrokerIdentity, request.ext)
    leaving = RegisteredPlace(
        require_field(header.cluster_name, "clusterName"),
        require_field(header.broker_name, "brokerName"),
        require_field(header.broker_id, "brokerId"),
        require_field(header.broker_addr, "brokerAddr"),
    )
    if is_stale_unregistration(state.tables, leaving, channel_id):
        return build_reply(request), ()
    return build_reply(request), unregister_brokers(state.tables, [leaving], "unregistered")


def query_data_version(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """QUERY_DATA_VERSION: whether the broker's version differs from the registered one. A sign of life."""
    header = headers.read_header(headers.BrokerIdentity, request.ext)
    try:
        version = (
            fastjson.decode_json(request.body, max_depth=state.decode_limits.json_depth)
            if request.body
            else None
        )
        sent = json_bodies.parse_data_version(version, now_ms)
    except ValueError as error:
        raise BadRequest(f"invalid DataVersion: {error}") from None
    key = _live_key(header)
    events = liveness.end_silence(state.tables, key, now_ms)
    stored = liveness.record_heartbeat(state.tables, key, now_ms)
    changed = stored is None or stored != sent
    reply = b"" if stored is None else fastjson.encode_json(stored.to_json())
    return build_reply(request, ext={"changed": str(changed).lower()}, body=reply), events


def record_broker_heartbeat(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """BROKER_HEARTBEAT. An unknown broker gets the same answer, because it registers on its own."""
    header = headers.read_header(headers.BrokerHeartbeat, request.ext)
    key = _live_key(header)
    events = liveness.end_silence(state.tables, key, now_ms)
    liveness.record_heartbeat(state.tables, key, now_ms)
    return build_reply(request), events


def _live_key(header: headers.BrokerIdentity | headers.BrokerHeartbeat) -> LiveKey:
    return require_field(header.cluster_name, "clusterName"), require_field(header.broker_addr, "brokerAddr")


def wipe_write_perm(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """WIPE_WRITE_PERM_OF_BROKER. An unknown broker counts 0 topics."""
    wipe = write_permissions.wipe_write_permission(
        state.tables, headers.read_header(headers.BrokerName, request.ext).broker_name
    )
    return build_reply(request, ext={"wipeTopicCount": str(wipe.topics)}), (wipe,) if wipe.changes else ()


def add_write_perm(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """ADD_WRITE_PERM_OF_BROKER. An unknown broker counts 0 topics."""
    add = write_permissions.add_write_permission(
        state.tables, headers.read_header(headers.BrokerName, request.ext).broker_name
    )
    return build_reply(request, ext={"addTopicCount": str(add.topics)}), (add,) if add.changes else ()


def get_member_group(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """GET_BROKER_MEMBER_GROUP. The answer has the remark that upstream forgets to clear."""
    header = headers.read_header(headers.MemberGroup, request.ext)
    reply = routes.encode_member_group_body(state.tables, header.cluster_name, header.broker_name)
    return build_reply(request, body=reply, remark="not set any response code"), ()
