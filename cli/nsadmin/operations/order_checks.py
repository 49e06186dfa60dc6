"""Check of order configurations against routes: do clients send to queues that do not exist? Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client.order_conf import NAMESPACE, parse
from nsadmin.client.pictures import Picture


class Problem(NamedTuple):
    """A problem of a topic's order configuration on these name servers.

    `topic` is None if the problem concerns all topics. With `is_grave`, sends fail or messages lose their
    order.
    """

    topic: str | None
    kind: str
    text: str
    grave: bool
    servers: tuple[str, ...]


def check(pictures: Sequence[Picture]) -> list[Problem]:
    """All problems, sorted by topic. The same problem on several name servers is reported once."""
    found: dict[tuple[str | None, str, str, bool], list[str]] = {}
    for picture in pictures:
        for problem in _of_one(picture):
            found.setdefault(problem[:4], []).append(picture.source)
    merged = [Problem(*key, tuple(servers)) for key, servers in found.items()]
    merged += _disagreements(pictures)
    return sorted(merged, key=lambda problem: (problem.topic or "", not problem.grave, problem.kind))


def _of_one(picture: Picture) -> Iterator[Problem]:
    table = picture.kv.get(NAMESPACE, {})
    here = (picture.source,)
    if table and picture.settings.get("orderMessageEnable") != "true":
        text = "clients get no order configuration: orderMessageEnable is not true"
        yield Problem(None, "not-handed-out", text, False, here)
    for topic, text in table.items():
        try:
            conf = parse(text)
        except ValueError as error:
            yield Problem(topic, "unreadable", f"clients cannot read it: {error}", True, here)
            continue
        yield from (
            Problem(topic, kind, text, grave, here)
            for kind, text, grave in _of_topic(picture, picture.topics.get(topic, {}), conf)
        )


def _of_topic(
    picture: Picture, queues: Mapping[str, Mapping[str, int]], conf: Mapping[str, int]
) -> Iterator[tuple[str, str, bool]]:
    if not queues:
        yield "no-topic", "there is no such topic", False
        return
    for name, count in conf.items():
        addrs = picture.brokers.get(name, {}).get("brokerAddrs", {})
        held = queues.get(name)
        if not addrs:
            yield "broker-gone", f"{name} is not registered, and clients go on sending to it", True
        elif held is None:
            yield "not-on-broker", f"{name} has no such topic, and clients send to it", True
        elif "0" not in addrs:
            yield "no-master", f"{name} has no master now, and clients send to it", True
        elif not held["perm"] & Perm.WRITE:
            yield "not-writable", f"nobody may write to {name}, and clients send to it", True
        elif count > held["writeQueueNums"]:
            there = held["writeQueueNums"]
            yield "too-many-queues", f"{name} has {there} queues and not {count}", True
        elif count < held["writeQueueNums"]:
            there = held["writeQueueNums"]
            yield "unused-queues", f"of {there} queues of {name} clients use {count}", False
    for name in sorted(queues.keys() - conf.keys()):
        if name in picture.brokers and queues[name]["perm"] & Perm.WRITE:
            yield "broker-unused", f"{name} has the topic, and clients send nothing there", False


def _disagreements(pictures: Sequence[Picture]) -> Iterator[Problem]:
    """Differences between name servers: their clients put messages of one key into different queues."""
    tables = [picture.kv.get(NAMESPACE, {}) for picture in pictures]
    servers = tuple(picture.source for picture in pictures)
    for topic in sorted({topic for table in tables for topic in table}):
        if len({table.get(topic) for table in tables}) > 1:
            text = "name servers have it differently: clients lose the order of messages"
            yield Problem(topic, "differs", text, True, servers)
    enabled = {picture.settings.get("orderMessageEnable") for picture in pictures}
    if len(enabled) > 1 and any(tables):
        text = "some name servers hand it out and others do not (orderMessageEnable)"
        yield Problem(None, "differs", text, True, servers)
