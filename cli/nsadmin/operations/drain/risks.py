"""Finds the risks of draining a broker, such as topics that lose their last writable queue. Pure."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.resource_names import DLQ_PREFIX, GROUP_TOPIC_PREFIXES, RETRY_PREFIX
from nsadmin.client.advised_command import quote_command
from nsadmin.client.name_servers.order_confs import format_order_conf, parse_order_conf, remove_from_conf
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.drain.facts import NameServerFacts, QueuesByTopic, ServerTopic, SlaveGap
from nsadmin.operations.replicas.records import ItemKind

_MAX_NAMED = 5


class DrainRisk(NamedTuple):
    """A risk for some topics, described by `text`. If it `refuses`, the drain does not begin.

    `remedy` is what removes the risk.
    """

    kind: str
    text: str
    topics: tuple[str, ...]
    refuses: bool
    remedy: str


def find_risks(
    broker: str,
    servers: Iterable[NameServerFacts],
    system_topics: frozenset[str],
    ordered_topics: frozenset[str],
    is_durable: bool,
    drained_names: Collection[str] = (),
) -> tuple[DrainRisk, ...]:
    """Return the risks that at least one name server shows. `ordered_topics` have ordered messages.

    `drained_names` are the brokers that undrain can open again.
    """
    registered = [server for server in servers if server.is_registered]
    topics_by_kind: dict[str, set[str]] = {kind: set() for kind in _RISK_TEXTS}
    for server in registered:
        for topic, server_topic in server.topics.items():
            for kind in _list_risk_kinds(broker, topic, server_topic, system_topics):
                topics_by_kind[kind].add(topic)
    if is_durable:
        topics_by_kind["refused"] = {
            topic for topic in ordered_topics if any(topic in server.topics for server in registered)
        }
    other_names = sorted({name for server in registered for name in server.other_names})
    return (
        *(
            DrainRisk(
                kind,
                _describe_risk(broker, kind, topics, registered),
                tuple(sorted(topics)),
                True,
                _advise(broker, kind, sorted(topics), registered, drained_names),
            )
            for kind, topics in topics_by_kind.items()
            if topics
        ),
        *(
            DrainRisk(
                "sameProcess",
                f"{broker} and {name} are one process: clients continue to write to {name}",
                (),
                True,
                "restart the name servers one by one to remove former names",
            )
            for name in other_names
        ),
    )


def describe_slave_gap(broker: str, slave_gap: SlaveGap) -> DrainRisk:
    """Return the risk that consumers miss something while a slave serves in place of its master."""
    item_names = slave_gap.item_names
    remedy = f"wait until `{quote_command('check', 'replicas')}` is OK"
    slave = f"{broker}:{slave_gap.broker_id}"
    copies = {
        ItemKind.USER: quote_command("copyUser", broker, slave),
        ItemKind.ACL: quote_command("copyAcl", broker, slave),
    }
    needed = [f"`{c}`" for kind, c in copies.items() if any(n.startswith(f"{kind} ") for n in item_names)]
    if needed:
        remedy = f"slaves do not copy users and ACLs: run {', then '.join(needed)}"
    return DrainRisk(
        "slave",
        f"slave {slave_gap.broker_id} at {slave_gap.slave_addr} lacks {count_noun(len(item_names), 'item')} "
        f"of its master ({abbreviate_names(item_names, _MAX_NAMED)})",
        item_names,
        True,
        remedy,
    )


def describe_refusals(risks: Iterable[DrainRisk]) -> list[str]:
    """Describe each risk, and what makes the drain safe: "... (orders): create it on all brokers ..."."""
    return [f"{risk.text}: {risk.remedy}" for risk in risks]


def _advise(
    broker: str,
    kind: str,
    topics: Sequence[str],
    servers: Sequence[NameServerFacts],
    drained_names: Collection[str],
) -> str:
    cluster_name = find_cluster_name(servers) or ""
    stopped = f"`{quote_command('check', 'brokers')}` lists those that are down"
    if kind in ("unwritable", "masterless") and not any(server.has_peers for server in servers):
        return f"start another broker of {cluster_name}: {stopped}"
    if kind == "unwritable":
        # Each broker has its own file: apply must not find the plan of another one.
        plan_file = f"even-{broker}.yaml"
        spread_command = quote_command("spread", ",".join(topics), "-c", cluster_name, "--plan", plan_file)
        pronoun = "it" if len(topics) == 1 else "each"
        apply_command = quote_command("apply", plan_file)
        return (
            f"create {pronoun} on all brokers of {cluster_name} with `{spread_command}` and "
            f"`{apply_command}` (the new queues stay there after the drain)"
        )
    if kind == "masterless":
        return f"start the masters of the other brokers: {stopped}"
    if kind == "readOnly":
        drained = [name for name in _list_closed_names(topics, servers) if name in drained_names]
        if drained:
            undrain_commands = " and ".join(f"`{quote_command('undrain', name)}`" for name in drained[:3])
            return f"run {undrain_commands} first"
        return f"`{quote_command('route', 'explain', topics[0])}` says why"
    if kind == "orderConf":
        commands = [_advise_order_conf(broker, topic, servers) for topic in topics[:3]]
        return f"remove {broker} from the order configuration: {' and '.join(commands)}"
    if kind == "static":
        return "move the queues to other brokers: see `nsadmin remappingStaticTopic --help`"
    return "omit --durable, or stop their producers first"


def _advise_order_conf(broker: str, topic: str, servers: Iterable[NameServerFacts]) -> str:
    """The command that removes the broker from the order configuration, or shows what cannot be removed."""
    for server in servers:
        conf_text = server.topics[topic].order_conf if topic in server.topics else None
        if conf_text and _is_broker_named(broker, conf_text):
            with suppress(ValueError):
                if conf_after := remove_from_conf(conf_text, (broker,)):
                    return f"`{quote_command('updateOrderConf', topic, 'put', conf_after)}`"
    return f"`{quote_command('updateOrderConf', topic, 'get')}` shows it"


def list_left_out(broker: str, servers: Iterable[NameServerFacts]) -> list[str]:
    """Say which order configurations keep clients from a broker that is open, and what adds it."""
    lines = {}
    for topic, place in (item for server in servers for item in sorted(server.topics.items())):
        if place.order_conf is None or not place.is_open or _is_broker_named(broker, place.order_conf):
            continue
        with suppress(ValueError):
            added = parse_order_conf(place.order_conf) | {broker: place.own_queue.write_queue_nums}
            command = quote_command("updateOrderConf", topic, "put", format_order_conf(added))
            lines[topic] = (
                f"clients send no messages of {topic} to {broker}: the order configuration leaves it out; "
                f"`{command}` adds it"
            )
    return list(lines.values())


def _list_risk_kinds(
    broker: str, topic: str, server: ServerTopic, system_topics: frozenset[str]
) -> Iterable[str]:
    if server.order_conf is not None and _is_broker_named(broker, server.order_conf):
        yield "orderConf"
    if server.is_static:
        yield "static"
    if _is_unprotected(topic, system_topics):
        return
    if server.is_open and not server.other_writable_queues:
        yield "readOnly" if server.other_masters else "unwritable"
    elif not server.other_masters:
        yield "masterless"


def find_lone_topics(
    server: NameServerFacts, saved_queues: QueuesByTopic, system_topics: frozenset[str]
) -> list[str]:
    """Return the topics, writable before the drain or now, that no other broker takes messages of."""
    return sorted(
        topic
        for topic, now in server.topics.items()
        if not now.other_writable_queues
        and (now.is_open or (topic in saved_queues and saved_queues[topic].perm & Perm.WRITE))
        and not _is_unprotected(topic, system_topics)
    )


def _is_unprotected(topic: str, system_topics: frozenset[str]) -> bool:
    return is_system_topic(topic, system_topics) or topic.startswith(GROUP_TOPIC_PREFIXES)


def _is_broker_named(broker: str, order_conf: str) -> bool:
    try:
        return broker in parse_order_conf(order_conf)
    except ValueError:
        # If the configuration is malformed, search its text for the name.
        return broker in order_conf


_RISK_TEXTS = {
    "unwritable": "{topics} would be left without a writable queue",
    "readOnly": "{topics} would be left without a writable queue: {closed} no messages for {them}",
    "masterless": "{topics} would be left without a master",
    "orderConf": "the order configuration of {topics} names {broker}: clients continue to send to it",
    "static": "{topics} with static queues on {broker}: clients continue to send to it",
    "refused": "{broker} would refuse the messages of {topics} at once, because they are ordered",
}


def _list_closed_names(topics: Iterable[str], servers: Iterable[NameServerFacts]) -> list[str]:
    """The other brokers of the topics, which take no messages for them."""
    places = (server.topics.get(topic) for server in servers for topic in topics)
    return sorted({name for place in places if place is not None for name in place.closed_names})


def _describe_risk(broker: str, kind: str, risky_topics: set[str], servers: Iterable[NameServerFacts]) -> str:
    closed_names = _list_closed_names(risky_topics, servers)
    closed_verb = "takes" if len(closed_names) == 1 else "take"
    text = _RISK_TEXTS[kind].format(
        closed=f"{abbreviate_names(closed_names, _MAX_NAMED)} {closed_verb}",
        topics=count_noun(len(risky_topics), "topic"),
        them="it" if len(risky_topics) == 1 else "them",
        broker=broker,
    )
    return f"{text} ({abbreviate_names(sorted(risky_topics), _MAX_NAMED)})"


def is_system_topic(topic: str, system_topics: frozenset[str]) -> bool:
    """Whether a topic is a system topic of RocketMQ."""
    return topic in system_topics or topic.lower().startswith(SYSTEM_TOPIC_PREFIX)


def queue_share(servers: Iterable[NameServerFacts], system_topics: frozenset[str]) -> float | None:
    """Return the broker's share of the writable queues of its topics, 0 to 1; None if it is unknown."""
    own_queues = other_queues = 0
    for server in servers:
        if server.is_registered:
            for topic, server_topic in server.topics.items():
                if not is_system_topic(topic, system_topics):
                    own_queues += server_topic.own_queue.write_queue_nums if server_topic.is_open else 0
                    other_queues += server_topic.other_writable_queues
            break
    return own_queues / (own_queues + other_queues) if own_queues + other_queues else None


def find_master_addr(servers: Iterable[NameServerFacts]) -> str | None:
    """Return the master's address at the first name server that has one."""
    return next(
        (
            server.member_addrs[MASTER_BROKER_ID]
            for server in servers
            if MASTER_BROKER_ID in server.member_addrs
        ),
        None,
    )


def find_cluster_name(servers: Iterable[NameServerFacts]) -> str | None:
    """Return the broker's cluster at the first name server that lists it."""
    return next((server.cluster_name for server in servers if server.cluster_name), None)


def find_slave_addrs(servers: Iterable[NameServerFacts]) -> dict[int, str]:
    """Return the addresses of all slaves that at least one name server lists, by broker id."""
    slave_addrs: dict[int, str] = {}
    for server in servers:
        for broker_id, slave_addr in server.member_addrs.items():
            if broker_id != MASTER_BROKER_ID:
                slave_addrs.setdefault(broker_id, slave_addr)
    return slave_addrs


def likely_source(topic: str, delayed_count: int, has_transactions: bool) -> str:
    """Return the likely source of a topic's messages after clients have stopped writing."""
    if topic.startswith(RETRY_PREFIX):
        return "retries of consumers"
    if topic.startswith(DLQ_PREFIX):
        return "dead letters"
    inner_sources = [
        f"{delayed_count} delayed messages that become visible" if delayed_count else "",
        "transactions" if has_transactions else "",
    ]
    return "clients, or " + " and ".join(filter(None, inner_sources)) if any(inner_sources) else "clients"
