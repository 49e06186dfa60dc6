"""Signs of life and their end: heartbeats, expiry at `now`, channels that closed."""

from collections.abc import Collection

from namesrv_core.events import Event
from namesrv_core.protocol.bodies import DataVersion
from namesrv_core.state.registration import Unregistration, unregister
from namesrv_core.state.tables import LiveKey, RouteTables


def heard(tables: RouteTables, key: LiveKey, now: int) -> DataVersion | None:
    """A broker gave a sign of life at `now`; the data version it registered, None for an unknown one."""
    live = tables.live.get(key)
    if live is None:
        return None
    live.heard_at = now
    return live.version


def expire(tables: RouteTables, now: int) -> tuple[list[int], list[Event]]:
    """Take out the brokers not heard of in time, and name the channels to close."""
    expired = [key for key, live in tables.live.items() if live.heard_at + live.timeout < now]
    # A broker that took another address goes on over the channel of the one that it left.
    channels = {tables.live[key].channel for key in expired if any(tables.members_at(key))}
    return sorted(channels), _leave(tables, expired, "expired")


def channel_closed(tables: RouteTables, channel: int) -> list[Event]:
    """Take out the brokers last heard on a channel that is no more.

    One that has registered over a newer channel stays.
    """
    for live in tables.live.values():
        if channel in live.former_channels:
            live.former_channels -= {channel}
    return _leave(tables, list(tables.on_channel(channel)), "channel closed")


def _leave(tables: RouteTables, keys: Collection[LiveKey], reason: str) -> list[Event]:
    leaving = []
    elsewhere = {addr for cluster, addr in tables.live if (cluster, addr) not in keys}
    for key in keys:
        places = list(tables.members_at(key))
        if not places or key[1] in elsewhere:
            # Its address was taken over, or goes on in the name of another cluster.
            del tables.live[key]
            tables.filters.pop(key, None)
        else:
            leaving += [Unregistration(key[0], group.name, broker_id, key[1]) for group, broker_id in places]
    return unregister(tables, leaving, reason) if leaving else []
