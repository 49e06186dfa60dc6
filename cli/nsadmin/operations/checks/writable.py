"""Writes: whether there are topics that no broker takes messages of, or fewer brokers than have them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from time import time
from typing import NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.pictures import Picture, of_each
from nsadmin.client.results import error_text
from nsadmin.client.topics import SYSTEM_PREFIX
from nsadmin.operations.checks import masters
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale

_MASTER = "0"
_OF_GROUPS = ("%RETRY%", "%DLQ%")
_SHOWN = 10


class Seen(NamedTuple):
    """What each name server knows, the topics that are RocketMQ's own, and the masters that do not answer.

    `read_only` are topics that a broker itself has without permission to write, by its name: on purpose, and
    not because somebody took it away on a name server.
    """

    pictures: Sequence[ServerResult[Picture]]
    system: frozenset[str]
    silent: Mapping[str, str]
    read_only: Mapping[str, frozenset[str]]


def look(admin: AdminClient) -> Seen:
    """At all that name servers know, at every master, and at what brokers themselves have as read-only."""
    pictures = of_each(admin, int(time() * 1000))
    known = [picture for _, picture, _ in pictures if picture is not None]
    if not known:
        return Seen(pictures, frozenset(), {}, {})
    addrs = [_master(picture, name) for picture in known for name in picture.brokers]
    silent, system = masters.silent(admin, addrs), admin.topics.system_names()
    return Seen(pictures, system, silent, _read_only(admin, known, system, silent))


def _read_only(
    admin: AdminClient, known: Sequence[Picture], system: frozenset[str], silent: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    suspects = {
        _master(picture, name)
        for picture in known
        for topic, brokers in picture.topics.items()
        if _is_users(topic, system)
        for name, queues in brokers.items()
        if not queues.get("perm", 0) & Perm.WRITE
    }
    told = admin.registrations.each(addr for addr in suspects if addr and addr not in silent)
    return {
        broker.broker_name: frozenset(
            name for name, config in broker.topics.items() if not int(config.get("perm", 0)) & Perm.WRITE
        )
        for _, broker, _ in told
        if broker is not None
    }


class Lost(NamedTuple):
    """Brokers that take no messages of a topic, and why; whether others do."""

    brokers: Mapping[str, str]
    is_reduced: bool


def judge(
    scale: Scale, seen: Seen, cluster: str | None = None, leaving_out: re.Pattern[str] | None = None
) -> Finding:
    """A topic is as writable as on the name server that has the fewest brokers for it: clients ask any."""
    known = [picture for _, picture, _ in seen.pictures if picture is not None]
    away = [
        f"name server {addr}: {error_text(error)}" for addr, _, error in seen.pictures if error is not None
    ]
    if not known:
        return scale.unknown("no name server tells its topics", away)
    if cluster is not None and not any(_has(picture, cluster) for picture in known):
        return scale.unknown(f"no name server knows a cluster {cluster!r}", away)
    topics = sorted({topic for picture in known for topic in picture.topics if _is_users(topic, seen.system)})
    if leaving_out is not None:
        topics = [topic for topic in topics if not leaving_out.search(topic)]
    if cluster is not None:
        topics = [topic for topic in topics if any(_is_in(picture, topic, cluster) for picture in known)]
    lost = {topic: _lost(topic, known, seen, cluster) for topic in topics}
    reduced = {topic: one for topic, one in lost.items() if one.is_reduced}
    unwritable = {topic: one for topic, one in lost.items() if one.brokers and not one.is_reduced}
    samples = [
        scale.sample("reduced", len(reduced)),
        scale.sample("unwritable", len(unwritable)),
        scale.sample("topics", len(topics)),
    ]
    summary = f"{len(topics) - len(unwritable)} of {len(topics)} topics can be written"
    if reduced:
        summary += f", {len(reduced)} of them on fewer brokers than have them"
    details = [*_topics("no broker takes messages of", unwritable), *_brokers(reduced), *away]
    return scale.finding(summary, samples, details, least=State.WARNING if away else State.OK)


def _is_users(topic: str, system: frozenset[str]) -> bool:
    """Retry and dead-letter topics are written by brokers, which ask no name server for them."""
    return (
        topic not in system
        and not topic.startswith(_OF_GROUPS)
        and not topic.lower().startswith(SYSTEM_PREFIX)
    )


def _has(picture: Picture, cluster: str) -> bool:
    return any(_cluster(picture, name) == cluster for name in picture.brokers)


def _is_in(picture: Picture, topic: str, cluster: str) -> bool:
    return any(_cluster(picture, name) == cluster for name in picture.topics.get(topic, ()))


def _cluster(picture: Picture, name: str) -> str | None:
    return picture.brokers[name]["clusterName"] if name in picture.brokers else None


def _master(picture: Picture, name: str) -> str | None:
    addr: str | None = picture.brokers.get(name, {"brokerAddrs": {}})["brokerAddrs"].get(_MASTER)
    return addr


def _lost(topic: str, known: Sequence[Picture], seen: Seen, cluster: str | None) -> Lost:
    """What is lost on the name server where most is; one that does not know the topic has lost it all."""
    views = [_lost_on(picture, topic, seen, cluster) for picture in known]
    return max(views, key=lambda view: (bool(view.brokers) and not view.is_reduced, len(view.brokers)))


def _lost_on(picture: Picture, topic: str, seen: Seen, cluster: str | None) -> Lost:
    queues = picture.topics.get(topic)
    if not queues:
        return Lost({"": f"unknown to name server {picture.source}"}, False)
    mine = {
        name: one
        for name, one in queues.items()
        if cluster in (None, _cluster(picture, name)) and topic not in seen.read_only.get(name, ())
    }
    lost = {
        name: why
        for name, one in mine.items()
        if (
            why := masters.why_not(
                one.get("perm"), one.get("writeQueueNums", 0), _master(picture, name), seen.silent
            )
        )
    }
    return Lost(lost, bool(lost) and len(lost) < len(mine))


def _topics(words: str, lost: Mapping[str, Lost]) -> list[str]:
    lines = [
        f"{words} {topic}: "
        + ", ".join(f"{name}: {why}" if name else why for name, why in one.brokers.items())
        for topic, one in list(lost.items())[:_SHOWN]
    ]
    more = len(lost) - _SHOWN
    return [*lines, f"nor of {more} more topics"] if more > 0 else lines


def _brokers(reduced: Mapping[str, Lost]) -> list[str]:
    """Most often it is one broker, with all its topics."""
    found = Counter(item for one in reduced.values() for item in one.brokers.items())
    return [
        f"{name} takes no messages of {count} topics: {why}" for (name, why), count in sorted(found.items())
    ]
