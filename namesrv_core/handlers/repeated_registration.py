"""Registrations that repeat the last one of their broker: they are applied as heartbeats, without decoding.

Brokers repeat their registration every 30 s, mostly without a change. The fingerprint of the last
registration shows whether a new one equals it to the byte. With `fastPath` off every registration is decoded.
"""

from namesrv_core.events import Event
from namesrv_core.handlers.decoded_bodies import LazyRegistration
from namesrv_core.protocol import headers
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state.broker_tables import BrokerClaim, RegistrationFingerprint
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration import MasterAddress, repeat_registration

_MAX_CONTEXT_LENGTH = 2_048


def record_fingerprint(
    state: NameServerState,
    request: RemotingCommand,
    broker: BrokerClaim,
    lazy_registration: LazyRegistration,
) -> None:
    """Record the fingerprint of a registration that has just been applied, so that it may be repeated."""
    live_broker = state.tables.live_brokers.get((broker.cluster_name, broker.broker_addr))
    # A data version without a time gets the time of its arrival, so an equal body is a new version next time.
    if (
        live_broker is not None
        and live_broker.data_version is not None
        and live_broker.data_version.timestamp != lazy_registration.now_ms
        and _is_context_small(request)
    ):
        request_context, body_size = _request_context(state, request), len(lazy_registration.body_bytes)
        live_broker.last_fingerprint = RegistrationFingerprint(
            broker, request_context, body_size, lazy_registration.body_digest, state.tables.generation
        )


def _is_context_small(request: RemotingCommand) -> bool:
    """Whether the ext fields may be kept with the broker. A broker sends a few hundred bytes."""
    return (
        sum(
            len(field_name) + len(field_value or "")
            for field_name, field_value in (request.ext or {}).items()
        )
        <= _MAX_CONTEXT_LENGTH
    )


def apply_repeated_registration(
    state: NameServerState,
    request: RemotingCommand,
    request_header: headers.RegisterBroker,
    lazy_registration: LazyRegistration,
    channel_id: int,
    now_ms: int,
) -> tuple[MasterAddress, list[Event]] | None:
    """Apply a registration as a heartbeat if it equals the last one to the byte and the tables are unchanged.

    Return None if it is a new one.
    """
    live_broker = state.tables.live_brokers.get(
        (request_header.cluster_name or "", request_header.broker_addr or "")
    )
    last_fingerprint = live_broker.last_fingerprint if live_broker is not None else None
    if (
        live_broker is None
        or last_fingerprint is None
        or last_fingerprint.tables_generation != state.tables.generation
        or last_fingerprint.body_size != len(lazy_registration.body_bytes)
        or last_fingerprint.request_context != _request_context(state, request)
        or last_fingerprint.body_digest != lazy_registration.body_digest
    ):
        return None
    return repeat_registration(
        state.tables, last_fingerprint.broker, live_broker, channel_id=channel_id, now_ms=now_ms
    )


def _request_context(state: NameServerState, request: RemotingCommand) -> tuple[object, ...]:
    """Everything that affects a registration except its body and the tables."""
    return request.version, request.ext, state.settings.generation
