"""What a cluster is to have, and what it has: records. Pure data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.plans.settings import Settings, SpreadKind, complete, without_defaults


class Spec(NamedTuple):
    """A topic or group: what it is like, on which brokers, and what is otherwise on single ones."""

    settings: Settings = MappingProxyType({})
    only_on: tuple[str, ...] | None = None
    not_on: tuple[str, ...] = ()
    per_broker: Mapping[str, Settings] = MappingProxyType({})

    @property
    def named(self) -> set[str]:
        """The brokers that it names."""
        return {*(self.only_on or ()), *self.not_on, *self.per_broker}

    def on(self, kind: SpreadKind, brokers: Iterable[str]) -> dict[str, Settings]:
        """All settings on each of these brokers that is to have it."""
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
        """The shortest that says: of all these brokers only those in `held` have it, each with its settings.

        What most of them have stands for all; of two that are as common the first broker's.
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
    """What a cluster is to have, as a file says it.

    None stands for what the file does not speak of; of `kv`, only the namespaces that are there count.
    """

    cluster: str
    topics: Mapping[str, Spec] | None = None
    groups: Mapping[str, Spec] | None = None
    order_conf: Mapping[str, str] | None = None
    kv: Mapping[str, Mapping[str, str]] | None = None

    @property
    def spread_partly(self) -> list[str]:
        """The topics that are not to be on every broker."""
        specs = (self.topics or {}).items()
        return sorted(name for name, spec in specs if spec.only_on is not None or spec.not_on)


class BrokerState(NamedTuple):
    """What one broker has, with all settings; `addr` is its master's, None where there is none now.

    `own` are topics that brokers made for themselves or for groups, `static` those whose queues are mapped.
    `error` says why nothing is known.
    """

    name: str
    addr: str | None
    topics: Mapping[str, Settings] = MappingProxyType({})
    groups: Mapping[str, Settings] = MappingProxyType({})
    own: frozenset[str] = frozenset()
    static: frozenset[str] = frozenset()
    error: RocketMQError | None = None


class NameServerState(NamedTuple):
    """What one name server has: values by namespace and key, and which topics of the cluster it routes.

    `perms` are permissions by broker, of those topics alone that are not to be on every broker. `error` says
    why nothing is known.
    """

    addr: str
    kv: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    routed: frozenset[str] = frozenset()
    perms: Mapping[str, Mapping[str, int]] = MappingProxyType({})
    error: RocketMQError | None = None


class Live(NamedTuple):
    """A cluster as it is."""

    cluster: str
    brokers: tuple[BrokerState, ...]
    name_servers: tuple[NameServerState, ...]


def _most_common(found: Sequence[Settings]) -> Settings:
    if not found:
        return {}
    counts = Counter(map(repr, found))
    return max(found, key=lambda settings: counts[repr(settings)])
