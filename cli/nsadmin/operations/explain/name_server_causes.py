"""Causes on the side of name servers: which ones clients ask, and which brokers register with them. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nsadmin.client.connection.addresses import BadAddress, parse_addrs
from nsadmin.client.results import error_text
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.console.phrases import all_do
from nsadmin.operations.explain.facts import RouteFacts, broker_id_of_view, groups_by_name, is_broker_absent
from nsadmin.operations.explain.findings import (
    SERVERS_PLACEHOLDER,
    Advice,
    CauseCheck,
    CauseFinding,
    join_names,
    ok_finding,
    skipped_finding,
)

_NOT_READY_TEXT = "name server not ready"
_ENDPOINT_PATTERN = re.compile(r"https?://", re.I)


def _find_silent_servers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view in facts.server_views:
        error = view.route.error
        if error is None or view.has_no_route or _NOT_READY_TEXT in str(error):
            continue
        if view.is_silent:
            evidence = f"no answer: {error_text(error)}"
            yield CauseFinding("unknown", evidence, Advice("", ("where",)), view.addr)
        else:
            yield CauseFinding("unknown", f"the request was refused: {error_text(error)}", None, view.addr)


def _answering_servers(facts: RouteFacts) -> CauseFinding:
    return ok_finding(
        f"{all_do(len(facts.server_views), 'name server', 'answer')}: "
        f"{join_names(view.addr for view in facts.server_views)}"
    )


def _find_client_list_mistakes(facts: RouteFacts) -> Iterator[CauseFinding]:
    list_text = facts.question.client_list
    if list_text is None:
        return
    advice = Advice(f"write {';'.join(parse_addrs(list_text))} into the client's configuration")
    if re.search(r"[,\s]", list_text.strip()) and not _ENDPOINT_PATTERN.match(list_text):
        evidence = f'"{list_text}": clients split their list only at ";", so they read this as one address'
        yield CauseFinding("cause", evidence, advice)
    addrs_without_port = [
        entry for entry in re.split(r"[;,\s]+", list_text) if entry and not re.search(r":\d+$", entry)
    ]
    if addrs_without_port:
        evidence = f"no port in {join_names(addrs_without_port)}: clients do not add a default port"
        yield CauseFinding("cause", evidence, advice)


def _readable_client_list(facts: RouteFacts) -> CauseFinding:
    if facts.question.client_list is None:
        return skipped_finding("not asked: pass --client LIST to check a client's own list of name servers")
    return ok_finding(f"the client's list is valid: {facts.question.client_list}")


def _find_servers_without_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    empty_addrs = [
        view.addr
        for view in facts.server_views
        if view.cluster_info.result is not None
        and not any(group.broker_addrs for group in groups_by_name(view).values())
    ]
    listed_addrs = {addr for broker in facts.broker_views for addr in listed_name_servers(broker)}
    known_addrs = sorted(addr for addr in listed_addrs.difference(empty_addrs) if "," not in addr)
    evidence = (
        "no broker is registered here: brokers register with other name servers, or have not returned "
        "since the start of this name server"
    )
    for namesrv_addr in empty_addrs:
        instruction = f"compare namesrvAddr in the broker.conf of a broker with {namesrv_addr}"
        if known_addrs:
            instruction = (
                f"configure the client with the name servers of the brokers: {';'.join(known_addrs)}"
            )
        elif facts.broker_views:
            instruction = "see the next checks for the reason why brokers do not register"
        yield CauseFinding("cause", evidence, Advice(instruction), namesrv_addr)


def listed_name_servers(broker: BrokerTopicView) -> tuple[str, ...]:
    """A broker's list of name servers. Brokers split it at ; only."""
    list_text = (broker.config.result or {}).get("namesrvAddr", "")
    return tuple(entry.strip() for entry in list_text.split(";") if entry.strip())


def _is_in_list(facts: RouteFacts, listed_addrs: Iterable[str], namesrv_addr: str) -> bool:
    """Whether a list contains a name server, under any name that resolves to it."""
    own_hosts = facts.hosts.get(namesrv_addr, frozenset([namesrv_addr]))
    return any(
        addr == namesrv_addr or own_hosts & facts.hosts.get(addr, frozenset([addr])) for addr in listed_addrs
    )


def _absent_brokers(
    facts: RouteFacts,
) -> Iterator[tuple[NameServerTopicView, str, Sequence[BrokerTopicView]]]:
    """Each broker that has or serves the topic and is not registered with a name server.

    The process that should be registered comes first.
    """
    serving_names = {queue.broker_name for _, queue in facts.routed_queues() if queue.broker_addrs}
    views_by_name = {name: list(views) for name, views in facts.brokers_with_topic().items()}
    for broker_name in serving_names - views_by_name.keys():
        own_views = [view for view in facts.broker_views if view.broker_name == broker_name]
        views_by_name[broker_name] = sorted(own_views, key=broker_id_of_view)
    for view in facts.server_views:
        if view.cluster_info.result is not None:
            for broker_name, broker_views in sorted(views_by_name.items()):
                if is_broker_absent(view, broker_name, broker_views):
                    yield view, broker_name, broker_views


def _find_partial_lists(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, broker_name, broker_views in _absent_brokers(facts):
        if not broker_views:
            evidence = (
                f"{broker_name} is registered with other name servers but not here, and did not return "
                "its list of name servers"
            )
            yield CauseFinding("unknown", evidence, None, view.addr, broker_name)
            continue
        broker = broker_views[0]
        listed_addrs = listed_name_servers(broker)
        if listed_addrs and not _is_in_list(facts, listed_addrs, view.addr):
            evidence = f"{broker_name} registers with {';'.join(listed_addrs)}, but not with this name server"
            if any("," in addr for addr in listed_addrs):
                evidence += "; a broker reads addresses with a comma between them as one address"
            severity, advice = facts.problem_severity(view), _advise_new_list(view, broker)
            yield CauseFinding(severity, evidence, advice, view.addr, broker_name, broker.addr)


def _advise_new_list(view: NameServerTopicView, broker: BrokerTopicView) -> Advice:
    """The command that corrects the list: its current entries, also split at commas, and this name server."""
    try:
        current_addrs = parse_addrs(";".join(listed_name_servers(broker)))
    except BadAddress:
        current_addrs = ()
    wanted_list = ";".join(dict.fromkeys((*current_addrs, view.addr)))
    return Advice(
        "write the list into the broker's configuration file and set it; the broker reads it within "
        "2 minutes, without a restart",
        ("updateBrokerConfig", "namesrvAddr", wanted_list, "-b", broker.addr),
    )


def _find_unheard_brokers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, broker_name, broker_views in _absent_brokers(facts):
        if not broker_views:
            continue
        broker = broker_views[0]
        listed_addrs = listed_name_servers(broker)
        if listed_addrs and not _is_in_list(facts, listed_addrs, view.addr):
            continue
        size = facts.sizes[broker.addr].result if broker.addr in facts.sizes else None
        if size is not None and size.size_bytes > size.limit_bytes:
            continue
        list_remark = (
            "has this name server in its list"
            if listed_addrs
            else "has no list of name servers in its settings (it fetches one)"
        )
        evidence = f"{broker_name} {list_remark}, but is not registered here"
        advice = Advice(
            "wait 30 s for its next registration, or 2 minutes more if the list just changed. Then "
            f"search the broker's log for registerBroker, and check that the broker reaches {view.addr}."
        )
        severity = facts.problem_severity(view)
        yield CauseFinding(severity, evidence, advice, view.addr, broker_name, broker.addr)


def _find_unready_servers(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view in facts.server_views:
        if view.route.error is not None and _NOT_READY_TEXT in str(view.route.error):
            evidence = error_text(view.route.error)
            if wait_seconds := (view.config.result or {}).get("waitSecondsForService"):
                evidence += f"; it starts to return routes {wait_seconds} s after its start"
            advice = Advice(
                "wait; if the name server stays in this state, as 5.1.0 to 5.3.1 do",
                ("updateNamesrvConfig", "needWaitForService", "false", "-n", SERVERS_PLACEHOLDER),
            )
            yield CauseFinding("cause", evidence, advice, view.addr)


def _find_other_cluster(facts: RouteFacts) -> Iterator[CauseFinding]:
    wanted_cluster = facts.question.cluster_name
    if wanted_cluster is None:
        return
    if facts.unknown_cluster:
        having = facts.routed_clusters
        evidence = f'there is no cluster "{wanted_cluster}"'
        if having:
            evidence += f"; the topic is in {join_names(having)}"
        listed = facts.listed_clusters
        evidence += f"; name servers list {join_names(listed)}" if listed != having else ""
        advice = Advice(
            "give the name of a cluster that exists",
            ("route", "explain", facts.topic, "-c", (having or listed)[0]),
        )
        yield CauseFinding("cause", evidence, advice)
        return
    for view, route in facts.views_with_route():
        cluster_names = {queue.cluster_name for queue in route.queues if queue.cluster_name}
        if wanted_cluster not in cluster_names:
            evidence = f"the topic is in cluster {join_names(sorted(cluster_names))}, not in {wanted_cluster}"
            advice = Advice("", ("updateTopic", facts.topic, "-c", wanted_cluster))
            yield CauseFinding("cause", evidence, advice, view.addr)


def _expected_cluster(facts: RouteFacts) -> CauseFinding:
    if facts.question.cluster_name is None:
        return skipped_finding("not asked: pass -c CLUSTER to check the cluster that the client expects")
    if not facts.views_with_route():
        return skipped_finding("no name server has a route")
    return ok_finding(f"the topic is in cluster {facts.question.cluster_name}")


def _find_other_context(facts: RouteFacts) -> Iterator[CauseFinding]:
    if facts.other_context_routes is None or not facts.views_without_route():
        return
    for other in facts.other_context_routes:
        if other.found_on is not None:
            cluster_remark = f" in {join_names(other.cluster_names)}" if other.cluster_names else ""
            evidence = f"context {other.context_name} has the topic{cluster_remark}, on {other.found_on}"
            instruction = "configure the client with the name servers of this context"
            advice = Advice(instruction, ("where", "--context", other.context_name))
            yield CauseFinding("cause", evidence, advice)
        elif other.error is not None:
            yield CauseFinding("unknown", f"context {other.context_name}: {other.error}")


def _no_other_context(facts: RouteFacts) -> CauseFinding:
    if not facts.views_without_route():
        return ok_finding("the topic is here")
    if facts.other_context_routes is not None:
        searched_contexts = join_names(route.context_name for route in facts.other_context_routes)
        if not searched_contexts:
            return skipped_finding("there is no other context")
        return ok_finding(f"no other context has the topic: {searched_contexts}")
    other_contexts = facts.question.other_contexts
    return skipped_finding(
        f"not asked: pass --contexts to search {join_names(other_contexts)}"
        if other_contexts
        else "there is no other context"
    )


NAME_SERVER_CHECKS = (
    CauseCheck("nameServerSilent", _answering_servers, _find_silent_servers),
    CauseCheck("clientList", _readable_client_list, _find_client_list_mistakes, needs_servers=False),
    CauseCheck(
        "wrongNameServer",
        "every name server that answers has registered brokers",
        _find_servers_without_brokers,
    ),
    CauseCheck(
        "partialNameServerList", "every broker with the topic lists all name servers", _find_partial_lists
    ),
    CauseCheck(
        "brokerNotHeard",
        "every broker with the topic is registered with the name servers of its list",
        _find_unheard_brokers,
    ),
    CauseCheck("otherCluster", _expected_cluster, _find_other_cluster),
    CauseCheck("otherContext", _no_other_context, _find_other_context),
    CauseCheck("nameServerNotReady", "every name server is ready to return routes", _find_unready_servers),
)
