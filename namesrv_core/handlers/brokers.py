"""The handlers for brokers: registration, heartbeat, data version, write permission and member group."""

from namesrv_core.errors import BadRequest, OverLimit, RequestError
from namesrv_core.events import Event
from namesrv_core.handlers.ahead import Prepared, Reading
from namesrv_core.handlers.answer import Answer, check_topics, required
from namesrv_core.protocol import bodies, fastjson, headers, registration
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state import liveness, lookup, permissions
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.state.limits import effective
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.registration import (
    Master,
    Unregistration,
    is_stale,
    register,
    repeat,
    unregister,
)
from namesrv_core.state.tables import Broker, LiveKey, Seal


def register_broker(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """REGISTER_BROKER. The answer has the master's address for a slave, and the ordered topics."""
    if request.version < 0 or request.ext is None:
        raise BadRequest("a registration needs ext fields and a version that is not negative")
    header = headers.read(headers.RegisterBroker, request.ext)
    reading = request.reading if isinstance(request, Prepared) else Reading(state, request, header, now)
    done = _repeated(state, request, header, reading, channel, now) if state.settings.fastPath else None
    master, events = done or _registered(state, request, header, reading, channel, now)
    fields = {"haServerAddr": master.ha_addr, "masterAddr": master.addr}
    ext = {key: text for key, text in fields.items() if text is not None}
    return reply(request, ext=ext, body=_order_topics(state)), events


def _registered(
    state: NameServerState,
    request: Command,
    header: headers.RegisterBroker,
    reading: Reading,
    channel: int,
    now: int,
) -> tuple[Master, list[Event]]:
    if header.body_crc32 and header.body_crc32 != reading.crc32:
        raise RequestError("crc32 not match")
    registered = _decoded(reading)
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
    _check_room(state, broker, registered)
    done = register(
        state.tables,
        broker,
        registered,
        channel=channel,
        now=now,
        delete_missing_topics=state.settings.deleteTopicWithBrokerRegistration,
        foreseen=reading.foreseen,
    )
    live = state.tables.live.get((broker.cluster_name, broker.broker_addr))
    # A data version without a time gets the time of its arrival, so an equal body is a new version next time.
    if live is not None and live.version is not None and live.version.timestamp != reading.now:
        said, size = _said(state, request), len(reading.body)
        live.seal = Seal(broker, said, size, reading.digest, state.tables.generation)
    return done


def _repeated(
    state: NameServerState,
    request: Command,
    header: headers.RegisterBroker,
    reading: Reading,
    channel: int,
    now: int,
) -> tuple[Master, list[Event]] | None:
    """Apply a registration as a heartbeat if it equals the last one to the byte and the tables are unchanged.

    Brokers repeat their registration every 30 s. Return None if it is a new one.
    """
    live = state.tables.live.get((header.cluster_name or "", header.broker_addr or ""))
    seal = live.seal if live is not None else None
    if (
        live is None
        or seal is None
        or seal.generation != state.tables.generation
        or seal.size != len(reading.body)
        or seal.said != _said(state, request)
        or seal.digest != reading.digest
    ):
        return None
    return repeat(state.tables, seal.broker, live, channel=channel, now=now)


def _said(state: NameServerState, request: Command) -> tuple[object, ...]:
    """Everything that affects a registration except its body and the tables."""
    return request.version, request.ext, state.settings.generation


def _decoded(reading: Reading) -> registration.Registration:
    found = reading.found
    if isinstance(found, RequestError):
        raise found
    if isinstance(found, ValueError):
        raise BadRequest(f"Failed to decode RegisterBrokerBody: {found}")
    return found


def _check_room(state: NameServerState, broker: Broker, registered: registration.Registration) -> None:
    """Raise OverLimit if the registration adds a broker or a topic beyond the limits."""
    tables, settings = state.tables, state.settings
    most = effective(settings.maxBrokers)
    is_known = (broker.cluster_name, broker.broker_addr) in tables.live
    # Count brokers and groups: a group may have no live broker, and one broker may have several names.
    if not is_known and max(len(tables.live), len(tables.groups)) >= most:
        raise OverLimit("maxBrokers", f"there are {most} brokers")
    check_topics(state, registered.topics or ())


def _order_topics(state: NameServerState) -> bytes:
    table = state.kv.tables.get(ORDER_TOPIC_CONFIG)
    if table is None or not state.settings.returnOrderTopicConfigToBroker:
        return b""
    return bodies.kv_table(table)


def unregister_broker(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """UNREGISTER_BROKER, applied before the answer, so that it does not affect later registrations.

    A request that is older than the broker's registration gets the same answer and changes nothing.
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
    """QUERY_DATA_VERSION: whether the broker's version differs from the registered one. A sign of life."""
    header = headers.read(headers.BrokerIdentity, request.ext)
    try:
        value = fastjson.loads(request.body, depth=state.limits.json_depth) if request.body else None
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
    """BROKER_HEARTBEAT. An unknown broker gets the same answer, because it registers on its own."""
    header = headers.read(headers.BrokerHeartbeat, request.ext)
    key = _live_key(header)
    events = liveness.resumed(state.tables, key, now)
    liveness.heard(state.tables, key, now)
    return reply(request), events


def _live_key(header: headers.BrokerIdentity | headers.BrokerHeartbeat) -> LiveKey:
    return required(header.cluster_name, "clusterName"), required(header.broker_addr, "brokerAddr")


def wipe_write_perm(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """WIPE_WRITE_PERM_OF_BROKER. An unknown broker counts 0 topics."""
    event = permissions.wipe(state.tables, headers.read(headers.BrokerName, request.ext).broker_name)
    return reply(request, ext={"wipeTopicCount": str(event.topics)}), (event,) if event.changes else ()


def add_write_perm(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """ADD_WRITE_PERM_OF_BROKER. An unknown broker counts 0 topics."""
    event = permissions.add(state.tables, headers.read(headers.BrokerName, request.ext).broker_name)
    return reply(request, ext={"addTopicCount": str(event.topics)}), (event,) if event.changes else ()


def member_group(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_BROKER_MEMBER_GROUP. The answer has the remark that upstream forgets to clear."""
    header = headers.read(headers.MemberGroup, request.ext)
    body = lookup.member_group_body(state.tables, header.cluster_name, header.broker_name)
    return reply(request, body=body, remark="not set any response code"), ()
