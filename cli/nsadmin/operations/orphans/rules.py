"""Rules that find orphans: topics that their brokers, name servers or groups do not know. Pure."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.operations.topic_kinds import find_topics_of_vanished_groups

OrphanKind = Literal["noBroker", "notThere", "noNameServer", "noGroup"]
NameSet = frozenset[str]


class TopicFacts(NamedTuple):
    """Facts about topics, from all servers that answered.

    `topics_by_server` holds the brokers of each topic, by name server address. `masters` holds the brokers
    with a registered master, by name server address. `held_topics` holds the topics in a broker's own table,
    by broker name. `silent` are brokers that did not answer. `group_names` are all consumer groups, None if a
    broker did not answer. `clusters_by_broker` are the brokers' clusters, `errors_by_server` the errors by
    address or broker name.
    """

    topics_by_server: Mapping[str, Mapping[str, NameSet]]
    masters: Mapping[str, NameSet]
    held_topics: Mapping[str, NameSet]
    silent: NameSet
    group_names: NameSet | None
    clusters_by_broker: Mapping[str, str]
    errors_by_server: Mapping[str, RocketMQError]


class Orphan(NamedTuple):
    """A topic that has lost its broker or its consumer group.

    - noBroker: `namesrv_addrs` route it to `broker_names` (or to no broker), and no broker has it.
    - notThere: `namesrv_addrs` route it to `broker_names`, which do not have it, and to others, which do.
    - noNameServer: `broker_names` have it and are registered with `namesrv_addrs`, which have no route of it.
    - noGroup: `broker_names` keep retries or dead letters for `group`, which no broker has.
    """

    orphan_kind: OrphanKind
    topic: str
    broker_names: tuple[str, ...]
    namesrv_addrs: tuple[str, ...]
    group: str | None = None


def find_orphans(facts: TopicFacts) -> list[Orphan]:
    """All orphans that are certain, sorted by kind and name."""
    return [
        *sorted(_find_unbacked_routes(facts)),
        *sorted(_find_unrouted_topics(facts)),
        *_find_topics_without_group(facts),
    ]


def _find_unbacked_routes(facts: TopicFacts) -> Iterator[Orphan]:
    topics_on_brokers = {topic for topics in facts.held_topics.values() for topic in topics}
    addrs_by_orphan: dict[tuple[OrphanKind, str, tuple[str, ...]], list[str]] = {}
    for namesrv_addr, routed in facts.topics_by_server.items():
        for topic, routed_brokers in routed.items():
            lacking = tuple(sorted(name for name in routed_brokers if _lacks_topic(facts, name, topic)))
            if routed_brokers & facts.silent or (routed_brokers and not lacking):
                continue
            orphan_kind: OrphanKind = "notThere" if topic in topics_on_brokers else "noBroker"
            if orphan_kind == "noBroker" or lacking:
                addrs_by_orphan.setdefault((orphan_kind, topic, lacking), []).append(namesrv_addr)
    for (orphan_kind, topic, lacking), namesrv_addrs in addrs_by_orphan.items():
        yield Orphan(orphan_kind, topic, lacking, tuple(namesrv_addrs))


def _lacks_topic(facts: TopicFacts, broker_name: str, topic: str) -> bool:
    """Whether a broker certainly lacks a topic. A broker that no name server knows has no topics."""
    return broker_name not in facts.silent and topic not in facts.held_topics.get(broker_name, frozenset())


def _find_unrouted_topics(facts: TopicFacts) -> Iterator[Orphan]:
    brokers_by_orphan: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for broker_name, held_topics in facts.held_topics.items():
        namesrv_addrs = tuple(
            addr for addr, master_names in facts.masters.items() if broker_name in master_names
        )
        routed: set[str] = set()
        for namesrv_addr in namesrv_addrs:
            routed.update(
                topic
                for topic, broker_names in facts.topics_by_server[namesrv_addr].items()
                if broker_name in broker_names
            )
        for topic in held_topics - routed if namesrv_addrs else ():
            brokers_by_orphan.setdefault((topic, namesrv_addrs), []).append(broker_name)
    for (topic, namesrv_addrs), broker_names in brokers_by_orphan.items():
        yield Orphan("noNameServer", topic, tuple(sorted(broker_names)), namesrv_addrs)


def _find_topics_without_group(facts: TopicFacts) -> Iterator[Orphan]:
    if facts.group_names is None:
        return
    all_topics = sorted({topic for topics in facts.held_topics.values() for topic in topics})
    for topic, group in find_topics_of_vanished_groups(all_topics, facts.group_names).items():
        broker_names = tuple(sorted(name for name, topics in facts.held_topics.items() if topic in topics))
        namesrv_addrs = tuple(addr for addr, routed in facts.topics_by_server.items() if topic in routed)
        yield Orphan("noGroup", topic, broker_names, namesrv_addrs, group)
