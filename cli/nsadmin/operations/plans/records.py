"""Records of the desired cluster and of its current state. Pure data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.plans.settings import Settings, SpreadKind, complete, without_defaults


class Spec(NamedTuple):
    """A desired topic or group: its settings, its brokers, and deviating settings on single brokers."""

    settings: Settings = MappingProxyType({})
    only_on: tuple[str, ...] | None = None
    not_on: tuple[str, ...] = ()
    per_broker: Mapping[str, Settings] = MappingProxyType({})

    @property
    def named(self) -> set[str]:
        """All brokers that the spec names."""
        return {*(self.only_on or ()), *self.not_on, *self.per_broker}

    def on(self, kind: SpreadKind, brokers: Iterable[str]) -> dict[str, Settings]:
        """The complete settings on each of these brokers that should have the item."""
        chosen = [
            name
            for name in brokers
            if (self.only_on is None or name in self.only_on) and name not in self.not_on
        ]
        common = complete(kind, self.settings)
        special = {name: complete(kind, {**self.settings, **its}) for name, its in self.per_broker.items()}
        return {name: special.get(name, common) for name in chosen}

    @classmethod
    def of(cls, kind: SpreadKind, held: Mapping[str, Settings], brokers: Sequence[str]) -> "Spec":
        """The shortest spec for an item with these settings by broker.

        The most common settings become the common ones; on a tie, those of the first broker.
        """
        full = {name: complete(kind, held[name]) for name in brokers if name in held}
        common = _most_common(list(full.values()))
        missing = tuple(name for name in brokers if name not in full)
        is_shorter = len(missing) < len(full)
        return cls(
            without_defaults(kind, common),
            tuple(full) if missing and not is_shorter else None,
            missing if missing and is_shorter else (),
            {
                name: {key: value for key, value in settings.items() if value != common[key]}
                for name, settings in full.items()
                if settings != common
            },
        )


class Desired(NamedTuple):
    """The desired cluster of a file.

    None stands for a section that is not in the file. In `kv_tables`, other namespaces are ignored.
    """

    cluster: str
    topics: Mapping[str, Spec] | None = None
    groups: Mapping[str, Spec] | None = None
    order_conf: Mapping[str, str] | None = None
    kv: Mapping[str, Mapping[str, str]] | None = None

    @property
    def spread_partly(self) -> list[str]:
        """The topics that should not be on every broker."""
        specs = (self.topics or {}).items()
        return sorted(name for name, spec in specs if spec.only_on is not None or spec.not_on)


class BrokerState(NamedTuple):
    """The state of one broker, with complete settings; `master_addr` is None if it has no master now.

    `own_topics` are topics that brokers created for themselves or for groups, `static` are static topics.
    `error` says why the state is unknown.
    """

    name: str
    addr: str | None
    topics: Mapping[str, Settings] = MappingProxyType({})
    groups: Mapping[str, Settings] = MappingProxyType({})
    own: frozenset[str] = frozenset()
    static: frozenset[str] = frozenset()
    error: RocketMQError | None = None


class NameServerState(NamedTuple):
    """The state of one name server: KV values by namespace and key, and the topics of the cluster it routes.

    `perms` are route permissions by topic and broker, only for topics that should not be on every broker.
    `error` says why the state is unknown.
    """

    addr: str
    kv: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    routed: frozenset[str] = frozenset()
    perms: Mapping[str, Mapping[str, int]] = MappingProxyType({})
    error: RocketMQError | None = None


class Live(NamedTuple):
    """The current state of a cluster."""

    cluster: str
    brokers: tuple[BrokerState, ...]
    name_servers: tuple[NameServerState, ...]


def _most_common(found: Sequence[Settings]) -> Settings:
    if not found:
        return {}
    counts = Counter(map(repr, found))
    return max(found, key=lambda settings: counts[repr(settings)])
