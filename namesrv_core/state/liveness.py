"""The liveness of brokers: heartbeats, expiry and closed channels."""

from collections.abc import Collection

from namesrv_core.events import AddressForgotten, DataVersion, Event, HeartbeatGap
from namesrv_core.state.registration import end_heartbeat_gap, is_broker_silent
from namesrv_core.state.route_tables import LiveKey, RouteTables
from namesrv_core.state.unregistration import RegisteredPlace, unregister_brokers


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
        for broker_group, broker_id in tables.members_at_addr(live_key)
    ]


def detect_silent_brokers(tables: RouteTables, now_ms: int) -> list[Event]:
    """Report brokers that have been silent for three quarters of their timeout, each one once."""
    gap_events: list[Event] = []
    for live_key, live_broker in tables.live_brokers.items():
        if not live_broker.is_silent and is_broker_silent(live_broker, now_ms):
            live_broker.is_silent = True
            silent_ms = now_ms - live_broker.heard_at_ms
            gap_events += [
                HeartbeatGap(*broker_place, silent_millis=silent_ms, resumed=False)
                for broker_place in _find_broker_places(tables, live_key)
            ]
    return gap_events


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


def expire_silent_brokers(tables: RouteTables, now_ms: int) -> tuple[list[int], list[Event]]:
    """Unregister brokers whose timeout has passed. Return the channels to close, and the events."""
    expired_keys = [
        live_key
        for live_key, live_broker in tables.live_brokers.items()
        if live_broker.heard_at_ms + live_broker.timeout_ms < now_ms
    ]
    # A broker that took another address still uses the channel of the address that it left.
    channel_ids = {
        tables.live_brokers[live_key].channel_id
        for live_key in expired_keys
        if any(tables.members_at_addr(live_key))
    }
    return sorted(channel_ids), _remove_brokers(tables, expired_keys, "expired")


def remove_brokers_on_channel(tables: RouteTables, channel_id: int) -> list[Event]:
    """Unregister the brokers whose last channel has closed.

    A broker that has registered over a newer channel stays.
    """
    for live_broker in tables.live_brokers.values():
        if channel_id in live_broker.former_channel_ids:
            live_broker.former_channel_ids -= {channel_id}
    return _remove_brokers(tables, list(tables.live_keys_on_channel(channel_id)), "channel closed")


def _remove_brokers(tables: RouteTables, live_keys: Collection[LiveKey], reason: str) -> list[Event]:
    leaving_brokers: list[RegisteredPlace] = []
    forgotten_events: list[Event] = []
    addrs_elsewhere = {
        broker_addr
        for cluster_name, broker_addr in tables.live_brokers
        if (cluster_name, broker_addr) not in live_keys
    }
    for live_key in live_keys:
        broker_places = _find_broker_places(tables, live_key)
        if not broker_places or live_key[1] in addrs_elsewhere:
            # Another broker took its place, or its address remains in another cluster.
            del tables.live_brokers[live_key]
            tables.filter_servers.pop(live_key, None)
            forgotten_events.append(AddressForgotten(*live_key, reason=reason))
        else:
            leaving_brokers += broker_places
    return forgotten_events + (unregister_brokers(tables, leaving_brokers, reason) if leaving_brokers else [])
