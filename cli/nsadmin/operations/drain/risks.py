"""Risks: what a cluster would be without a broker, and to what clients write whatever they are told. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client.order_conf import parse
from nsadmin.client.topics import SYSTEM_PREFIX
from nsadmin.operations.drain.facts import Place, Server

RETRY, DLQ = "%RETRY%", "%DLQ%"


class Risk(NamedTuple):
    """What goes wrong for which topics, in words; one that `refuses` needs --force."""

    kind: str
    text: str
    topics: tuple[str, ...]
    refuses: bool


def risks(
    broker: str, servers: Iterable[Server], system: frozenset[str], ordered: frozenset[str], durable: bool
) -> tuple[Risk, ...]:
    """All of them, as any name server shows them; `ordered` are topics whose messages have an order."""
    known = [server for server in servers if server.is_registered]
    found: dict[str, set[str]] = {kind: set() for kind in _TEXTS}
    for server in known:
        for topic, place in server.topics.items():
            for kind in _kinds(broker, topic, place, system):
                found[kind].add(topic)
    if durable:
        found["refused"] = {topic for topic in ordered if any(topic in server.topics for server in known)}
    return tuple(
        Risk(kind, _text(kind, topics), tuple(sorted(topics)), True)
        for kind, topics in found.items()
        if topics
    )


def _kinds(broker: str, topic: str, place: Place, system: frozenset[str]) -> Iterable[str]:
    if place.order_conf is not None and _names(broker, place.order_conf):
        yield "orderConf"
    if place.is_static:
        yield "static"
    if is_system_topic(topic, system) or topic.startswith((RETRY, DLQ)):
        return
    if place.is_open and not place.writable_elsewhere:
        yield "unwritable"
    elif not place.masters_elsewhere:
        yield "masterless"


def _names(broker: str, conf: str) -> bool:
    try:
        return broker in parse(conf)
    except ValueError:
        # What cannot be read is looked through for the name.
        return broker in conf


_TEXTS = {
    "unwritable": "without a queue that clients can write to",
    "masterless": "without any master",
    "orderConf": "with an order configuration that names this broker: clients go on sending to it",
    "static": "static, with queues on this broker: clients go on sending to it",
    "refused": "ordered: the broker would refuse their messages at once",
}


def _text(kind: str, topics: Iterable[str]) -> str:
    count = len(list(topics))
    would = "would be left " if kind in ("unwritable", "masterless") else ""
    plural = f"{count} topics {would or 'are '}" if count != 1 else f"1 topic {would or 'is '}"
    return plural + _TEXTS[kind]


def is_system_topic(topic: str, system: frozenset[str]) -> bool:
    """Whether a topic is RocketMQ's own."""
    return topic in system or topic.lower().startswith(SYSTEM_PREFIX)


def share(servers: Iterable[Server], system: frozenset[str]) -> float | None:
    """The broker's part of all queues that clients write to, 0 to 1; None where no name server tells."""
    own = elsewhere = 0
    for server in servers:
        if server.is_registered:
            for topic, place in server.topics.items():
                if not is_system_topic(topic, system):
                    own += place.queue.write_queue_nums if place.is_open else 0
                    elsewhere += place.writable_elsewhere
            break
    return own / (own + elsewhere) if own + elsewhere else None


def masters(servers: Iterable[Server]) -> str | None:
    """The master's address, as the first name server has it that knows one."""
    return next((server.members[MASTER_ID] for server in servers if MASTER_ID in server.members), None)


def slaves(servers: Iterable[Server]) -> dict[int, str]:
    """Slaves by id, as any name server has them."""
    found: dict[int, str] = {}
    for server in servers:
        for number, addr in server.members.items():
            if number != MASTER_ID:
                found.setdefault(number, addr)
    return found


def source_of(topic: str, delayed: int, has_transactions: bool) -> str:
    """Where messages of a topic likely come from once clients do not write any more."""
    if topic.startswith(RETRY):
        return "retries of consumers"
    if topic.startswith(DLQ):
        return "dead letters"
    inner = [
        f"{delayed} delayed messages are due" if delayed else "",
        "transactions" if has_transactions else "",
    ]
    return "clients, or " + " and ".join(filter(None, inner)) if any(inner) else "clients"
