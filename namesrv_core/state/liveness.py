"""The liveness of brokers: heartbeats, expiry and closed channels."""

from collections.abc import Iterator

from namesrv_core.events import DataVersion, Event, HeartbeatGap
from namesrv_core.state.broker_index import LiveKey
from namesrv_core.state.broker_tables import LiveBroker
from namesrv_core.state.departures import DepartureOrder
from namesrv_core.state.registration import end_heartbeat_gap, is_broker_silent
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import RegisteredPlace


def record_heartbeat(tables: RouteTables, live_key: LiveKey, now_ms: int) -> DataVersion | None:
    """Record a sign of life. Return the data version that the broker registered; None if it is unknown."""
    live_broker = tables.live_brokers.get(live_key)
    if live_broker is None:
        return None
    live_broker.heard_at_ms = now_ms
    return live_broker.data_version


def end_silence(tables: RouteTables, live_key: LiveKey, now_ms: int) -> list[Event]:
    """End the silence of a broker that gives a sign of life. Call this before `record_heartbeat`."""
    live_broker = tables.live_brokers.get(live_key)
    if live_broker is None or not (live_broker.is_silent or is_broker_silent(live_broker, now_ms)):
        return []
    return [
        event
        for broker_place in _find_broker_places(tables, live_key)
        for event in end_heartbeat_gap(broker_place, live_broker, now_ms)
    ]


def _find_broker_places(tables: RouteTables, live_key: LiveKey) -> list[RegisteredPlace]:
    """The places that a broker's address has in its cluster's groups."""
    return [
        RegisteredPlace(live_key[0], broker_group.broker_name, broker_id, live_key[1])
        for broker_group, broker_id in tables.reported_members(live_key)
    ]


def detect_silent_brokers(tables: RouteTables, now_ms: int) -> Iterator[list[Event]]:
    """Report brokers that have been silent for three quarters of their timeout, each one once.

    Each step reports one broker. One that gives a sign of life between the steps, or whose time is over, is
    not reported.
    """
    silent_keys = [
        live_key
        for live_key, live_broker in tables.live_brokers.items()
        if not live_broker.is_silent and _is_silent_in_time(live_broker, now_ms)
    ]
    for live_key in silent_keys:
        live_broker = tables.live_brokers.get(live_key)
        if live_broker is not None and _is_silent_in_time(live_broker, now_ms):
            live_broker.is_silent = True
            silent_ms = now_ms - live_broker.heard_at_ms
            yield [
                HeartbeatGap(*broker_place, silent_millis=silent_ms, resumed=False)
                for broker_place in _find_broker_places(tables, live_key)
            ]


def _is_silent_in_time(live_broker: LiveBroker, now_ms: int) -> bool:
    return is_broker_silent(live_broker, now_ms) and not _is_expired(live_broker, now_ms)


def _is_expired(live_broker: LiveBroker, now_ms: int) -> bool:
    return live_broker.heard_at_ms + live_broker.timeout_ms < now_ms


def silences_by_addr(tables: RouteTables, now_ms: int) -> dict[str, tuple[int, int]]:
    """The silence and the timeout (ms) of each broker address, as a pair.

    For an address in several clusters this is the longest silence.
    """
    longest_silences: dict[str, tuple[int, int]] = {}
    for (_, broker_addr), live_broker in tables.live_brokers.items():
        silence_and_timeout = max(now_ms - live_broker.heard_at_ms, 0), live_broker.timeout_ms
        longest_silences[broker_addr] = max(
            longest_silences.get(broker_addr, silence_and_timeout), silence_and_timeout
        )
    return longest_silences


def find_expired_brokers(tables: RouteTables, now_ms: int) -> DepartureOrder:
    """The brokers whose timeout has passed. A broker that sends a heartbeat before it is removed stays."""
    expired_keys = [
        live_key for live_key, live_broker in tables.live_brokers.items() if _is_expired(live_broker, now_ms)
    ]
    return DepartureOrder("expired", expired_keys, lambda live_broker: _is_expired(live_broker, now_ms))


def end_channel(tables: RouteTables, channel_id: int) -> DepartureOrder:
    """Note that a channel has closed. A broker leaves unless it registers over a newer channel before."""
    return DepartureOrder(
        "channel closed",
        tables.drop_channel(channel_id),
        lambda live_broker: live_broker.channel_id == channel_id,
    )
