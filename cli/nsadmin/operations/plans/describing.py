"""Turns the state of a cluster into the desired cluster that describes it. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from nsadmin.client.groups import is_system
from nsadmin.client.order_conf import NAMESPACE, parse
from nsadmin.client.results import error_text
from nsadmin.operations.plans.records import BrokerState, Desired, Live, Spec
from nsadmin.operations.plans.settings import Settings, SpreadKind

Entries = Mapping[str, str]


def described(live: Live, namespaces: Iterable[str] = ()) -> tuple[Desired, list[str]]:
    """The desired cluster that describes the servers that answered, and one line for each remark.

    Topics that brokers created for themselves or for groups, system groups and static topics are left out. If
    name servers have different values, those of the first one are taken.
    """
    known = [broker for broker in live.brokers if broker.error is None]
    order_conf, unreadable = _readable(of_cluster(_agreed(live, NAMESPACE), live.brokers))
    desired = Desired(
        live.cluster,
        _without_implied(_specs("topic", known, [user_topics(broker) for broker in known]), order_conf),
        _specs("group", known, [user_groups(broker) for broker in known]),
        order_conf,
        {name: _agreed(live, name) for name in namespaces} or None,
    )
    return desired, [*_silent(live), *unreadable, *_disagreeing(live), *_static(known)]


def user_topics(broker: BrokerState) -> dict[str, Settings]:
    """The topics of a broker that may be in a file."""
    left_out = broker.own | broker.static
    return {name: settings for name, settings in broker.topics.items() if name not in left_out}


def user_groups(broker: BrokerState) -> dict[str, Settings]:
    """The groups of a broker that may be in a file."""
    return {name: settings for name, settings in broker.groups.items() if not is_system(name)}


def of_cluster(entries: Entries, brokers: Sequence[BrokerState]) -> dict[str, str]:
    """The order configurations of a cluster: those of its topics, and those that name its brokers."""
    names = {broker.name for broker in brokers}
    topics = {topic for broker in brokers for topic in broker.topics}
    return {topic: text for topic, text in entries.items() if topic in topics or names & _brokers_named(text)}


def _brokers_named(text: str) -> set[str]:
    return {entry.partition(":")[0] for entry in text.split(";")}


def _specs(
    kind: SpreadKind, brokers: Sequence[BrokerState], tables: Sequence[Mapping[str, Settings]]
) -> dict[str, Spec]:
    names = [broker.name for broker in brokers]
    held: dict[str, dict[str, Settings]] = {}
    for broker, table in zip(names, tables, strict=True):
        for name, settings in table.items():
            held.setdefault(name, {})[broker] = settings
    return {name: Spec.of(kind, held[name], names) for name in sorted(held)}


def _without_implied(topics: Mapping[str, Spec], ordered: Entries) -> dict[str, Spec]:
    """The specs without `order` for topics with an order configuration, which implies it."""
    return {name: _unsaid(spec) if name in ordered else spec for name, spec in topics.items()}


def _unsaid(spec: Spec) -> Spec:
    special = {broker: _without_order(settings) for broker, settings in spec.per_broker.items()}
    kept = {broker: settings for broker, settings in special.items() if settings}
    return spec._replace(settings=_without_order(spec.settings), per_broker=kept)


def _without_order(settings: Settings) -> Settings:
    return {key: value for key, value in settings.items() if key != "order"}


def _agreed(live: Live, namespace: str) -> dict[str, str]:
    """The merged values of all name servers; for one key, the first name server that has it wins."""
    found: dict[str, str] = {}
    for server in reversed(live.name_servers):
        found.update(server.kv.get(namespace, {}))
    return found


def _readable(entries: Entries) -> tuple[dict[str, str], list[str]]:
    """The valid order configurations, and a remark for each invalid one."""
    found, remarks = {}, []
    for topic, text in entries.items():
        try:
            parse(text)
        except ValueError as error:
            remarks.append(f"the order configuration of {topic} is left out: {error}")
        else:
            found[topic] = text
    return found, remarks


def _silent(live: Live) -> list[str]:
    brokers = [(f"broker {broker.name}", broker.error) for broker in live.brokers]
    servers = [(f"name server {server.addr}", server.error) for server in live.name_servers]
    return [
        f"{name}: {error_text(error)}; what it has is not in here"
        for name, error in (*brokers, *servers)
        if error is not None
    ]


def _disagreeing(live: Live) -> list[str]:
    known = [server for server in live.name_servers if server.error is None]
    namespaces = sorted({namespace for server in known for namespace in server.kv})
    return [
        f"name servers do not agree about the KV namespace {name}: here is what the first of them has"
        for name in namespaces
        if any(server.kv.get(name) != known[0].kv.get(name) for server in known)
    ]


def _static(known: Sequence[BrokerState]) -> list[str]:
    names = sorted({name for broker in known for name in broker.static})
    return [f"static topics are left out: {', '.join(names)}"] if names else []
