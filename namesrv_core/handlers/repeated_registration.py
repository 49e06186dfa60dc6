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
    state: NameServerState, request: RemotingCommand, broker: BrokerClaim, lazy: LazyRegistration
) -> None:
    """Record the fingerprint of a registration that has just been applied, so that it may be repeated."""
    live = state.tables.live_brokers.get((broker.cluster_name, broker.broker_addr))
    # A data version without a time gets the time of its arrival, so an equal body is a new version next time.
    if (
        live is not None
        and live.data_version is not None
        and live.data_version.timestamp != lazy.now_ms
        and _is_context_small(request)
    ):
        context, body_size = _request_context(state, request), len(lazy.body_bytes)
        live.last_fingerprint = RegistrationFingerprint(
            broker, context, body_size, lazy.body_digest, state.tables.generation
        )


def _is_context_small(request: RemotingCommand) -> bool:
    """Whether the ext fields may be kept with the broker. A broker sends a few hundred bytes."""
    return sum(len(n) + len(v or "") for n, v in (request.ext or {}).items()) <= _MAX_CONTEXT_LENGTH


def apply_repeated_registration(
    state: NameServerState,
    request: RemotingCommand,
    header: headers.RegisterBroker,
    lazy: LazyRegistration,
    channel_id: int,
    now_ms: int,
) -> tuple[MasterAddress, list[Event]] | None:
    """Apply a registration as a heartbeat if it equals the last one to the byte and the tables are unchanged.

    Return None if it is a new one.
    """
    live = state.tables.live_brokers.get((header.cluster_name or "", header.broker_addr or ""))
    last = live.last_fingerprint if live is not None else None
    if (
        live is None
        or last is None
        or last.tables_generation != state.tables.generation
        or last.body_size != len(lazy.body_bytes)
        or last.request_context != _request_context(state, request)
        or last.body_digest != lazy.body_digest
    ):
        return None
    return repeat_registration(state.tables, last.broker, live, channel_id=channel_id, now_ms=now_ms)


def _request_context(state: NameServerState, request: RemotingCommand) -> tuple[object, ...]:
    """Everything that affects a registration except its body and the tables."""
    return request.version, request.ext, state.settings.generation
