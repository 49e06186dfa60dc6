"""The liveness of brokers: heartbeats, expiry and closed channels."""

from collections.abc import Iterator

from namesrv_core.events import DataVersion, Event, HeartbeatGap
from namesrv_core.state.broker_tables import LiveBroker, LiveKey
from namesrv_core.state.registration import end_heartbeat_gap, is_broker_silent
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import DepartureOrder, RegisteredPlace


def record_heartbeat(tables: RouteTables, key: LiveKey, now_ms: int) -> DataVersion | None:
    """Record a sign of life. Return the data version that the broker registered; None if it is unknown."""
    live = tables.live_brokers.get(key)
    if live is None:
        return None
    live.heard_at_ms = now_ms
    return live.data_version


def end_silence(tables: RouteTables, key: LiveKey, now_ms: int) -> list[Event]:
    """End the silence of a broker that gives a sign of life. Call this before `record_heartbeat`."""
    live = tables.live_brokers.get(key)
    if live is None or not (live.is_silent or is_broker_silent(live, now_ms)):
        return []
    return [e for p in _find_broker_places(tables, key) for e in end_heartbeat_gap(p, live, now_ms)]


def _find_broker_places(tables: RouteTables, key: LiveKey) -> list[RegisteredPlace]:
    return [RegisteredPlace(key[0], g.broker_name, b, key[1]) for g, b in tables.reported_members(key)]


def detect_silent_brokers(tables: RouteTables, now_ms: int) -> Iterator[list[Event]]:
    """Report brokers that have been silent for three quarters of their timeout, each one once.

    Each step reports one broker. One that gives a sign of life between the steps, or whose time is over, is
    not reported.
    """
    silent = [
        key for key, v in tables.live_brokers.items() if not v.is_silent and _is_silent_in_time(v, now_ms)
    ]
    for key in silent:
        live = tables.live_brokers.get(key)
        if live is not None and _is_silent_in_time(live, now_ms):
            live.is_silent = True
            silent_ms = now_ms - live.heard_at_ms
            yield [
                HeartbeatGap(*place, silent_millis=silent_ms, resumed=False)
                for place in _find_broker_places(tables, key)
            ]


def _is_silent_in_time(live: LiveBroker, now_ms: int) -> bool:
    return is_broker_silent(live, now_ms) and not _is_expired(live, now_ms)


def _is_expired(live: LiveBroker, now_ms: int) -> bool:
    return live.heard_at_ms + live.timeout_ms < now_ms


def silences_by_addr(tables: RouteTables, now_ms: int) -> dict[str, tuple[int, int]]:
    """The silence and the timeout (ms) of each broker address, as a pair.

    For an address in several clusters this is the longest silence.
    """
    longest: dict[str, tuple[int, int]] = {}
    for (_, broker_addr), live in tables.live_brokers.items():
        silence_and_timeout = max(now_ms - live.heard_at_ms, 0), live.timeout_ms
        longest[broker_addr] = max(longest.get(broker_addr, silence_and_timeout), silence_and_timeout)
    return longest


def find_expired_brokers(tables: RouteTables, now_ms: int) -> DepartureOrder:
    """The brokers whose timeout has passed. A broker that sends a heartbeat before it is removed stays."""
    expired = [key for key, live in tables.live_brokers.items() if _is_expired(live, now_ms)]
    return DepartureOrder("expired", expired, lambda live: _is_expired(live, now_ms))


def end_channel(tables: RouteTables, channel_id: int) -> DepartureOrder:
    """Note that a channel has closed. A broker leaves unless it registers over a newer channel before."""
    return DepartureOrder(
        "channel closed", tables.drop_channel(channel_id), lambda live: live.channel_id == channel_id
    )
