"""The liveness of brokers: heartbeats, expiry and closed channels."""

from collections.abc import Collection

from namesrv_core.events import AddressForgotten, DataVersion, Event, HeartbeatGap
from namesrv_core.state.registration import Unregistration, gap, is_silent, unregister
from namesrv_core.state.tables import LiveKey, RouteTables


def heard(tables: RouteTables, key: LiveKey, now: int) -> DataVersion | None:
    """Record a sign of life. Return the data version that the broker registered; None if it is unknown."""
    live = tables.live.get(key)
    if live is None:
        return None
    live.heard_at = now
    return live.version


def resumed(tables: RouteTables, key: LiveKey, now: int) -> list[Event]:
    """End the silence of a broker that gives a sign of life. Call this before `record_heartbeat`."""
    live = tables.live.get(key)
    if live is None or not (live.is_silent or is_silent(live, now)):
        return []
    return [event for place in _places(tables, key) for event in gap(place, live, now)]


def _places(tables: RouteTables, key: LiveKey) -> list[Unregistration]:
    """The places that a broker's address has in its cluster's groups."""
    return [
        Unregistration(key[0], group.name, broker_id, key[1]) for group, broker_id in tables.members_at(key)
    ]


def silences(tables: RouteTables, now: int) -> list[Event]:
    """Report brokers that have been silent for three quarters of their timeout, each one once."""
    found: list[Event] = []
    for key, live in tables.live.items():
        if not live.is_silent and is_silent(live, now):
            live.is_silent = True
            silent = now - live.heard_at
            found += [
                HeartbeatGap(*place, silent_millis=silent, resumed=False) for place in _places(tables, key)
            ]
    return found


def heard_of(tables: RouteTables, now: int) -> dict[str, tuple[int, int]]:
    """The silence and the timeout (ms) of each broker address, as a pair.

    For an address in several clusters this is the longest silence.
    """
    found: dict[str, tuple[int, int]] = {}
    for (_, addr), live in tables.live.items():
        silent = max(now - live.heard_at, 0), live.timeout
        found[addr] = max(found.get(addr, silent), silent)
    return found


def expire(tables: RouteTables, now: int) -> tuple[list[int], list[Event]]:
    """Unregister brokers whose timeout has passed. Return the channels to close, and the events."""
    expired = [key for key, live in tables.live.items() if live.heard_at + live.timeout < now]
    # A broker that took another address still uses the channel of the address that it left.
    channels = {tables.live[key].channel for key in expired if any(tables.members_at(key))}
    return sorted(channels), _leave(tables, expired, "expired")


def channel_closed(tables: RouteTables, channel: int) -> list[Event]:
    """Unregister the brokers whose last channel has closed.

    A broker that has registered over a newer channel stays.
    """
    for live in tables.live.values():
        if channel in live.former_channels:
            live.former_channels -= {channel}
    return _leave(tables, list(tables.on_channel(channel)), "channel closed")


def _leave(tables: RouteTables, keys: Collection[LiveKey], reason: str) -> list[Event]:
    leaving: list[Unregistration] = []
    forgotten: list[Event] = []
    elsewhere = {addr for cluster, addr in tables.live if (cluster, addr) not in keys}
    for key in keys:
        places = _places(tables, key)
        if not places or key[1] in elsewhere:
            # Another broker took its place, or its address remains in another cluster.
            del tables.live[key]
            tables.filters.pop(key, None)
            forgotten.append(AddressForgotten(*key, reason=reason))
        else:
            leaving += places
    return forgotten + (unregister(tables, leaving, reason) if leaving else [])
