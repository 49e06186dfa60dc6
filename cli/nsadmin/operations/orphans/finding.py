"""Rules that find orphans: topics that their brokers, name servers or groups do not know. Pure."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.topic_kinds import of_vanished_groups

Kind = Literal["noBroker", "notThere", "noNameServer", "noGroup"]
Topics = frozenset[str]


class Facts(NamedTuple):
    """Facts about topics, from all servers that answered.

    `told` holds the brokers of each topic by name server address, `masters` the brokers with a registered
    master by name server address. `held` holds the topics in a broker's own table by broker name; `silent`
    are brokers that did not answer. `group_names` are all consumer groups, None if a broker did not answer.
    `clusters_by_broker` are the brokers' clusters, `errors_by_server` the errors by address or broker name.
    """

    told: Mapping[str, Mapping[str, Topics]]
    masters: Mapping[str, Topics]
    held: Mapping[str, Topics]
    silent: Topics
    groups: Topics | None
    clusters: Mapping[str, str]
    errors: Mapping[str, RocketMQError]


class Orphan(NamedTuple):
    """A topic that has lost what it belongs to.

    - noBroker: `namesrv_addrs` route it to `broker_names` (or to no broker), and no broker has it.
    - notThere: `namesrv_addrs` route it to `broker_names`, which do not have it, and to others, which do.
    - noNameServer: `broker_names` have it and are registered with `namesrv_addrs`, which have no route of it.
    - noGroup: `broker_names` keep retries or dead letters for `group`, which no broker has.
    """

    kind: Kind
    topic: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]
    group: str | None = None


def find(facts: Facts) -> list[Orphan]:
    """All orphans that are certain, sorted by kind and name."""
    return [*sorted(_on_name_servers_only(facts)), *sorted(_on_brokers_only(facts)), *_without_group(facts)]


def _on_name_servers_only(facts: Facts) -> Iterator[Orphan]:
    everywhere = {topic for topics in facts.held.values() for topic in topics}
    places: dict[tuple[Kind, str, tuple[str, ...]], list[str]] = {}
    for addr, topics in facts.told.items():
        for topic, brokers in topics.items():
            lacking = tuple(sorted(name for name in brokers if _lacks(facts, name, topic)))
            if brokers & facts.silent or (brokers and not lacking):
                continue
            kind: Kind = "notThere" if topic in everywhere else "noBroker"
            if kind == "noBroker" or lacking:
                places.setdefault((kind, topic, lacking), []).append(addr)
    for (kind, topic, lacking), addrs in places.items():
        yield Orphan(kind, topic, lacking, tuple(addrs))


def _lacks(facts: Facts, broker: str, topic: str) -> bool:
    """Whether a broker certainly lacks a topic. A broker that no name server knows has no topics."""
    return broker not in facts.silent and topic not in facts.held.get(broker, frozenset())


def _on_brokers_only(facts: Facts) -> Iterator[Orphan]:
    places: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for broker, topics in facts.held.items():
        addrs = tuple(addr for addr, masters in facts.masters.items() if broker in masters)
        known: set[str] = set()
        for addr in addrs:
            known.update(topic for topic, brokers in facts.told[addr].items() if broker in brokers)
        for topic in topics - known if addrs else ():
            places.setdefault((topic, addrs), []).append(broker)
    for (topic, addrs), brokers in places.items():
        yield Orphan("noNameServer", topic, tuple(sorted(brokers)), addrs)


def _without_group(facts: Facts) -> Iterator[Orphan]:
    if facts.groups is None:
        return
    topics = sorted({topic for held in facts.held.values() for topic in held})
    for topic, group in of_vanished_groups(topics, facts.groups).items():
        brokers = tuple(sorted(name for name, held in facts.held.items() if topic in held))
        addrs = tuple(addr for addr, told in facts.told.items() if topic in told)
        yield Orphan("noGroup", topic, brokers, addrs, group)
