"""BrokerIndex: the brokers of each channel, and the places of each address. It saves searches in the tables.

A place is an address in a broker group. It is held through each cluster under which the broker has registered
it, mostly one. It ends when it is held through none.
"""

from collections.abc import Iterable

LiveKey = tuple[str, str]
"""Cluster name and broker address."""


class BrokerIndex:
    """`RouteTables` keeps it up to date. It never looks at more brokers than those that it is asked for."""

    __slots__ = ("_clusters_by_place", "_keys_by_channel", "_names_by_key")

    def __init__(self) -> None:
        self._keys_by_channel: dict[int, dict[LiveKey, None]] = {}
        self._names_by_key: dict[LiveKey, dict[str, None]] = {}
        self._clusters_by_place: dict[tuple[str, str], dict[str, None]] = {}

    def add_channel(self, channel_id: int, key: LiveKey) -> None:
        """Note that a broker has registered over a channel."""
        self._keys_by_channel.setdefault(channel_id, {})[key] = None

    def is_channel_known(self, channel_id: int) -> bool:
        """Whether a broker has registered over the channel and the channel is open."""
        return channel_id in self._keys_by_channel

    def keys_of_channel(self, channel_id: int) -> Iterable[LiveKey]:
        """The brokers that have registered over an open channel, even if they use another one now."""
        return self._keys_by_channel.get(channel_id, ())

    def remove_channel(self, channel_id: int) -> Iterable[LiveKey]:
        """Forget a closed channel. Return the brokers that have registered over it."""
        return self._keys_by_channel.pop(channel_id, ())

    def remove_from_channels(self, key: LiveKey, channel_ids: Iterable[int]) -> None:
        """Forget that a broker has registered over these channels."""
        for channel_id in channel_ids:
            keys = self._keys_by_channel.get(channel_id)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del self._keys_by_channel[channel_id]

    def hold_place(self, broker_name: str, key: LiveKey) -> None:
        """Note that an address has registered in a group under its cluster."""
        if broker_name in self._names_by_key.get(key, ()):
            return
        self._names_by_key.setdefault(key, {})[broker_name] = None
        cluster_name, broker_addr = key
        self._clusters_by_place.setdefault((broker_name, broker_addr), {})[cluster_name] = None

    def names_at(self, key: LiveKey) -> Iterable[str]:
        """The groups in which an address has a place that is held through this cluster."""
        return self._names_by_key.get(key, ())

    def release_place(self, broker_name: str, key: LiveKey) -> bool:
        """Hold a place no longer through this cluster. Return whether another cluster still holds it."""
        self._forget_name(broker_name, key)
        cluster_name, broker_addr = key
        cluster_names = self._clusters_by_place.get((broker_name, broker_addr), {})
        cluster_names.pop(cluster_name, None)
        return bool(cluster_names)

    def remove_place(self, broker_name: str, broker_addr: str) -> None:
        """Forget a place that has ended."""
        for cluster_name in self._clusters_by_place.pop((broker_name, broker_addr), ()):
            self._forget_name(broker_name, (cluster_name, broker_addr))

    def _forget_name(self, broker_name: str, key: LiveKey) -> None:
        names = self._names_by_key.get(key, {})
        names.pop(broker_name, None)
        if not names:
            self._names_by_key.pop(key, None)
