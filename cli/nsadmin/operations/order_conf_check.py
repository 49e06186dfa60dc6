"""Check of order configurations against routes: do clients send to queues that do not exist? Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, parse_order_conf
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.console.phrases import count_noun


class OrderConfProblem(NamedTuple):
    """A problem of a topic's order configuration on these name servers.

    `topic` is None if the problem concerns all topics. With `is_grave`, sends fail or messages lose their
    order.
    """

    topic: str | None
    problem_kind: str
    problem_text: str
    is_grave: bool
    namesrv_addrs: tuple[str, ...]


def check_order_confs(snapshots: Sequence[ClusterSnapshot]) -> list[OrderConfProblem]:
    """All problems, sorted by topic. The same problem on several name servers is reported once."""
    sources_by_problem: dict[tuple[str | None, str, str, bool], list[str]] = {}
    for snapshot in snapshots:
        for problem in _find_server_problems(snapshot):
            sources_by_problem.setdefault(problem[:4], []).append(snapshot.source)
    merged_problems = [OrderConfProblem(*key, tuple(sources)) for key, sources in sources_by_problem.items()]
    merged_problems += _find_disagreements(snapshots)
    return sorted(
        merged_problems, key=lambda problem: (problem.topic or "", not problem.is_grave, problem.problem_kind)
    )


def _find_server_problems(snapshot: ClusterSnapshot) -> Iterator[OrderConfProblem]:
    order_conf_table = snapshot.kv.get(ORDER_CONF_NAMESPACE, {})
    sources = (snapshot.source,)
    is_sent = _is_sent(snapshot)
    if order_conf_table and not is_sent:
        text = "clients get no order configuration: orderMessageEnable is not true"
        yield OrderConfProblem(None, "not-handed-out", text, False, sources)
    for topic, text in order_conf_table.items():
        try:
            queues_by_broker = parse_order_conf(text)
        except ValueError as error:
            problem_text = f"clients cannot parse the order configuration: {error}"
            yield OrderConfProblem(topic, "unreadable", problem_text, is_sent, sources)
            continue
        yield from (
            OrderConfProblem(topic, *problem, sources)
            for problem in find_topic_problems(
                {name: record.get("brokerAddrs", {}) for name, record in snapshot.brokers.items()},
                snapshot.topics.get(topic, {}),
                queues_by_broker,
                is_sent=is_sent,
            )
        )


def _is_sent(snapshot: ClusterSnapshot) -> bool:
    return snapshot.settings.get("orderMessageEnable") == "true"


def find_topic_problems(
    brokers: Mapping[str, Mapping[str, str]],
    topic_queues: Mapping[str, Mapping[str, int]],
    queues_by_broker: Mapping[str, int],
    *,
    is_sent: bool,
) -> Iterator[tuple[str, str, bool]]:
    """Yield kind, text and gravity of each problem. `brokers` have their addresses by broker id.

    `is_sent` says whether a name server sends the order configuration to clients.
    """
    would, condition = ("", "") if is_sent else ("would ", " if name servers get orderMessageEnable=true")
    if not topic_queues:
        yield "no-topic", "the topic does not exist", False
        return
    for broker_name, ordered_queues in queues_by_broker.items():
        addrs_by_id = brokers.get(broker_name, {})
        queues = topic_queues.get(broker_name)
        write_queues = queues["writeQueueNums"] if queues else 0
        but_sent = f"but clients {would}send to it{condition}"
        if not addrs_by_id:
            yield "broker-gone", f"{broker_name} is not registered, {but_sent}", is_sent
        elif queues is None:
            yield "not-on-broker", f"{broker_name} does not have the topic, {but_sent}", is_sent
        elif "0" not in addrs_by_id:
            yield "no-master", f"{broker_name} has no master now, {but_sent}", is_sent
        elif not queues["perm"] & Perm.WRITE:
            yield "not-writable", f"{broker_name} has no write permission, {but_sent}", is_sent
        elif ordered_queues > write_queues:
            has = f"{broker_name} has {count_noun(write_queues, 'queue')}"
            text = f"{has}, but clients {would}use {ordered_queues}{condition}"
            yield "too-many-queues", text, is_sent
        elif ordered_queues < write_queues:
            part = f"{ordered_queues} of the {write_queues} queues of {broker_name}"
            yield "unused-queues", f"clients {would}use {part}{condition}", False
    unused = [
        f"{broker_name}:{topic_queues[broker_name]['writeQueueNums']}"
        for broker_name in sorted(topic_queues.keys() - queues_by_broker.keys())
        if broker_name in brokers and topic_queues[broker_name]["perm"] & Perm.WRITE
    ]
    if unused:
        them = "it" if len(unused) == 1 else "them"
        effect = "clients do" if is_sent else "if name servers get orderMessageEnable=true, clients will"
        text = (
            f"the order configuration leaves out {count_noun(len(unused), 'broker')} of the topic: "
            f"{effect} not send to {them}; to use {them}, add {';'.join(unused)}"
        )
        yield "broker-unused", text, False


def _find_disagreements(snapshots: Sequence[ClusterSnapshot]) -> Iterator[OrderConfProblem]:
    """Differences between name servers: their clients put messages of one key into different queues."""
    order_conf_tables = [snapshot.kv.get(ORDER_CONF_NAMESPACE, {}) for snapshot in snapshots]
    sources = tuple(snapshot.source for snapshot in snapshots)
    is_sent = any(map(_is_sent, snapshots))
    for topic in sorted({topic for table in order_conf_tables for topic in table}):
        if len({table.get(topic) for table in order_conf_tables}) > 1:
            loss = "lose the order of messages" if is_sent else "would get different ones"
            problem_text = f"name servers have different order configurations: clients {loss}"
            yield OrderConfProblem(topic, "differs", problem_text, is_sent, sources)
    enabled_settings = {snapshot.settings.get("orderMessageEnable") for snapshot in snapshots}
    if len(enabled_settings) > 1 and any(order_conf_tables):
        problem_text = (
            "only some name servers send the order configuration to clients: orderMessageEnable differs"
        )
        yield OrderConfProblem(None, "differs", problem_text, True, sources)
