"""Causes in the order configuration of a topic."""

from collections.abc import Iterator

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, parse_order_conf
from nsadmin.operations.explain.facts import RouteFacts, has_registered_master
from nsadmin.operations.explain.findings import CauseFinding, advise_command, join_names, ok_finding


def find_dead_order_confs(facts: RouteFacts) -> Iterator[CauseFinding]:
    for view, route in facts.views_with_route():
        if not route.order_topic_conf:
            continue
        put_advice = advise_command("updateOrderConf", facts.topic, "put", "BROKER:QUEUES;BROKER:QUEUES")
        try:
            queues_by_broker = parse_order_conf(route.order_topic_conf)
        except ValueError as error:
            yield CauseFinding(
                "cause",
                f'clients cannot parse the order configuration "{route.order_topic_conf}": {error}',
                put_advice,
                view.addr,
            )
            continue
        dead_names = [name for name in queues_by_broker if not has_registered_master(view, name)]
        dead_names += [
            route.broker_name
            for route in route.queues
            if route.broker_name in queues_by_broker
            and facts.silence_error(route.broker_addrs.get(MASTER_BROKER_ID))
        ]
        if dead_names:
            lost_queues, ordered_queues = (
                sum(queues_by_broker[name] for name in set(dead_names)),
                sum(queues_by_broker.values()),
            )
            evidence = (
                "the order configuration names brokers without a master: "
                f"{join_names(dict.fromkeys(dead_names))}; sends to {lost_queues} of {ordered_queues} "
                "queues fail"
            )
            yield CauseFinding(
                "cause" if lost_queues == ordered_queues else "warning", evidence, put_advice, view.addr
            )


def valid_order_conf(facts: RouteFacts) -> CauseFinding:
    if any(route.order_topic_conf for _, route in facts.views_with_route()):
        return ok_finding("every broker of the order configuration has a master")
    ignoring_addrs = [view.addr for view in facts.server_views if view.order_conf.result]
    if ignoring_addrs:
        return ok_finding(
            f"clients do not get the configuration in {ORDER_CONF_NAMESPACE}: orderMessageEnable is false "
            f"on {join_names(ignoring_addrs)}"
        )
    return ok_finding("the topic has no order configuration")
