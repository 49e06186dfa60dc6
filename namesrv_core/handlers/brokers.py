"""Brokers: register, unregister, heartbeat, data version, write permission, member group."""

import zlib

from namesrv_core.errors import BadRequest, RequestError
from namesrv_core.handlers.answer import Answer, required
from namesrv_core.protocol import bodies, fastjson, headers, registration
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import liveness, lookup, permissions
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.registration import Broker, Unregistration, is_stale, register, unregister
from namesrv_core.state.tables import LiveKey


def register_broker(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """REGISTER_BROKER: the answer tells a slave where its master is, and every broker the order topics."""
    if request.version < 0 or request.ext is None:
        raise BadRequest("a registration needs ext fields and a version that is not negative")
    header = headers.read(headers.RegisterBroker, request.ext)
    if header.body_crc32 and header.body_crc32 != _crc32(request.body):
        raise RequestError("crc32 not match")
    registered = _registration(request, header, now)
    broker = Broker(
        required(header.cluster_name, "clusterName"),
        required(header.broker_name, "brokerName"),
        required(header.broker_id, "brokerId"),
        required(header.broker_addr, "brokerAddr"),
        header.ha_server_addr,
        header.heartbeat_timeout_millis,
        header.enable_acting_master,
        header.zone_name,
    )
    master, events = register(
        state.tables,
        broker,
        registered,
        channel=channel,
        now=now,
        delete_missing_topics=state.settings.deleteTopicWithBrokerRegistration,
    )
    fields = {"haServerAddr": master.ha_addr, "masterAddr": master.addr}
    ext = {key: text for key, text in fields.items() if text is not None}
    return reply(request, ext=ext, body=_order_topics(state)), events


def _registration(request: Command, header: headers.RegisterBroker, now: int) -> registration.Registration:
    try:
        return registration.decode(
            request.body, version=request.version, compressed=header.compressed, now=now
        )
    except ValueError as error:
        raise BadRequest(f"Failed to decode RegisterBrokerBody: {error}") from None


def _crc32(body: bytes) -> int:
    return zlib.crc32(body) & 0x7FFFFFFF


def _order_topics(state: NameServerState) -> bytes:
    table = state.kv.tables.get(ORDER_TOPIC_CONFIG)
    if table is None or not state.settings.returnOrderTopicConfigToBroker:
        return b""
    return bodies.kv_table(table)


def unregister_broker(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """UNREGISTER_BROKER, carried out before it is answered: what registers afterwards is not harmed.

    One that a newer registration has overtaken is answered alike and does nothing.
    """
    header = headers.read(headers.BrokerIdentity, request.ext)
    leaving = Unregistration(
        required(header.cluster_name, "clusterName"),
        required(header.broker_name, "brokerName"),
        required(header.broker_id, "brokerId"),
        required(header.broker_addr, "brokerAddr"),
    )
    if is_stale(state.tables, leaving, channel):
        return reply(request), ()
    return reply(request), unregister(state.tables, [leaving], "unregistered")


def query_data_version(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """QUERY_DATA_VERSION: is what the broker has another version than it registered? Also a sign of life."""
    header = headers.read(headers.BrokerIdentity, request.ext)
    try:
        value = fastjson.loads(request.body) if request.body else None
        version = bodies.data_version(value, now)
    except ValueError as error:
        raise BadRequest(f"no DataVersion: {error}") from None
    key = _live_key(header)
    events = liveness.resumed(state.tables, key, now)
    stored = liveness.heard(state.tables, key, now)
    changed = stored is None or stored != version
    body = b"" if stored is None else fastjson.dumps(stored.to_json())
    return reply(request, ext={"changed": str(changed).lower()}, body=body), events


def broker_heartbeat(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """BROKER_HEARTBEAT: an unknown broker is answered alike, it registers by itself."""
    header = headers.read(headers.BrokerHeartbeat, request.ext)
    key = _live_key(header)
    events = liveness.resumed(state.tables, key, now)
    liveness.heard(state.tables, key, now)
    return reply(request), events


def _live_key(header: headers.BrokerIdentity | headers.BrokerHeartbeat) -> LiveKey:
    return required(header.cluster_name, "clusterName"), required(header.broker_addr, "brokerAddr")


def wipe_write_perm(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """WIPE_WRITE_PERM_OF_BROKER; an unknown broker counts 0 topics."""
    event = permissions.wipe(state.tables, headers.read(headers.BrokerName, request.ext).broker_name)
    return reply(request, ext={"wipeTopicCount": str(event.topics)}), (event,) if event.changes else ()


def add_write_perm(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """ADD_WRITE_PERM_OF_BROKER; an unknown broker counts 0 topics."""
    event = permissions.add(state.tables, headers.read(headers.BrokerName, request.ext).broker_name)
    return reply(request, ext={"addTopicCount": str(event.topics)}), (event,) if event.changes else ()


def member_group(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_BROKER_MEMBER_GROUP, with the remark that upstream forgets to clear."""
    header = headers.read(headers.MemberGroup, request.ext)
    body = lookup.member_group_body(state.tables, header.cluster_name, header.broker_name)
    return reply(request, body=body, remark="not set any response code"), ()
