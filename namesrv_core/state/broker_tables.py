"""The tables of brokers (clusters, broker groups, live brokers) and the invariants between them.

A cluster lists a broker name only while the group exists, and a group exists only while it has members. Each
member's address has a live broker in the clusters through which it holds its place, so it leaves one day.

A place is an address in a broker group. It is held through each cluster under which the broker has registered
it, mostly one. It ends when it is held through none. BrokerIndex saves searches for places.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from namesrv_core.events import DataVersion

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
        self._keys_by_channel.setdefault(channel_id, {})[key] = None

    def is_channel_known(self, channel_id: int) -> bool:
        return channel_id in self._keys_by_channel

    def keys_of_channel(self, channel_id: int) -> Iterable[LiveKey]:
        """The brokers that have registered over an open channel, even if they use another one now."""
        return self._keys_by_channel.get(channel_id, ())

    def remove_channel(self, channel_id: int) -> Iterable[LiveKey]:
        """Forget a closed channel. Return the brokers that have registered over it."""
        return self._keys_by_channel.pop(channel_id, ())

    def remove_from_channels(self, key: LiveKey, channel_ids: Iterable[int]) -> None:
        for channel_id in channel_ids:
            keys = self._keys_by_channel.get(channel_id)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del self._keys_by_channel[channel_id]

    def hold_place(self, broker_name: str, key: LiveKey) -> None:
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
        for cluster_name in self._clusters_by_place.pop((broker_name, broker_addr), ()):
            self._forget_name(broker_name, (cluster_name, broker_addr))

    def _forget_name(self, broker_name: str, key: LiveKey) -> None:
        names = self._names_by_key.get(key, {})
        names.pop(broker_name, None)
        if not names:
            self._names_by_key.pop(key, None)


_MAX_REPORTED_NAMES = 8


class RegisteredGroup:
    """The brokers of one name: the addresses of a master and its slaves by id (upstream: `BrokerData`).

    `listing_clusters` are the clusters under which they have registered. `cluster_name` is the first one.
    """

    __slots__ = (
        "broker_addrs",
        "broker_name",
        "cluster_name",
        "enable_acting_master",
        "listing_clusters",
        "zone_name",
    )  # fmt: skip

    def __init__(self, cluster_name: str, broker_name: str) -> None:
        self.cluster_name = cluster_name
        self.broker_name = broker_name
        self.listing_clusters = {cluster_name: None}
        self.broker_addrs: dict[int, str] = {}
        self.enable_acting_master = False
        self.zone_name: str | None = None

    def find_id(self, broker_addr: str) -> int | None:
        """The id of the broker at an address, which has only one place in a group."""
        return next((broker_id for broker_id, addr in self.broker_addrs.items() if addr == broker_addr), None)


class BrokerClaim(NamedTuple):
    """The header of a registration: a place in a group, an address, a timeout and options.

    `enable_acting_master` is None for brokers older than 5.0, which do not send it.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    ha_server_addr: str | None = None
    timeout_ms: int | None = None
    enable_acting_master: bool | None = None
    zone_name: str | None = None


class RegistrationFingerprint(NamedTuple):
    """Identifies a broker's last registration, and the generation of the tables after it.

    `request_context` is the rest of the request beside the body of `body_size` bytes. `body_digest` is the
    body's hash, or the hashes of its pieces. Python salts the hash, so clients cannot construct collisions.
    """

    broker: BrokerClaim
    request_context: tuple[object, ...]
    body_size: int
    body_digest: object
    tables_generation: int


class LiveBroker:
    """A live broker: the time of its last sign of life, its channel and its data version.

    `former_channel_ids` are open channels over which it registered before. `is_silent` is set once its
    silence has been reported. `last_fingerprint` identifies the registration that was applied last.
    """

    __slots__ = (
        "channel_id",
        "data_version",
        "former_channel_ids",
        "ha_server_addr",
        "heard_at_ms",
        "is_silent",
        "last_fingerprint",
        "timeout_ms",
    )  # fmt: skip

    def __init__(
        self,
        heard_at_ms: int,
        timeout_ms: int,
        data_version: DataVersion | None,
        channel_id: int,
        ha_server_addr: str | None,
    ) -> None:
        self.heard_at_ms = heard_at_ms
        self.timeout_ms = timeout_ms
        self.data_version = data_version
        self.channel_id = channel_id
        self.former_channel_ids: set[int] = set()
        self.ha_server_addr = ha_server_addr
        self.is_silent = False
        self.last_fingerprint: RegistrationFingerprint | None = None

    def forget_registration(self) -> None:
        """Forget the registration. A query of the data version then has the broker register again."""
        self.data_version = self.last_fingerprint = None


class BrokerTables:
    """The part of `RouteInfoManager` that knows brokers."""

    def __init__(self) -> None:
        self.broker_names_by_cluster: dict[str, dict[str, None]] = {}
        self.broker_groups: dict[str, RegisteredGroup] = {}
        self.live_brokers: dict[LiveKey, LiveBroker] = {}
        self.filter_servers: dict[LiveKey, list[str | None]] = {}
        self._index = BrokerIndex()

    def join_group(self, cluster_name: str, broker_name: str) -> RegisteredGroup:
        """The group of a broker that registers under this cluster. A new group belongs to the cluster."""
        group = self.broker_groups.get(broker_name)
        if group is None:
            group = self.broker_groups[broker_name] = RegisteredGroup(cluster_name, broker_name)
        group.listing_clusters[cluster_name] = None
        self.broker_names_by_cluster.setdefault(cluster_name, {})[broker_name] = None
        return group

    def unlist_group(self, broker_name: str) -> None:
        for cluster_name in self.broker_groups.pop(broker_name).listing_clusters:
            names = self.broker_names_by_cluster[cluster_name]
            del names[broker_name]
            if not names:
                del self.broker_names_by_cluster[cluster_name]

    def set_member(self, group: RegisteredGroup, broker_id: int, key: LiveKey) -> None:
        """Give a broker its place in a group. It loses the one that it had there."""
        broker_name, broker_addr = group.broker_name, key[1]
        replaced = group.broker_addrs.get(broker_id)
        if replaced is not None and replaced != broker_addr:
            self._index.remove_place(broker_name, replaced)
        group.broker_addrs[broker_id] = broker_addr
        self._index.hold_place(broker_name, key)

    def drop_member(self, group: RegisteredGroup, broker_id: int) -> None:
        self._index.remove_place(group.broker_name, group.broker_addrs.pop(broker_id))

    def release_member(self, group: RegisteredGroup, key: LiveKey) -> bool:
        """End a broker's hold of its place. Return whether it holds the place through another cluster."""
        return self._index.release_place(group.broker_name, key)

    def members_at_addr(self, key: LiveKey) -> Iterator[tuple[RegisteredGroup, int]]:
        """The groups in which an address is registered under its cluster, with its broker id in each.

        There is one such group, unless a broker has changed its name. Change no group during the iteration.
        """
        for broker_name in self._index.names_at(key):
            group = self.broker_groups[broker_name]
            broker_id = group.find_id(key[1])
            assert broker_id is not None
            yield group, broker_id

    def reported_members(self, key: LiveKey) -> Iterator[tuple[RegisteredGroup, int]]:
        """The members to report in events. A peer may register thousands of names at one address."""
        return islice(self.members_at_addr(key), _MAX_REPORTED_NAMES)

    def set_live_broker(self, key: LiveKey, live: LiveBroker) -> None:
        """Store a live broker that has registered over its channel."""
        previous = self.live_brokers.get(key)
        self.live_brokers[key] = live
        if previous is None:
            self._index.add_channel(live.channel_id, key)
        else:
            live.former_channel_ids = previous.former_channel_ids
            channel_id, live.channel_id = live.channel_id, previous.channel_id
            self.change_channel(key, live, channel_id)

    def change_channel(self, key: LiveKey, live: LiveBroker, channel_id: int) -> None:
        """Note that a live broker has registered over this channel, which it mostly used before."""
        if channel_id != live.channel_id:
            if self._index.is_channel_known(live.channel_id):
                live.former_channel_ids.add(live.channel_id)
            live.former_channel_ids.discard(channel_id)
            live.channel_id = channel_id
        self._index.add_channel(channel_id, key)

    def drop_live_broker(self, key: LiveKey) -> None:
        live = self.live_brokers.pop(key, None)
        if live is not None:
            self._index.remove_from_channels(key, (live.channel_id, *live.former_channel_ids))

    def drop_channel(self, channel_id: int) -> list[LiveKey]:
        """Forget a closed channel. Return the brokers that have registered over none since."""
        keys = self._index.remove_channel(channel_id)
        for key in keys:
            self.live_brokers[key].former_channel_ids.discard(channel_id)
        return [key for key in keys if self.live_brokers[key].channel_id == channel_id]

    def live_keys_on_channel(self, channel_id: int) -> Iterator[LiveKey]:
        return (
            key
            for key in self._index.keys_of_channel(channel_id)
            if self.live_brokers[key].channel_id == channel_id
        )
