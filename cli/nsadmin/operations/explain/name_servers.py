"""Causes on the side of name servers: which ones clients ask, and which brokers register with them. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nsadmin.client.addresses import BadAddress, parse_addrs
from nsadmin.client.results import error_text
from nsadmin.client.topic_views import BrokerView, NameServerView
from nsadmin.operations.explain.facts import Facts, broker_id, groups, is_absent
from nsadmin.operations.explain.findings import SERVERS, Advice, Finding, Step, listed, ok, skipped, typed

_NOT_READY = "name server not ready"
_ASK_A_BROKER = ("getBrokerConfig", "HOST:PORT", "--filter", "key=namesrvAddr")
_ENDPOINT = re.compile(r"https?://", re.I)


def _silent(facts: Facts) -> Iterator[Finding]:
    for view in facts.views:
        error = view.route.error
        if error is not None and not view.has_no_route and _NOT_READY not in str(error):
            yield Finding(
                "unknown",
                f"no answer: {error_text(error)}" if view.is_silent else f"it refuses: {error_text(error)}",
                typed("where") if view.is_silent else None,
                view.addr,
            )


def _answering(facts: Facts) -> Finding:
    return ok(f"all {len(facts.views)} answer: {listed(view.addr for view in facts.views)}")


def _client_list(facts: Facts) -> Iterator[Finding]:
    text = facts.question.client_list
    if text is None:
        return
    written = " ".join(parse_addrs(text)).replace(" ", ";")
    if re.search(r"[,\s]", text.strip()) and not _ENDPOINT.match(text):
        yield Finding(
            "cause",
            f"{text!r}: clients split their list at ; only, so this is an address that nobody has",
            Advice(f"write {written} into the client's configuration"),
        )
    portless = [part for part in re.split(r"[;,\s]+", text) if part and not re.search(r":\d+$", part)]
    if portless:
        yield Finding(
            "cause",
            f"no port in {listed(portless)}: clients do not add one",
            Advice(f"write {written} into the client's configuration"),
        )


def _client_list_well(facts: Facts) -> Finding:
    if facts.question.client_list is None:
        return skipped("--client LIST looks at a client's own list of name servers")
    return ok(f"the client's list can be read as it stands: {facts.question.client_list}")


def _without_brokers(facts: Facts) -> Iterator[Finding]:
    empty = [view for view in facts.views if view.members.result is not None and not _knows_any(view)]
    known = sorted(addr for addr in _lists(facts) - {view.addr for view in empty} if "," not in addr)
    for view in empty:
        if known:
            advice = Advice(f"give the client what brokers register with: {';'.join(known)}")
        elif facts.brokers:
            advice = Advice("the next steps say why brokers do not register")
        else:
            advice = typed(*_ASK_A_BROKER, words="ask a broker for its list")
        seen = "it knows no broker at all: they register with others, or are not back since its start"
        yield Finding("cause", seen, advice, view.addr)


def _knows_any(view: NameServerView) -> bool:
    return any(group.broker_addrs for group in groups(view).values())


def _lists(facts: Facts) -> set[str]:
    """All name server addresses in the lists of the brokers that answered."""
    return {addr for broker in facts.brokers for addr in entries(broker)}


def entries(broker: BrokerView) -> tuple[str, ...]:
    """A broker's list of name servers. Brokers split it at ; only."""
    text = (broker.config.result or {}).get("namesrvAddr", "")
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _names_it(facts: Facts, listed_addrs: Iterable[str], addr: str) -> bool:
    """Whether a list contains a name server, under any name that resolves to it."""
    own = facts.hosts.get(addr, frozenset([addr]))
    return any(entry == addr or own & facts.hosts.get(entry, frozenset([entry])) for entry in listed_addrs)


def _absent(facts: Facts) -> Iterator[tuple[NameServerView, str, Sequence[BrokerView]]]:
    """Each broker that has or serves the topic and is not registered with a name server.

    The process that should be registered comes first.
    """
    elsewhere = {
        queue.broker_name for _, route in facts.routed() for queue in route.queues if queue.broker_addrs
    }
    by_name = {name: list(brokers) for name, brokers in facts.holders().items()}
    for name in elsewhere - by_name.keys():
        own = [broker for broker in facts.brokers if broker.broker_name == name]
        by_name[name] = sorted(own, key=broker_id)
    for view in facts.views:
        if view.members.result is not None:
            for name, brokers in sorted(by_name.items()):
                if is_absent(view, name, brokers):
                    yield view, name, brokers


def _partial_list(facts: Facts) -> Iterator[Finding]:
    for view, name, brokers in _absent(facts):
        if not brokers:
            yield Finding(
                "unknown",
                f"{name} is registered elsewhere and not here, and does not tell its list",
                None,
                view.addr,
                name,
            )
        for broker in brokers[:1]:
            own = entries(broker)
            if own and not _names_it(facts, own, view.addr):
                yield Finding(
                    facts.severity(view),
                    f"{name} registers with {';'.join(own)}, and not here{_comma(own)}",
                    _new_list(facts, view, broker),
                    view.addr,
                    name,
                    broker.addr,
                )


def _comma(own: Sequence[str]) -> str:
    return "; a comma joins addresses into one that nobody has" if any("," in entry for entry in own) else ""


def _new_list(facts: Facts, view: NameServerView, broker: BrokerView) -> Advice:
    """The command that corrects the list: its current entries, also split at commas, and this name server."""
    try:
        own = parse_addrs(";".join(entries(broker)))
    except BadAddress:
        own = ()
    wanted = ";".join(dict.fromkeys((*own, view.addr)))
    return typed(
        "updateBrokerConfig", "namesrvAddr", wanted, "-b", broker.addr,
        words="write it into its file, and set it: it is taken within 2 minutes, without a restart",
    )  # fmt: skip


def _not_heard(facts: Facts) -> Iterator[Finding]:
    for view, name, brokers in _absent(facts):
        for broker in brokers[:1]:
            own = entries(broker)
            if own and not _names_it(facts, own, view.addr):
                continue
            size = facts.sizes.get(broker.addr)
            if size is not None and size.result is not None and size.result.size > size.result.limit:
                continue
            has_it = "lists this server" if own else "tells no list of its own (it fetches one)"
            yield Finding(
                facts.severity(view),
                f"{name} {has_it} and is not registered here",
                Advice(
                    "wait 30 s for its next registration; then look for registerBroker in its log, and"
                    f" whether it reaches {view.addr}"
                ),
                view.addr,
                name,
                broker.addr,
            )


def _not_ready(facts: Facts) -> Iterator[Finding]:
    for view in facts.views:
        if view.route.error is not None and _NOT_READY in str(view.route.error):
            seconds = (view.config.result or {}).get("waitSecondsForService")
            waits = f"; it waits {seconds} s after its start" if seconds else ""
            yield Finding(
                "cause",
                f"{error_text(view.route.error)}{waits}",
                typed(
                    "updateNamesrvConfig",
                    "needWaitForService",
                    "false",
                    "-n",
                    SERVERS,
                    words="wait; if it lasts, as with 5.1.0 to 5.3.1, where it never ends",
                ),
                view.addr,
            )


def _other_cluster(facts: Facts) -> Iterator[Finding]:
    wanted = facts.question.cluster
    if wanted is None:
        return
    for view, route in facts.routed():
        clusters = {queue.cluster_name for queue in route.queues if queue.cluster_name}
        if wanted not in clusters:
            yield Finding(
                "cause",
                f"it is in {listed(sorted(clusters))}, and not in {wanted}",
                typed("updateTopic", facts.topic, "-c", wanted),
                view.addr,
            )


def _other_cluster_well(facts: Facts) -> Finding:
    if facts.question.cluster is None:
        return skipped("-c CLUSTER says where the client should find it")
    if not any(True for _ in facts.routed()):
        return skipped("no name server has a route")
    return ok(f"it is in {facts.question.cluster}")


def _other_context(facts: Facts) -> Iterator[Finding]:
    if facts.elsewhere is None or not any(True for _ in facts.lacking()):
        return
    for other in facts.elsewhere:
        if other.found_on is not None:
            where = f" in {listed(other.clusters)}" if other.clusters else ""
            yield Finding(
                "cause",
                f"context {other.context} has it{where}, on {other.found_on}",
                typed("where", "--context", other.context, words="give the client its name servers"),
            )
        elif other.error is not None:
            yield Finding("unknown", f"context {other.context}: {other.error}")


def _other_context_well(facts: Facts) -> Finding:
    if not any(True for _ in facts.lacking()):
        return ok("it is here")
    if facts.elsewhere is not None:
        return ok(f"no other context has it: {listed(other.context for other in facts.elsewhere) or 'none'}")
    others = facts.question.other_contexts
    return skipped(f"--contexts looks in {listed(others)}" if others else "there are no other contexts")


STEPS = (
    Step("nameServerSilent", _answering, _silent),
    Step("clientList", _client_list_well, _client_list, needs_servers=False),
    Step("wrongNameServer", "brokers are registered with each that answers", _without_brokers),
    Step("partialNameServerList", "brokers with the topic list each of them", _partial_list),
    Step("brokerNotHeard", "brokers with the topic are registered wherever they want to be", _not_heard),
    Step("otherCluster", _other_cluster_well, _other_cluster),
    Step("otherContext", _other_context_well, _other_context),
    Step("nameServerNotReady", "each answers questions about routes", _not_ready),
)
