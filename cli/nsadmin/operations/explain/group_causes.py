"""Why a consumer group does not consume: all causes, the most likely one first. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from namesrv_core.errors import NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.consumers.client_runtime import ALL_QUEUES, can_be_asked
from nsadmin.client.consumers.consume_stats import find_waiting_since
from nsadmin.client.consumers.lag import BEYOND_END, sum_lags
from nsadmin.client.did_you_mean import find_similar_names
from nsadmin.client.message_queues import MessageQueue, list_readable_queues
from nsadmin.client.results import error_text
from nsadmin.console.phrases import NO_PROXY, count_noun, format_utc_second
from nsadmin.operations.explain.findings import (
    Advice,
    CauseCheck,
    CauseExplanation,
    CauseFinding,
    FindingResult,
    advise_on_missing,
    explain_causes,
    join_names,
    ok_finding,
    skipped_finding,
)
from nsadmin.operations.explain.group_facts import GroupFacts, HeldQueue
from nsadmin.operations.slave_reads import refuses_reads

QUIET_MS = 10_000
"""A queue stands still if its client has not finished the first message for so long, in ms."""
REBALANCE_MS = 20_000
"""Clients look every 20 seconds for queues that are new to them."""

_RESULT_ORDER: tuple[FindingResult, ...] = ("cause", "warning", "unknown", "ok", "skipped")
_MODULE = re.compile(r"^(?:[\w.]+@[\w.+-]+/|\w+//)")
_MAX_FRAMES, _MAX_THREADS, _MAX_SHARES = 6, 3, 5
_RATE_NOISE = 0.05
"""Two rates of a minute that differ by less than this part do not say when a lag is gone."""


def explain_group(facts: GroupFacts) -> list[CauseExplanation]:
    """At least one explanation for each cause that applies: causes first, then what else is wrong."""
    cluster, silence_text = facts.cluster, None
    if not cluster.broker_groups:
        silence_text = "no broker is registered"
    elif not any(map(cluster.answers, cluster.configs)):
        silence_text = "no broker answered"
    explanations = explain_causes(GROUP_CHECKS, facts, silence_text)
    return sorted(explanations, key=lambda e: _RESULT_ORDER.index(e.finding.result))


# Brokers


def _brokers_of_group(facts: GroupFacts) -> Iterator[BrokerAddrGroup]:
    """The brokers with queues of the topics; without a topic, those of the clusters that have the group."""
    names = {
        queue.broker_name for r in facts.routes.values() if r.result is not None for queue in r.result.queues
    }
    groups = facts.cluster.broker_groups
    if not names:
        having = {g.cluster_name for g in groups if _has_group(facts, g.broker_name)}
        names = {g.broker_name for g in groups if g.cluster_name in having or not having}
    yield from (group for group in groups if group.broker_name in names)


def _has_group(facts: GroupFacts, broker_name: str) -> bool:
    result = facts.cluster.group_tables.get(facts.cluster.reader_addrs.get(broker_name, ""))
    return result is not None and facts.group in (result.result or {})


def _readers_of_group(facts: GroupFacts) -> Iterator[tuple[str, str, str]]:
    """The name of each of these brokers, the address of the process to read from, and of its master."""
    for group in _brokers_of_group(facts):
        addr = facts.cluster.reader_addrs.get(group.broker_name, "")
        yield group.broker_name, addr, group.master_addr or addr


def _finding_on(
    broker_name: str | None,
    addr: str | None,
    result: FindingResult,
    evidence: str,
    advice: Advice | None = None,
) -> CauseFinding:
    return CauseFinding(result, evidence, advice, None, broker_name, addr)


def _finding_on_brokers(
    places: Mapping[str, tuple[str, str]], result: FindingResult, evidence: str, advice: Advice
) -> CauseFinding:
    """One finding about brokers, which are by name; it has the place only of a single one."""
    [(name, (addr, _)), *others] = places.items()
    return (
        CauseFinding(result, evidence, advice)
        if others
        else _finding_on(name, addr, result, evidence, advice)
    )


def _find_dead_brokers(facts: GroupFacts) -> Iterator[CauseFinding]:
    for group in _brokers_of_group(facts):
        silent = [(addr, facts.cluster.configs[addr].error) for addr in group.broker_addrs.values()]
        if silent and not any(facts.cluster.answers(addr) for addr, _ in silent):
            addr, reasons = (
                silent[0][0],
                "; ".join(f"{a}: {error_text(error)}" for a, error in silent if error),
            )
            evidence = f"{group.broker_name} does not answer, so nobody reads its queues: {reasons}"
            instruction = "start the broker again; if it runs, check the network to it, or pass --addressMap"
            advice = Advice(instruction, ("brokerStatus", "-b", addr))
            result: FindingResult = "cause" if facts.routes else "unknown"
            yield _finding_on(group.broker_name, addr, result, evidence, advice)


def _find_missing_brokers(facts: GroupFacts) -> Iterator[CauseFinding]:
    """Expected brokers that no name server lists, unless they never had a topic of the group."""
    lost_topics = facts.cluster.lost_topics
    for name, reason in sorted(lost_topics.reasons_by_name.items()):
        topics = [t for t in facts.topics or [facts.retry_topic] if lost_topics.had_topic(name, t)]
        if topics:
            evidence = f"{name} is {reason}, so nobody reads its queues of {join_names(topics)}"
            yield _finding_on(name, None, "cause", evidence, advise_on_missing(name))
        elif not lost_topics.knows_topics_of(name):
            evidence = f"{name} is {reason}; nsadmin does not know its topics"
            yield _finding_on(name, None, "unknown", evidence, advise_on_missing(name))


def _find_refusing_slaves(facts: GroupFacts) -> Iterator[CauseFinding]:
    for group in _brokers_of_group(facts):
        if group.master_addr is not None and facts.cluster.answers(group.master_addr):
            continue
        slaves = {
            addr: config
            for broker_id, addr in group.broker_addrs.items()
            if broker_id != MASTER_BROKER_ID and (config := facts.cluster.configs[addr].result) is not None
        }
        if not slaves:
            for addr in filter(facts.cluster.answers, group.broker_addrs.values()):
                yield CauseFinding("unknown", f"slave {addr} did not tell whether it serves reads")
            continue
        master = "has no master" if group.master_addr is None else f"has a silent master, {group.master_addr}"
        refusing = [addr for addr, config in slaves.items() if refuses_reads(config)]
        slave = refusing[0] if refusing else next(iter(slaves))
        advice = Advice("start the master again")
        if refusing:
            advice = Advice(
                "start the master again, or let consumers read from the slave",
                ("updateBrokerConfig", "slaveReadEnable", "true", "-b", slave),
            )
        if len(refusing) == len(slaves):
            reads = f"its slaves refuse reads (slaveReadEnable=false): {join_names(refusing)}"
            evidence = f"{group.broker_name} {master}, and {reads}"
            yield _finding_on(group.broker_name, slave, "cause", evidence, advice)
        else:
            evidence = f"{group.broker_name} {master}, and consumers read from a slave"
            yield _finding_on(group.broker_name, slave, "warning", evidence, advice)


def _find_refusals(facts: GroupFacts) -> Iterator[CauseFinding]:
    """Brokers that refuse to give the group messages because of a permission."""
    for name, addr, _ in _readers_of_group(facts):
        config = facts.cluster.configs[addr].result if addr in facts.cluster.configs else None
        if config is None and facts.cluster.answers(addr):
            advice = Advice("", ("getBrokerConfig", "-b", addr))
            yield _finding_on(name, addr, "unknown", f"{name} did not tell its settings", advice)
        permission = (config or {}).get("brokerPermission", "")
        if permission.isdecimal() and not int(permission) & Perm.READ:
            evidence = f"{name} gives nobody messages: brokerPermission={permission}"
            readable = str(int(permission) | Perm.READ)
            advice = Advice("", ("updateBrokerConfig", "brokerPermission", readable, "-b", addr))
            yield _finding_on(name, addr, "cause", evidence, advice)
    for topic, result in facts.routes.items():
        for queue in result.result.queues if result.result else ():
            if queue.perm is not None and not queue.perm & Perm.READ:
                name, addr = queue.broker_name, queue.any_addr or queue.broker_name
                evidence = f"{name} gives nobody messages of {topic}: its permission is {queue.perm}"
                advice = Advice("", ("updateTopicPerm", topic, str(queue.perm | Perm.READ), "-b", addr))
                yield _finding_on(name, addr, "cause", evidence, advice)
        if isinstance(result.error, TopicNotExist):
            yield CauseFinding(
                "cause", f"no name server has a route of {topic}", Advice("", ("route", "explain", topic))
            )
        elif result.error is not None:
            yield CauseFinding("unknown", f"the route of {topic}: {error_text(result.error)}")


# The group on brokers


def _is_unknown_group(facts: GroupFacts) -> bool:
    """Whether all brokers answered, and nothing is known of the group: its name may be mistyped."""
    tables = facts.cluster.group_tables.values()
    return (
        bool(tables)
        and all(r.result is not None and facts.group not in r.result for r in tables)
        and not facts.connections.clients
        and not facts.topics
    )


def _find_missing_group(facts: GroupFacts) -> Iterator[CauseFinding]:
    known_groups = {name for r in facts.cluster.group_tables.values() for name in r.result or ()}
    similar = [] if facts.group in known_groups else find_similar_names(facts.group, known_groups)
    if _is_unknown_group(facts):
        clusters = sorted({g.cluster_name for g in facts.cluster.broker_groups})
        advice = Advice(
            "if the name is right, create the group",
            ("updateSubGroup", facts.group, "-c", ",".join(clusters)),
        )
        evidence = f"no broker has a group {facts.group}"
        if similar:
            evidence += f"; similar groups exist: {join_names(similar)}"
            advice = Advice("", ("group", "explain", similar[0]))
        yield CauseFinding("cause", evidence, advice)
        return
    for name, addr, _ in _readers_of_group(facts):
        result = facts.cluster.group_tables.get(addr)
        if result is not None and result.result is None and facts.cluster.answers(addr):
            advice = Advice("", ("getConsumerConfig", facts.group))
            yield _finding_on(name, addr, "unknown", f"{name} did not list its groups", advice)
    for (kind, reason), places in _list_brokers_without_group(facts).items():
        masters = ",".join(master for _, master in places.values())
        advice = Advice("", ("updateSubGroup", facts.group, "-b", masters))
        if similar:
            reason += f"; similar groups exist: {join_names(similar)}"
            advice = Advice("", ("group", "explain", similar[0]))
        evidence = f"{join_names(places)} {'does' if len(places) == 1 else 'do'} not have the group{reason}"
        yield _finding_on_brokers(places, kind, evidence, advice)


def _list_brokers_without_group(
    facts: GroupFacts,
) -> dict[tuple[FindingResult, str], dict[str, tuple[str, str]]]:
    """These brokers, with the address that was read and the master, by what follows and the reason."""
    unconnected = _list_unconnected_masters(facts)
    missing: dict[tuple[FindingResult, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for name, addr, master in _readers_of_group(facts):
        result = facts.cluster.group_tables.get(addr)
        if result is not None and result.result is not None and facts.group not in result.result:
            config = facts.cluster.configs[addr].result or {}
            creates = config.get("autoCreateSubscriptionGroup") == "true"
            reason = ""
            if not creates:
                reason = "; a broker creates none with autoCreateSubscriptionGroup=false"
            elif not facts.connections.clients:
                reason = "; a broker creates it when a client connects"
            is_cause = not creates or name in unconnected
            missing["cause" if is_cause else "warning", reason][name] = (addr, master)
    return missing


def _list_brokers_missing_group(facts: GroupFacts) -> list[str]:
    """The brokers whose queues nobody can consume, because they do not have the group."""
    found = _list_brokers_without_group(facts).items()
    return [name for (kind, _), places in found if kind == "cause" for name in places]


def _find_disabled_groups(facts: GroupFacts) -> Iterator[CauseFinding]:
    yield from _find_brokers_with_false(facts, "consumeEnable", "-s", "{} refuses the group")
    if facts.connections.is_broadcasting:
        broadcasts = "the group broadcasts, and {} refuses it"
        yield from _find_brokers_with_false(facts, "consumeBroadcastEnable", "-d", broadcasts)


def _find_brokers_with_false(
    facts: GroupFacts, setting: str, flag: str, sentence: str
) -> Iterator[CauseFinding]:
    """The brokers where this setting of the group is false: whole clusters, and the others."""
    refusing = _list_brokers_with_false(facts, setting)
    names_by_cluster = defaultdict[str, set[str]](set)
    for group in facts.cluster.broker_groups:
        names_by_cluster[group.cluster_name].add(group.broker_name)
    clusters = sorted(c for c, names in names_by_cluster.items() if names <= refusing.keys())
    merged = set[str]().union(*(names_by_cluster[cluster] for cluster in clusters))
    if len(merged) > 1:
        evidence = f"{sentence.format(f'every broker of {join_names(clusters)}')}: {setting}=false"
        words = ("updateSubGroup", facts.group, "-c", ",".join(clusters), flag, "true")
        yield CauseFinding("cause", evidence, Advice("", words))
    others = {name: place for name, place in refusing.items() if len(merged) <= 1 or name not in merged}
    if others:
        evidence = f"{sentence.format(join_names(others))}: {setting}=false"
        masters = ",".join(master for _, master in others.values())
        advice = Advice("", ("updateSubGroup", facts.group, "-b", masters, flag, "true"))
        yield _finding_on_brokers(others, "cause", evidence, advice)


def _list_brokers_with_false(facts: GroupFacts, setting: str) -> dict[str, tuple[str, str]]:
    """The brokers where this setting of the group is false: the address that was read, and the master."""
    tables = facts.cluster.group_tables
    return {
        name: (addr, master)
        for name, addr, master in _readers_of_group(facts)
        if addr in tables and (tables[addr].result or {}).get(facts.group, {}).get(setting) is False
    }


def _list_refusing_brokers(facts: GroupFacts) -> set[str]:
    """The brokers that give the group no messages for a reason which has a step of its own."""
    finders = (_find_dead_brokers, _find_refusing_slaves, _find_refusals)
    findings = chain.from_iterable(find(facts) for find in finders)
    names = {f.broker_name for f in findings if f.broker_name and f.result == "cause"}
    if facts.connections.is_broadcasting:
        names |= _list_brokers_with_false(facts, "consumeBroadcastEnable").keys()
    return names | _list_brokers_with_false(facts, "consumeEnable").keys()


def _enabled_group(facts: GroupFacts) -> CauseFinding:
    holders = [addr for addr, r in facts.cluster.group_tables.items() if facts.group in (r.result or {})]
    if not holders:
        return skipped_finding("no broker that answered has the group")
    return ok_finding(f"the group may consume on {join_names(holders)}")


def _find_forbidden_topics(facts: GroupFacts) -> Iterator[CauseFinding]:
    advice = Advice(
        "a program forbade it with request 353: allow it again with "
        "updateAndGetGroupReadForbidden of Java's DefaultMQAdminExt, on each master"
    )
    for name, addr, _ in _readers_of_group(facts):
        result = facts.cluster.forbidden.get(addr)
        for topic in (result.result or {}).get(facts.group, []) if result else []:
            if topic in facts.topics:
                evidence = f"{name} forbids the group to read {topic}: pulls get NO_PERMISSION (16)"
                yield _finding_on(name, addr, "cause", evidence, advice)


# Clients


def _find_missing_clients(facts: GroupFacts) -> Iterator[CauseFinding]:
    if facts.connections.clients:
        yield from _find_unconnected_masters(facts)
        return
    if not facts.cluster.broker_groups:
        evidence = "no broker is registered, so the clients of the group are unknown"
        yield CauseFinding("unknown", evidence, Advice("", ("clusterList",)))
        return
    if _is_unknown_group(facts):
        return
    errors = {a: e for a, e in {**facts.connections.errors, **facts.connections.proxy_errors}.items() if e}
    evidence = "no client of the group is connected"
    if waiting := sum_lags(lag.lag for lag in facts.lags).messages:
        evidence += f"; waiting messages: {waiting}"
    if errors:
        reasons = "; ".join(f"{addr}: {error_text(error)}" for addr, error in errors.items())
        evidence += f". These servers did not tell whether they have clients: {reasons}"
    yield CauseFinding(
        "unknown" if errors and not _lost_clients(facts) else "cause",
        evidence,
        Advice("start the application; then look for its clients", ("consumerConnection", facts.group)),
    )


def _list_unconnected_masters(facts: GroupFacts) -> dict[str, str]:
    """Masters with queues of subscribed topics but no client, by name; unknown if clients use proxies."""
    clients, errors = facts.connections.clients, facts.connections.errors
    if facts.connections.proxy_errors or not all(map(can_be_asked, clients)):
        return {}
    connected = {addr for client in clients for addr in client.broker_addrs}
    topics = {s.topic for s in facts.connections.subscriptions}.union(*facts.subscriptions.values())
    routes = [r.result for topic, r in facts.routes.items() if topic in topics and r.result is not None]
    names = {queue.broker_name for route in routes for queue in route.queues}
    masters = {g.broker_name: g.master_addr for g in facts.cluster.broker_groups if g.broker_name in names}
    return {n: a for n, a in masters.items() if a and a not in connected and errors.get(a, True) is None}


def _find_unconnected_masters(facts: GroupFacts) -> Iterator[CauseFinding]:
    """Masters that know the group and have none of its clients."""
    for name, addr in _list_unconnected_masters(facts).items():
        table = facts.cluster.group_tables.get(addr)
        if table is not None and table.result is not None and facts.group not in table.result:
            continue
        evidence = (
            f"no client of the group is connected to {addr}, the master of {name}: nobody consumes its "
            f"queues; clients that are connected to other brokers: {len(facts.connections.clients)}"
        )
        advice = Advice(
            f"check the network from the clients to {addr}, and read their logs",
            ("consumerConnection", facts.group, "--columns", "clientId,brokerAddrs"),
        )
        yield _finding_on(name, addr, _unless_fresh(facts, "cause"), evidence, advice)


def _list_clients(facts: GroupFacts) -> CauseFinding:
    ids = [client.client_id for client in facts.connections.clients]
    if not ids:
        return skipped_finding("no broker has the group")
    return ok_finding(f"connected clients: {join_names(ids)}")


def _lost_clients(facts: GroupFacts) -> dict[str, list[str]]:
    """The clients of the group that proxies without an answer had, by proxy."""
    proxies = facts.cluster.proxies
    silent = {p.proxy_addr for p in proxies.proxies if p.is_answering is False} if proxies else set()
    lost: dict[str, list[str]] = {addr: [] for addr in sorted(silent)}
    for heartbeat in proxies.heartbeats.latest if proxies else ():
        addr = heartbeat.proxy.remoting_addr
        if addr in silent and heartbeat.group == facts.group and not heartbeat.is_leaving:
            lost[addr].append(heartbeat.client.client_id)
    return {addr: ids for addr, ids in lost.items() if ids}


def _find_dead_proxies(facts: GroupFacts) -> Iterator[CauseFinding]:
    lost = _lost_clients(facts)
    for addr, ids in lost.items():
        evidence = f"proxy {addr} does not answer; clients of the group that used it: {join_names(ids)}"
        advice = Advice("start the proxy again, or point its clients at another", ("proxy", "list"))
        yield CauseFinding("cause", evidence, advice)
    if facts.cluster.proxies_error is not None:
        yield CauseFinding("unknown", f"proxies are unknown: {error_text(facts.cluster.proxies_error)}")
    elif facts.cluster.proxies is not None:
        for proxy in facts.cluster.proxies.proxies:
            addr = proxy.proxy_addr
            if proxy.is_answering is False and addr not in lost:
                reason = error_text(proxy.error) if proxy.error else "no answer"
                evidence = f"proxy {addr} does not answer: {reason}; no client of the group used it"
                yield CauseFinding("warning", evidence, Advice("start the proxy again", ("proxy", "list")))


def _list_proxies(facts: GroupFacts) -> CauseFinding:
    proxies = facts.cluster.proxies
    if not proxies or not proxies.proxies:
        return skipped_finding(NO_PROXY)
    return ok_finding(f"proxies answer: {join_names(p.proxy_addr for p in proxies.proxies)}")


def _find_silent_clients(facts: GroupFacts) -> Iterator[CauseFinding]:
    for client in facts.clients:
        if client.error is not None:
            client_id = client.client.client_id
            evidence = f"client {client_id} did not report its state: {error_text(client.error)}"
            yield CauseFinding(
                "unknown", evidence, Advice("", ("consumerStatus", facts.group, "-i", client_id))
            )


def _list_reports(facts: GroupFacts) -> CauseFinding:
    if not facts.clients:
        return skipped_finding("no client is connected")
    unasked = [c.client.client_id for c in facts.clients if not can_be_asked(c.client)]
    text = f"clients that reported their state: {len(facts.running)}"
    if unasked:
        text += f"; gRPC clients and those behind proxies cannot report: {join_names(unasked)}"
    return ok_finding(text)


def _find_subscription_differences(facts: GroupFacts) -> Iterator[CauseFinding]:
    subscriptions, started = facts.subscriptions, {c: i.started_at_ms for c, i in facts.running}
    # The broker's subscriptions count for clients that report none.
    if facts.topic and facts.connections.clients and facts.topic not in facts.topics:
        instruction = "check the name of the topic, or subscribe to it in the application"
        advice = Advice(instruction, ("consumerConnection", facts.group))
        yield CauseFinding("cause", f"no connected client subscribes to {facts.topic}", advice)
    for topic in sorted({topic for by_topic in subscriptions.values() for topic in by_topic}):
        clients_by_text: dict[str, list[str]] = defaultdict(list)
        for client_id, by_topic in subscriptions.items():
            clients_by_text[str(by_topic.get(topic, "nothing"))].append(client_id)
        if len(clients_by_text) < 2:
            continue
        begins = [min(started.get(c) or 0 for c in ids) for ids in clients_by_text.values()]
        since = format_utc_second(sorted(begins)[1]) if all(begins) else "TIME"
        parts = [f"{join_names(ids)}: {text}" for text, ids in clients_by_text.items()]
        hidden = [_describe_hidden(facts, topic, text, ids) for text, ids in clients_by_text.items()]
        yield CauseFinding(
            "cause",
            f"members subscribe {topic} differently, so messages are skipped: {'; '.join(parts)}. "
            + "; ".join(hidden),
            Advice(
                "give all members one subscription, or each subscription its own group; then "
                "read again what was skipped",
                ("resetOffsetByTime", facts.group, topic, "-s", since),
            ),
        )
    if not any(subscriptions.values()):
        for line in facts.connections.disagreements:
            yield CauseFinding("cause", f"subscriptions differ: {line}")


def _describe_hidden(facts: GroupFacts, topic: str, text: str, client_ids: list[str]) -> str:
    """Which messages the clients of a subscription hide from the others: those that their filter drops."""
    queues = [
        held.queue
        for client_id, info in facts.running
        if client_id in client_ids
        for held in info.queues
        if held.queue.topic == topic
    ]
    sample = facts.samples.get(topic, ())
    dropped = [message for message in sample if not _matches(text, message.tags)]
    counts = f": {_count_tags(dropped)} of the newest {len(sample)}" if dropped else ""
    place = f"in {_name_queues(queues)} " if queues else ""
    return f"{place}{join_names(client_ids)} skips what is not {text}{counts}"


def _count_tags(messages: Iterable[StoredMessage]) -> str:
    counts = Counter(message.tags or "no tag" for message in messages)
    return join_names(f"{tag} ({count})" for tag, count in counts.most_common())


def _matches(text: str, tags: str | None) -> bool:
    """Whether a filter text passes a message; SQL is not judged here."""
    return text == "*" or text.startswith("SQL92") or tags in {word.strip() for word in text.split("||")}


def _name_queues(queues: Iterable[MessageQueue]) -> str:
    ids_by_place: dict[tuple[str, str], list[int]] = defaultdict(list)
    for queue in sorted(queues):
        ids_by_place[queue.topic, queue.broker_name].append(queue.queue_id)
    return join_names(
        f"{topic} {broker} {','.join(map(str, ids[:8]))}{',…' if len(ids) > 8 else ''}"
        for (topic, broker), ids in ids_by_place.items()
    )


def _find_mixed_models(facts: GroupFacts) -> Iterator[CauseFinding]:
    clients_by_model: dict[str, list[str]] = defaultdict(list)
    for client_id, info in facts.running:
        if model := info.properties.get("messageModel"):
            clients_by_model[model].append(client_id)
    if len(clients_by_model) > 1:
        parts = "; ".join(f"{join_names(ids)}: {model}" for model, ids in clients_by_model.items())
        evidence = f"some members broadcast and others share the messages: {parts}"
        advice = Advice("give the members of each model a group of their own")
        yield CauseFinding("cause", evidence, advice)


def _name_model(facts: GroupFacts) -> CauseFinding:
    model, kind = facts.connections.message_model, facts.connections.consume_type
    if model is None:
        return skipped_finding("no client told its message model")
    if facts.connections.is_broadcasting:
        return ok_finding("BROADCASTING: each client keeps its own offsets, so the lag here is not known")
    pulls = "; the application itself asks for messages" if kind == "CONSUME_ACTIVELY" else ""
    return ok_finding(f"{model}, {kind}{pulls}")


# Queues


def is_quiet(facts: GroupFacts, held: HeldQueue) -> bool | None:
    """Whether the first message of the queue waits for QUIET_MS at least; None if that is unknown."""
    since_ms = _quiet_since(facts, held)
    return None if since_ms is None else facts.cluster.now_ms - since_ms >= QUIET_MS


def _quiet_since(facts: GroupFacts, held: HeldQueue) -> int | None:
    head = facts.heads.get(held.running.queue)
    if isinstance(head, RocketMQError):
        return None
    return max(held.running.last_consume_ms or 0, head.store_timestamp if head else 0)


def _find_stuck_queues(facts: GroupFacts) -> Iterator[CauseFinding]:
    for held in facts.held_queues():
        quiet = is_quiet(facts, held) if held.unfinished_count else False
        if quiet is None:
            evidence = "the first message cannot be read: whether it is stuck is unknown"
            yield _finding_about_queue(facts, held, "unknown", evidence, None)
        elif quiet:
            head = facts.heads.get(held.running.queue)
            since_ms = _quiet_since(facts, held) or 0
            message = f"offset {held.offset}"
            if head is not None and not isinstance(head, RocketMQError):
                keys = f", keys {' '.join(head.keys)}" if head.keys else ""
                message += f" (message {head.msg_id}{keys})"
            evidence = (
                f"{held.client_id} has not finished {message} since {format_utc_second(since_ms)}; "
                f"messages behind its offset: {held.waiting}, of them in the client: {held.unfinished_count}"
                f"{_describe_threads(facts, held.client_id)}"
            )
            yield _finding_about_queue(facts, held, "cause", evidence, _advise_skip(facts, held))


def _advise_skip(facts: GroupFacts, held: HeldQueue) -> Advice:
    queue = held.running.queue
    master_addr = _master_of(facts, queue.broker_name) or queue.broker_name
    config = facts.cluster.configs[master_addr].result if master_addr in facts.cluster.configs else None
    # Brokers before 5.2 leave the move of a single queue to clients, which overwrite it.
    stops_first = config is not None and "useServerSideResetOffset" not in config
    place = ("-b", master_addr, "-q", str(queue.queue_id), "-o", str(held.offset + 1))
    return Advice(
        "restart the client, which gets the message again, or "
        + ("stop the group and skip this one message" if stops_first else "skip this one message"),
        ("resetOffsetByTime", facts.group, queue.topic, *place),
    )


def _describe_threads(facts: GroupFacts, client_id: str) -> str:
    """The stacks of the threads that are inside the listener."""
    result = facts.stacks.get(client_id)
    if result is None or result.result is None:
        reason = error_text(result.error) if result is not None and result.error else "not asked"
        return f"; its thread stacks are unknown: {reason}"
    stacks = list_busy_stacks(result.result)
    if not stacks:
        return "; no consuming thread is in its thread dump"
    more = f" and {len(stacks) - _MAX_THREADS} more threads" if len(stacks) > _MAX_THREADS else ""
    return "; " + "; ".join(f"thread {name}: {stack}" for name, stack in stacks[:_MAX_THREADS]) + more


def list_busy_stacks(jstack: str) -> list[tuple[str, str]]:
    """The threads of a dump (UtilAll#jstack) that run a listener, with their innermost frames."""
    stacks = []
    for block in re.split(r"\n[ \t\r]*\n", jstack):
        first, *lines = block.strip("\r\n").splitlines() or [""]
        name, mark, _ = first.partition("TID: ")
        if not mark:
            continue
        frames = [_MODULE.sub("", line[len(name.rstrip()) :].strip()) for line in lines]
        end = next((i for i, f in enumerate(frames) if "ConsumeRequest.run" in f), None)
        if end is not None:
            stacks.append((name.strip(), " < ".join(frames[: min(end, _MAX_FRAMES)])))
    return stacks


def _master_of(facts: GroupFacts, broker_name: str) -> str | None:
    groups = (g for g in facts.cluster.broker_groups if g.broker_name == broker_name)
    return next((g.master_addr for g in groups if g.master_addr), None)


def _finding_about_queue(
    facts: GroupFacts, held: HeldQueue, result: FindingResult, evidence: str, advice: Advice | None
) -> CauseFinding:
    queue = held.running.queue
    addr = _master_of(facts, queue.broker_name)
    return _finding_on(queue.broker_name, addr, result, f"{_name_queues([queue])}: {evidence}", advice)


def _find_suspended_queues(facts: GroupFacts) -> Iterator[CauseFinding]:
    """Queues whose client fetches nothing, although messages wait and no broker refuses them."""
    refusing = _list_refusing_brokers(facts)
    idle: dict[str, list[HeldQueue]] = defaultdict(list)
    for held in facts.held_queues():
        unlocked = held.info.is_orderly and not held.running.is_locked
        if held.unfinished_count or unlocked or held.running.queue.broker_name in refusing:
            continue
        if is_quiet(facts, held):
            idle[held.client_id].append(held)
    for client_id, queues in idle.items():
        pulls = max(held.running.last_pull_ms or 0 for held in queues)
        reason = (
            "its application suspended it, or each pull is refused"
            if facts.cluster.now_ms - pulls < QUIET_MS
            else f"it has not pulled since {format_utc_second(pulls)}"
        )
        parts = [
            f"{client_id} fetches nothing of {_name_queues(held.running.queue for held in queues)}",
            f"messages behind its offset: {sum(held.waiting for held in queues)}",
            reason,
        ]
        instruction = "call resume() in the application, or restart it, and read its log"
        advice = Advice(instruction, ("consumerStatus", facts.group, "-i", client_id))
        yield CauseFinding("cause", "; ".join(parts), advice)


def _find_unlocked_queues(facts: GroupFacts) -> Iterator[CauseFinding]:
    if facts.connections.is_broadcasting:
        return
    for client_id, info in facts.running:
        unlocked = [q.queue for q in info.queues if info.is_orderly and not q.is_locked and not q.is_dropped]
        if unlocked:
            yield CauseFinding(
                _unless_fresh(facts, "cause"),
                f"{client_id} consumes in order, but does not hold the lock of {_name_queues(unlocked)}: "
                "another client has it, or the broker refuses it",
                Advice(
                    "brokers release the lock of a dead client after 60 s; end other clients of "
                    "the group that hold these queues",
                    ("consumerStatus", facts.group),
                ),
            )


def _unless_fresh(facts: GroupFacts, result: FindingResult) -> FindingResult:
    """ "unknown" while a client is so young that the queues are still being shared out."""
    starts = [info.started_at_ms or 0 for _, info in facts.running]
    return "unknown" if facts.cluster.now_ms - max(starts, default=0) < REBALANCE_MS else result


def _shares_queues(facts: GroupFacts) -> bool:
    """Whether each queue of the topics must have exactly one owner, and the owners are known."""
    return (
        bool(facts.running)
        and len(facts.running) == len(facts.clients)
        and facts.connections.message_model == "CLUSTERING"
        and facts.connections.consume_type == "CONSUME_PASSIVELY"
    )


def _find_owner_problems(facts: GroupFacts) -> Iterator[CauseFinding]:
    if not _shares_queues(facts):
        return
    missing = _list_brokers_missing_group(facts)
    owners: dict[MessageQueue, list[str]] = {
        queue: []
        for topic, result in facts.routes.items()
        if result.result is not None
        for queue in list_readable_queues(topic, result.result)
        if queue.broker_name not in missing
    }
    popped = {p.queue for _, info in facts.running for p in info.pop_queues}
    for client_id, info in facts.running:
        for running in info.queues:
            if running.queue in owners and not running.is_dropped:
                owners[running.queue].append(client_id)
    young = "; clients share out queues every 20 s: run this again"
    without = [
        q for q, ids in owners.items() if not ids and not {q, q._replace(queue_id=ALL_QUEUES)} & popped
    ]
    if without:
        result = _unless_fresh(facts, "cause")
        evidence = f"no client consumes {_name_queues(without)}" + (young if result == "unknown" else "")
        instruction = (
            "restart the clients: a suspended one takes no queues, and all need the same allocation strategy"
        )
        yield CauseFinding(result, evidence, Advice(instruction, ("consumerStatus", facts.group)))
    for queue, ids in owners.items():
        if len(ids) > 1:
            evidence = (
                f"{_name_queues([queue])} is consumed by {join_names(ids)}: messages are consumed twice"
            )
            advice = Advice("restart one of them", ("consumerStatus", facts.group))
            yield CauseFinding(_unless_fresh(facts, "warning"), evidence, advice)
    yield from _find_idle_clients(facts, Counter(queue.topic for queue in owners))


def _find_idle_clients(facts: GroupFacts, queue_counts: Counter[str]) -> Iterator[CauseFinding]:
    """Clients without a queue of a topic: there are too few queues for all, or they share them out badly."""
    idle = [client_id for client_id, count in _count_held_queues(facts).items() if not count]
    if not (idle and queue_counts):
        return
    [(topic, queue_count)] = queue_counts.most_common(1)
    client_count = len(facts.running)
    evidence = (
        f"{join_names(idle)} {'has' if len(idle) == 1 else 'have'} no queue: {topic} has "
        f"{count_noun(queue_count, 'queue')} for {count_noun(client_count, 'client')}"
    )
    if queue_count >= client_count:
        instruction = "restart the clients: all need the same subscriptions and allocation strategy"
        advice = Advice(instruction, ("consumerStatus", facts.group))
        yield CauseFinding(_unless_fresh(facts, "warning"), evidence, advice)
        return
    route = facts.routes[topic].result
    places = route.queues if route else ()
    clusters = sorted({place.cluster_name for place in places if place.cluster_name})
    advice = Advice("start fewer clients")
    if clusters and route and not route.list_logical_queues():
        enough = str(-(-client_count // len(places)))
        words = ("updateTopic", topic, "-c", ",".join(clusters), "-r", enough, "-w", enough)
        advice = Advice("start fewer clients, or give the topic more queues", words)
    yield CauseFinding("warning", evidence, advice)


def _count_held_queues(facts: GroupFacts) -> dict[str, int]:
    """The queues of topics that each client has, without retry queues: each client may have some of those."""
    return {
        client_id: sum(queue.topic in facts.topics for queue in info.held_queues)
        for client_id, info in facts.running
    }


def _describe_shares(counts: Mapping[str, int]) -> str:
    """How the queues are shared: "351 queues; queues per client: c1 176, c2 175"."""
    parts = [count_noun(sum(counts.values()), "queue")]
    if len(counts) > 1:
        texts = [f"{c} {counts[c]}" for c in sorted(counts, key=lambda c: -counts[c])]
        shares = counts.values()
        few = len(texts) <= _MAX_SHARES
        shown = ", ".join(texts) if few else f"{min(shares)} to {max(shares)}"
        parts.append(f"queues per client: {shown}")
    return "; ".join(parts)


def _owned_queues(facts: GroupFacts) -> CauseFinding:
    if _shares_queues(facts):
        shares = _describe_shares(_count_held_queues(facts))
        if missing := _list_brokers_missing_group(facts):
            return skipped_finding(
                f"nobody can own queues of {join_names(missing)}: see the step groupMissing"
            )
        return ok_finding(f"each queue of {join_names(facts.topics)} has one owner ({shares})")
    if facts.connections.is_broadcasting:
        return skipped_finding("the group broadcasts: each client consumes all queues")
    if not facts.running:
        return skipped_finding("no client reported its queues")
    return skipped_finding("not all clients report queues: pull, pop and gRPC clients do not")


def _modes_of(facts: GroupFacts) -> dict[str, dict[str, str]]:
    """The modes that are set for the group: by topic, then by broker."""
    modes: dict[str, dict[str, str]] = defaultdict(dict)
    for broker_name, addr in facts.cluster.reader_addrs.items():
        result = facts.cluster.modes.get(addr)
        for mode in (result.result or ()) if result else ():
            if mode.group == facts.group and facts.topic in (None, mode.topic):
                modes[mode.topic][broker_name] = mode.mode.mode
    return modes


def _find_mode_problems(facts: GroupFacts) -> Iterator[CauseFinding]:
    for broker_name, addr in facts.cluster.reader_addrs.items():
        result = facts.cluster.modes.get(addr)
        error = result.error if result else None
        if error is not None and facts.cluster.answers(addr) and not isinstance(error, NotSupported):
            yield CauseFinding("unknown", f"{broker_name} did not tell its modes: {error_text(error)}")
    for topic, modes in _modes_of(facts).items():
        route = facts.routes[topic].result if topic in facts.routes else None
        names = {queue.broker_name for queue in route.queues} if route else set(modes)
        others = sorted(names - {name for name, mode in modes.items() if mode == "POP"})
        if "POP" in modes.values() and others:
            evidence = f"the group pops {topic} on some brokers, and pulls on {join_names(others)}"
            masters = ",".join(_master_of(facts, name) or name for name in others)
            advice = Advice("", ("setConsumeMode", topic, facts.group, "POP", "-b", masters))
            yield CauseFinding("warning", evidence, advice)


def _name_modes(facts: GroupFacts) -> CauseFinding:
    parts = [f"{topic} {'/'.join(sorted(set(modes.values())))}" for topic, modes in _modes_of(facts).items()]
    return ok_finding(
        f"set on brokers: {join_names(parts)}" if parts else "PULL: no mode is set for the group"
    )


def _find_idle_filters(facts: GroupFacts) -> Iterator[CauseFinding]:
    rates: dict[str, float] = defaultdict(float)
    for _, info in facts.running:
        for topic, status in info.status_by_topic.items():
            rates[topic] += (status.consume_ok_tps or 0) + (status.consume_failed_tps or 0)
    texts = {
        topic: {str(by_topic[topic]) for by_topic in facts.subscriptions.values() if topic in by_topic}
        for topic in facts.topics
    }
    for topic, filters in texts.items():
        sql = [text for text in filters if text.startswith("SQL92")]
        for addr in facts.cluster.reader_addrs.values() if sql else ():
            config = facts.cluster.configs[addr].result
            if config is not None and config.get("enablePropertyFilter") == "false":
                evidence = f"{addr} refuses {sql[0]}: enablePropertyFilter=false"
                advice = Advice("", ("updateBrokerConfig", "enablePropertyFilter", "true", "-b", addr))
                yield _finding_on(config.get("brokerName"), addr, "cause", evidence, advice)
        sample = facts.samples.get(topic, ())
        if rates[topic] > 0 or not sample:
            continue
        if sql:
            yield CauseFinding("unknown", f"{topic} has an SQL92 filter, which was not evaluated: {sql[0]}")
        elif filters and not any(_matches(text, m.tags) for text in filters for m in sample):
            instruction = "correct the tags of the consumer or of the producer"
            yield CauseFinding(
                "cause",
                f"none of the newest {count_noun(len(sample), 'message')} of {topic} matches "
                f"{join_names(sorted(filters))}: their tags are {_count_tags(sample)}",
                Advice(instruction, ("consumerConnection", facts.group)),
            )


def _matching_filters(facts: GroupFacts) -> CauseFinding:
    texts = sorted({str(s) for by_topic in facts.subscriptions.values() for s in by_topic.values()})
    if not texts:
        return skipped_finding("no client told its subscriptions")
    if texts == ["*"]:
        return ok_finding("the clients subscribe to all messages")
    count = sum(map(len, facts.samples.values()))
    return ok_finding(
        f"{join_names(texts)}: some of the newest {count} messages match, or clients consume now"
    )


# Offsets


def _find_offset_problems(facts: GroupFacts) -> Iterator[CauseFinding]:
    beyond: dict[str, list[MessageQueue]] = defaultdict(list)
    for lag in facts.lags:
        if lag.lag.reason == BEYOND_END:
            beyond[lag.queue.topic].append(lag.queue)
    for topic, queues in beyond.items():
        evidence = f"the consumer offset is beyond the end of {_name_queues(queues)}: clients wait there"
        instruction = "move the group to the end of the queues, or to a time with resetOffsetByTime"
        advice = Advice(instruction, ("skipAccumulatedMessage", facts.group, topic))
        yield CauseFinding("cause", evidence, advice)
    expired = [
        (lag.queue, first - lag.consumer_offset)
        for lag in facts.lags
        if lag.consumer_offset is not None
        and (first := facts.min_offsets.get(lag.queue, 0)) > lag.consumer_offset
    ]
    if expired:
        yield CauseFinding(
            "warning",
            f"messages deleted before the group consumed them: {sum(count for _, count in expired)} of "
            f"{_name_queues(queue for queue, _ in expired)}",
            Advice("keep messages longer (fileReservedTime), or consume them sooner"),
        )
    for result in facts.stats:
        if result.error is not None and facts.cluster.answers(result.addr):
            yield CauseFinding("unknown", f"{result.addr} did not tell offsets: {error_text(result.error)}")


def _valid_offsets(facts: GroupFacts) -> CauseFinding:
    never = sum(lag.consumer_offset is None for lag in facts.lags)
    start = facts.connections.consume_from_where
    text = f"examined queues: {len(facts.lags)}"
    if never:
        text += f"; {never} without a consumer offset" + (f": clients start with {start}" if start else "")
    return ok_finding(text) if facts.lags else skipped_finding("the group has no offsets")


def _count_unacknowledged(facts: GroupFacts) -> dict[str, int]:
    """Popped messages by client. Brokers do not report them: they commit an offset with the pop."""
    counts = {c: sum(p.wait_ack_count or 0 for p in info.pop_queues) for c, info in facts.running}
    return {client_id: count for client_id, count in counts.items() if count}


def _find_invisible_messages(facts: GroupFacts) -> Iterator[CauseFinding]:
    by_client = _count_unacknowledged(facts)
    if by_client and not _consume_tps(facts):
        yield CauseFinding(
            "warning",
            f"popped messages without an acknowledgement: {sum(by_client.values())}, and the group consumes "
            "nothing. Others get them when their invisible time ends. They are at "
            f"{join_names(f'{client_id} {count}' for client_id, count in by_client.items())}",
            Advice("look whether they are acknowledged", ("consumerStatus", facts.group)),
        )


def _pops(facts: GroupFacts) -> bool:
    return (
        any("POP" in modes.values() for modes in _modes_of(facts).values())
        or any(info.pop_queues for _, info in facts.running)
        or any(client.protocol == "gRPC" for client in facts.connections.clients)
    )


def _visible_messages(facts: GroupFacts) -> CauseFinding:
    if not _pops(facts):
        return skipped_finding("the group does not pop")
    if not any(info.pop_queues for _, info in facts.running):
        return skipped_finding("neither brokers nor gRPC clients report popped messages in flight")
    return ok_finding(f"popped messages in flight: {sum(_count_unacknowledged(facts).values())}")


def _find_failures(facts: GroupFacts) -> Iterator[CauseFinding]:
    for client_id, info in facts.running:
        for topic, status in info.status_by_topic.items():
            if status.consume_failed_tps and (facts.topic in (None, topic) or topic == facts.retry_topic):
                order = "; a queue in order waits for its first message" if info.is_orderly else ""
                yield CauseFinding(
                    "cause",
                    f"the listener of {client_id} fails for {status.consume_failed_tps:.2g} messages of "
                    f"{topic} per second{order}",
                    Advice(
                        "read the log of the application; messages that fail too often become dead letters",
                        ("dlq", "list"),
                    ),
                )
    retries = [
        lag for lag in facts.lags if lag.queue.topic.startswith(facts.retry_topic) and lag.lag.messages
    ]
    if retries:
        # Earlier retries wait in the delay levels of brokers, which are too long to read here.
        evidence = f"failed messages whose retry is due: {sum(lag.lag.messages or 0 for lag in retries)}"
        instruction = "read the log of the application. To list the retries that are not due yet"
        advice = Advice(instruction, ("delayed", "list", retries[0].queue.topic))
        yield CauseFinding("warning", evidence, advice)


def _find_dead_letters(facts: GroupFacts) -> Iterator[CauseFinding]:
    counts = facts.dead_letters
    if counts is None:
        return
    errors = [error for error in counts.errors if error is not None and not isinstance(error, TopicNotExist)]
    for error in errors[:1]:
        yield CauseFinding("unknown", f"dead letters are unknown: {error_text(error)}")
    left = counts.message_count - facts.replayed_count
    if left > 0:
        newest = f", the newest of {format_utc_second(counts.newest_ms)}" if counts.newest_ms else ""
        evidence = (
            f"messages that the group gave up as dead letters: {left}{newest}; in the last hour: "
            f"{counts.last_hour_count}"
        )
        show = quote_command("dlq", "show", facts.group)
        instruction = f"read them with `{show}`, correct the application, then deliver them again"
        advice = Advice(instruction, ("dlq", "replay", facts.group))
        yield CauseFinding("cause" if counts.last_hour_count else "warning", evidence, advice)


def _no_dead_letters(facts: GroupFacts) -> CauseFinding:
    counts = facts.dead_letters
    if counts is None:
        return CauseFinding("unknown", "dead letters were not counted")
    if facts.replayed_count:
        return ok_finding(f"all dead letters were replayed: {facts.replayed_count}")
    return ok_finding("there are no dead letters")


def _find_full_disks(facts: GroupFacts) -> Iterator[CauseFinding]:
    disks = facts.cluster.disks
    for name, addr, _ in _readers_of_group(facts):
        advice = Advice("free space on this disk", ("brokerStatus", "-b", addr))
        if refusal := disks.refusals.get(addr):
            evidence = f"{name} {refusal}; it stores no new messages and no retries"
            yield _finding_on(name, addr, "warning", evidence, advice)
        elif unknown := disks.unknown.get(addr):
            yield _finding_on(name, addr, "unknown", f"{name} {unknown}", advice)


def _consume_tps(facts: GroupFacts) -> float:
    return sum(result.result.consume_tps for result in facts.stats if result.result is not None)


def _find_lag(facts: GroupFacts) -> Iterator[CauseFinding]:
    waiting, tps = sum_lags(lag.lag for lag in facts.lags).messages, _consume_tps(facts)
    if waiting and not tps and not facts.connections.clients:
        yield skipped_finding("messages wait until a client is connected: see the step noClient")
    elif (
        waiting
        and {name for name, _, _ in _readers_of_group(facts)}
        <= _list_brokers_with_false(facts, "consumeEnable").keys()
    ):
        yield skipped_finding(f"waiting messages: {waiting}; the group is paused: see the step groupDisabled")
    elif waiting and not tps:
        evidence = (
            f"waiting messages: {waiting}{_describe_age(facts)}; the group consumed none in the last minute"
            f"{_describe_lag_places(facts)}{_describe_lag_shares(facts)}"
        )
        yield CauseFinding("unknown", evidence, Advice("see whether the lag shrinks now", _watch_lag(facts)))
    elif waiting and waiting > 60 * tps:
        trend = _describe_trend(facts, waiting, tps)
        evidence = (
            f"waiting messages: {waiting}{_describe_age(facts)}; "
            f"the group consumes {tps:.2f} per second{trend}"
            f"{_describe_lag_places(facts)}{_describe_lag_shares(facts)}"
        )
        clients = count_noun(len(facts.connections.clients), "client")
        instruction = (
            f"if the lag shrinks too slowly, add clients (now {clients}, at most one for each queue), or "
            "skip messages that nobody needs: see `nsadmin guide triage-consumer-lag`. Watch the lag"
        )
        yield CauseFinding("warning", evidence, Advice(instruction, _watch_lag(facts)))


def _watch_lag(facts: GroupFacts) -> tuple[str, ...]:
    """The words of a command that shows the total, and the queues with the largest lags, again and again."""
    return ("consumerProgress", facts.group, "-s", "true", "--sort", "-lag", "--limit", "5", "--watch", "10")


def _describe_trend(facts: GroupFacts, lag: int, tps: float) -> str:
    """When the lag is gone; empty if the rates are unknown, or also those of other messages."""
    filters = {str(s) for by_topic in facts.subscriptions.values() for s in by_topic.values()}
    if facts.put_tps is None or facts.topic is not None or filters != {"*"}:
        return ""
    gain = tps - facts.put_tps
    if 0 < gain < tps * _RATE_NOISE:
        trend = "the lag hardly shrinks at these rates"
    elif gain > 0:
        minutes = lag / gain / 60
        time_text = f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"
        trend = f"caught up in about {time_text} at these rates"
    elif -gain < tps / 10:
        trend = "the lag does not shrink at these rates"
    else:
        trend = f"the lag grows by {-gain:.2f} per second"
    return f", {facts.put_tps:.2f} arrive: {trend}"


def _describe_age(facts: GroupFacts) -> str:
    since_ms = find_waiting_since(facts.lags)
    return "" if since_ms is None else f", since about {format_utc_second(since_ms)}"


def _describe_lag_places(facts: GroupFacts) -> str:
    """How many queues, topics and brokers have lag: is one of them stuck, or is the group slow everywhere?"""
    waiting = {lag.queue: lag.lag.messages for lag in facts.lags if lag.lag.messages}
    places: tuple[tuple[str, Callable[[MessageQueue], object]], ...] = (
        ("queue", lambda queue: queue),
        ("topic", lambda queue: queue.topic),
        ("broker", lambda queue: queue.broker_name),
    )
    counts = []
    for noun, place_of in places:
        total = len({place_of(lag.queue) for lag in facts.lags})
        if total > 1:
            counts.append(f"{len(set(map(place_of, waiting)))} of {count_noun(total, noun)}")
    if not counts:
        return ""
    largest = max(waiting, key=lambda queue: waiting[queue])
    return f"; lag on {', '.join(counts)}, most on {_name_queues([largest])}: {waiting[largest]}"


def _describe_lag_shares(facts: GroupFacts) -> str:
    """The lag of each client, the largest first: is one client slow, or are all?"""
    if len(facts.clients) < 2 or not _shares_queues(facts):
        return ""
    waiting = {lag.queue: lag.lag.messages or 0 for lag in facts.lags}
    shares = {
        client_id: sum(waiting.get(queue, 0) for queue in info.held_queues)
        for client_id, info in facts.running
        if not info.pop_queues
    }
    if len(shares) < len(facts.running) or not any(shares.values()):
        return ""
    texts = [f"{c} {shares[c]}" for c in sorted(shares, key=lambda c: -shares[c])]
    return f"; lag per client: {join_names(texts)}"


def _small_lag(facts: GroupFacts) -> CauseFinding:
    total = sum_lags(lag.lag for lag in facts.lags)
    if total.messages is None:
        return skipped_finding(f"the lag is not known from offsets: {total.reason}")
    reason = f" ({total.reason})" if total.reason else ""
    return ok_finding(
        f"waiting messages: {total.messages}{reason}{_describe_age(facts)}; "
        f"{_consume_tps(facts):.2f} consumed per second{_describe_lag_shares(facts)}"
    )


def _with_clients(ok_text: str) -> Callable[[GroupFacts], CauseFinding]:
    return lambda facts: (
        ok_finding(ok_text)
        if facts.running
        else skipped_finding("no client reported its state" if facts.clients else "no client is connected")
    )


GROUP_CHECKS: tuple[CauseCheck[GroupFacts], ...] = (
    CauseCheck(
        "brokerDown",
        "the brokers of the topics answer",
        lambda facts: chain(_find_missing_brokers(facts), _find_dead_brokers(facts)),
    ),
    CauseCheck("slaveReads", "each broker has a master that answers", _find_refusing_slaves),
    CauseCheck("groupMissing", "each broker has the group", _find_missing_group),
    CauseCheck("groupDisabled", _enabled_group, _find_disabled_groups),
    CauseCheck("topicForbidden", "no topic is forbidden to the group alone", _find_forbidden_topics),
    CauseCheck("permission", "brokers and topics are readable", _find_refusals),
    CauseCheck("proxies", _list_proxies, _find_dead_proxies),
    CauseCheck("noClient", _list_clients, _find_missing_clients),
    CauseCheck(
        "subscriptions",
        _with_clients("all clients have the same subscriptions"),
        _find_subscription_differences,
    ),
    CauseCheck("messageModel", _name_model, _find_mixed_models),
    CauseCheck("stuckQueue", _with_clients("no client hangs on a message"), _find_stuck_queues),
    CauseCheck(
        "unlocked", _with_clients("each ordered queue is locked by its client"), _find_unlocked_queues
    ),
    CauseCheck("suspended", _with_clients("clients fetch the messages that wait"), _find_suspended_queues),
    CauseCheck("owners", _owned_queues, _find_owner_problems),
    CauseCheck("consumeMode", _name_modes, _find_mode_problems),
    CauseCheck("offsets", _valid_offsets, _find_offset_problems),
    CauseCheck("filter", _matching_filters, _find_idle_filters),
    CauseCheck("failures", _with_clients("no listener fails now"), _find_failures),
    CauseCheck("deadLetters", _no_dead_letters, _find_dead_letters),
    CauseCheck("popInFlight", _visible_messages, _find_invisible_messages),
    CauseCheck("diskFull", "no broker refuses messages because of its disk", _find_full_disks),
    CauseCheck("clientReports", _list_reports, _find_silent_clients),
    CauseCheck("lag", _small_lag, _find_lag),
)
"""The most likely cause first; an earlier one can hide later ones."""
