"""Records of the desired cluster and of its current state. Pure data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import describe_shared_addr
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind, complete_settings, without_defaults


class ItemSpec(NamedTuple):
    """A desired topic or group: its settings, its brokers, and deviating settings on single brokers."""

    common_settings: ItemSettings = MappingProxyType({})
    only_on: tuple[str, ...] | None = None
    not_on: tuple[str, ...] = ()
    per_broker: Mapping[str, ItemSettings] = MappingProxyType({})

    @property
    def named_brokers(self) -> set[str]:
        """All brokers that the spec names."""
        return {*(self.only_on or ()), *self.not_on, *self.per_broker}

    def settings_on_brokers(
        self, spread_kind: SpreadKind, broker_names: Iterable[str]
    ) -> dict[str, ItemSettings]:
        """The complete settings on each of these brokers that should have the item."""
        chosen_names = [
            n for n in broker_names if (self.only_on is None or n in self.only_on) and n not in self.not_on
        ]
        complete_common = complete_settings(spread_kind, self.common_settings)
        complete_special = {
            broker_name: complete_settings(spread_kind, {**self.common_settings, **broker_settings})
            for broker_name, broker_settings in self.per_broker.items()
        }
        return {name: complete_special.get(name, complete_common) for name in chosen_names}

    @classmethod
    def from_brokers(
        cls,
        spread_kind: SpreadKind,
        settings_by_broker: Mapping[str, ItemSettings],
        broker_names: Sequence[str],
    ) -> "ItemSpec":
        """The shortest spec for an item with these settings by broker.

        The most common settings become the common ones; on a tie, those of the first broker.
        """
        complete_by_broker = {
            broker_name: complete_settings(spread_kind, settings_by_broker[broker_name])
            for broker_name in broker_names
            if broker_name in settings_by_broker
        }
        shared_settings = _most_common_settings(list(complete_by_broker.values()))
        missing_brokers = tuple(n for n in broker_names if n not in complete_by_broker)
        is_shorter = len(missing_brokers) < len(complete_by_broker)
        return cls(
            without_defaults(spread_kind, shared_settings),
            tuple(complete_by_broker) if missing_brokers and not is_shorter else None,
            missing_brokers if missing_brokers and is_shorter else (),
            {
                broker_name: {n: v for n, v in broker_settings.items() if v != shared_settings[n]}
                for broker_name, broker_settings in complete_by_broker.items()
                if broker_settings != shared_settings
            },
        )


class DesiredCluster(NamedTuple):
    """The desired cluster of a file.

    None stands for a section that is not in the file. In `kv_tables`, other namespaces are ignored.
    """

    cluster_name: str
    topic_specs: Mapping[str, ItemSpec] | None = None
    group_specs: Mapping[str, ItemSpec] | None = None
    order_confs: Mapping[str, str] | None = None
    kv_tables: Mapping[str, Mapping[str, str]] | None = None

    @property
    def partial_topics(self) -> list[str]:
        """The topics that should not be on every broker."""
        spec_items = (self.topic_specs or {}).items()
        return sorted(topic for topic, spec in spec_items if spec.only_on is not None or spec.not_on)


class LiveBrokerState(NamedTuple):
    """The state of one broker, with complete settings; `master_addr` is None if it has no master now.

    `own_topics` are topics that brokers created for themselves or for groups, `static` are static topics, and
    `queue_shares` the broker's shares in them.
    `error` says why the state is unknown.
    """

    broker_name: str
    master_addr: str | None
    topics: Mapping[str, ItemSettings] = MappingProxyType({})
    groups: Mapping[str, ItemSettings] = MappingProxyType({})
    own_topics: frozenset[str] = frozenset()
    static: frozenset[str] = frozenset()
    queue_shares: Mapping[str, BrokerQueueShare] = MappingProxyType({})
    error: RocketMQError | None = None


class LiveNameServerState(NamedTuple):
    """The state of one name server: KV values by namespace and key, and the topics of the cluster it routes.

    `perms` are route permissions by topic and broker, only for topics that should not be on every broker.
    `error` says why the state is unknown.
    """

    namesrv_addr: str
    kv: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    routed: frozenset[str] = frozenset()
    perms: Mapping[str, Mapping[str, int]] = MappingProxyType({})
    error: RocketMQError | None = None


class ClusterState(NamedTuple):
    """The current state of a cluster. `shared_addrs` has the names of each address that has several."""

    cluster_name: str
    broker_states: tuple[LiveBrokerState, ...]
    server_states: tuple[LiveNameServerState, ...]
    shared_addrs: Mapping[str, Sequence[str]] = {}

    @property
    def shared_addr_lines(self) -> list[str]:
        return [
            f"{describe_shared_addr(addr, names)}: read once" for addr, names in self.shared_addrs.items()
        ]


def _most_common_settings(settings_list: Sequence[ItemSettings]) -> ItemSettings:
    if not settings_list:
        return {}
    counts = Counter(map(repr, settings_list))
    return max(settings_list, key=lambda settings: counts[repr(settings)])
