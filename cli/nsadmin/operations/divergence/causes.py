"""Causes: why name servers probably differ, told from what they and brokers say. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import Perm
from nsadmin.client.pictures import Picture
from nsadmin.operations.divergence.comparing import Difference, Value


class Cause(NamedTuple):
    """What probably made the difference: a word for programs, a sentence, and what to do about it."""

    kind: str
    text: str
    advice: str


class BrokerFacts(NamedTuple):
    """What a broker says of itself: the name servers that it registers with, None where it does not tell.

    `answers` is whether it could be asked, `own` its own idea of the topics that it was asked for: None for
    one that it does not have.
    """

    answers: bool
    names: tuple[str, ...] | None = None
    own: Mapping[str, Value | None] = {}


Facts = Mapping[str, BrokerFacts]
"""By the address of the broker."""

NO_FACTS = BrokerFacts(False)


class Scene(NamedTuple):
    """All that a cause is told from: what each name server knows, and what brokers say."""

    pictures: Sequence[Picture]
    facts: Facts

    def addrs_of(self, broker_name: str) -> list[str]:
        """The addresses under which name servers know it, masters first."""
        found = sorted(
            (int(broker_id), addr)
            for picture in self.pictures
            for broker_id, addr in picture.brokers.get(broker_name, {}).get("brokerAddrs", {}).items()
        )
        return list(dict.fromkeys(addr for _, addr in found))

    def at(self, addr: str) -> BrokerFacts:
        return self.facts.get(addr, NO_FACTS)

    def named(self, places: Sequence[int]) -> str:
        return ", ".join(self.pictures[place].source for place in places)


def cause_of(difference: Difference, scene: Scene) -> Cause:
    """The likely cause of one difference."""
    by_what = {"broker": _of_broker, "topic": _of_topic, "kv": _of_kv, "setting": _of_setting}
    return by_what[difference.item.what](difference, scene)


# Brokers


def _of_broker(difference: Difference, scene: Scene) -> Cause:
    missing, name = difference.missing, difference.item.name
    addrs = list(
        dict.fromkeys(value["brokerAddr"] for value in difference.values if isinstance(value, Mapping))
    )
    if not missing:
        return _conflict(name, addrs, scene)
    if all(not scene.pictures[at].brokers for at in missing):
        where = scene.named(missing)
        return Cause(
            "no-brokers",
            f"{where} knows no broker at all: it was started less than a heartbeat ago, or none reaches it",
            f"see whether brokers reach {where}, and whether their namesrvAddr names it",
        )
    partial = _partial(addrs, missing, scene)
    if partial is not None:
        return partial
    if not any(scene.at(addr).answers for addr in addrs):
        return Cause(
            "gone",
            f"it does not answer here either: it is gone, or {scene.named(missing)} never heard of it",
            f"see whether {name} runs; name servers forget who is silent for 2 minutes",
        )
    where = scene.named(missing)
    return Cause(
        "partition",
        f"what it registers does not reach {where}: a partition, or it is refused there",
        f"look for a firewall between {name} and {where}, and at the broker's log",
    )


def _conflict(name: str, addrs: Sequence[str], scene: Scene) -> Cause:
    if len(addrs) == 1:
        return Cause(
            "cluster",
            f"{name} has changed its cluster, and who has heard of both lists both",
            f"restart {name}, which takes it out of its old cluster",
        )
    alive = [addr for addr in addrs if scene.at(addr).answers]
    if len(alive) == 1:
        return Cause(
            "moved",
            f"{name} answers at {alive[0]} only: it has moved, and not every name server has heard of it",
            f"see whether {alive[0]} reaches every name server and its namesrvAddr names all of them",
        )
    return Cause(
        "conflict",
        f"several processes register as {name}: {', '.join(alive or addrs)}",
        "give each broker a name or an id of its own",
    )


def _partial(addrs: Sequence[str], wrong: Sequence[int], scene: Scene) -> Cause | None:
    """Whether the broker does not name those that are wrong; believed where it names the others as we do."""
    right = [at for at in range(len(scene.pictures)) if at not in wrong]
    for addr in addrs:
        names = scene.at(addr).names
        if names is None or not right or not all(scene.pictures[at].source in names for at in right):
            continue
        unnamed = [at for at in wrong if scene.pictures[at].source not in names]
        if unnamed:
            every = ";".join(dict.fromkeys((*names, *(scene.pictures[at].source for at in unnamed))))
            return Cause(
                "partial-list",
                f"registers with a partial list: its namesrvAddr does not name {scene.named(unnamed)}",
                f"nsadmin updateBrokerConfig namesrvAddr '{every}' -b {addr}; it looks every 2 minutes",
            )
    return None


# Topics


def _of_topic(difference: Difference, scene: Scene) -> Cause:
    topic, name = difference.item.name, difference.item.place
    if not name:
        return Cause(
            "left-over",
            "no broker has it any more: it was deleted on some of them only",
            f"nsadmin deleteTopic {topic}, once more, on every name server",
        )
    addrs = scene.addrs_of(name)
    own: Value | None = None
    is_told = False
    for addr in addrs:
        if topic in scene.at(addr).own:
            own, is_told = scene.at(addr).own[topic], True
            break
    wrong = _wrong(difference, own, is_told)
    if is_told and own is None:
        return Cause(
            "left-over",
            f"{name} has no such topic any more: it was deleted, but not on {scene.named(wrong)}",
            f"nsadmin deleteTopic {topic}, once more, on every name server",
        )
    if set(dict(difference.fields)) == {"perm"} and not difference.missing:
        wiped = _of_perm(difference, own, scene)
        if wiped is not None:
            return wiped
    partial = _partial(addrs, wrong, scene)
    if partial is not None:
        return partial
    if wrong and difference.missing == wrong:
        return Cause(
            "not-registered",
            f"{scene.named(wrong)} has not heard of it from {name}: a partition between them, or it was"
            " deleted there only",
            f"look for a firewall between {name} and {scene.named(wrong)}; the next change of a topic of"
            f" {name} registers all again",
        )
    return _behind(name, wrong, scene)


def _wrong(difference: Difference, own: Value | None, is_told: bool) -> tuple[int, ...]:
    """Who does not say what the broker says; where the broker says nothing, the smaller part of them."""
    if is_told and own is None:
        return tuple(at for at, value in enumerate(difference.values) if value is not None)
    if is_told and isinstance(own, Mapping):
        return tuple(
            at
            for at, value in enumerate(difference.values)
            if not isinstance(value, Mapping)
            or any(value[field] != text for field, text in own.items() if field in value)
        )
    if difference.missing:
        return difference.missing
    return _odd(difference)


def _odd(difference: Difference) -> tuple[int, ...]:
    """The smallest part of them that agrees; () where there are several of that size."""
    parts: dict[str, list[int]] = {}
    for at, value in enumerate(difference.values):
        parts.setdefault(repr(value), []).append(at)
    smallest = min(parts.values(), key=len)
    return tuple(smallest) if sum(len(part) == len(smallest) for part in parts.values()) == 1 else ()


def _of_perm(difference: Difference, own: Value | None, scene: Scene) -> Cause | None:
    """Whether write permission was taken or given on some of them only, which brokers do not hear of."""
    perms = [_perm(value) for value in difference.values]
    closed = [at for at, perm in enumerate(perms) if not perm & Perm.WRITE]
    opened = [at for at, perm in enumerate(perms) if perm & Perm.WRITE]
    name = difference.item.place
    if not closed:
        return _flattened(difference, own, scene)
    if not opened:
        return None
    if isinstance(own, Mapping) and not _perm(own) & Perm.WRITE:
        if any(perms[at] != Perm.READ | Perm.WRITE for at in opened):
            return None
        return Cause(
            "write-perm-added",
            f"{name} itself lets nobody write: {scene.named(opened)} alone got addWritePerm, or has not"
            " heard of it",
            f"nsadmin wipeWritePerm {name}, which closes all of its topics on every name server",
        )
    said = (
        f"wiped on {scene.named(closed)} only"
        if len(closed) <= len(opened)
        else f"wiped, but not on {scene.named(opened)}, or has come back there"
    )
    return Cause(
        "wiped",
        f"write permission of {name} was {said}",
        f"nsadmin wipeWritePerm {name}, or addWritePerm, on every name server; a restart of {name} opens all",
    )


def _flattened(difference: Difference, own: Value | None, scene: Scene) -> Cause | None:
    """Whether some have what addWritePerm leaves behind: rw-, where topics of the system are to be rwi."""
    flat = [at for at, value in enumerate(difference.values) if _perm(value) == Perm.READ | Perm.WRITE]
    if not flat or not _perm(own) & Perm.INHERIT:
        return None
    name = difference.item.place
    return Cause(
        "write-perm-added",
        f"addWritePerm was sent to {scene.named(flat)}, which makes rw- of every permission",
        f"a restart of {name} brings back its own permissions",
    )


def _perm(value: Value | None) -> int:
    found: Any = value.get("perm") if isinstance(value, Mapping) else None
    return int(found or 0)


def _behind(name: str, places: Sequence[int], scene: Scene) -> Cause:
    if not places:
        return Cause(
            "behind",
            f"not all of them have heard the last that {name} registered: a partition",
            f"look for a firewall between {name} and the name servers, and at the broker's log",
        )
    where = scene.named(places)
    return Cause(
        "behind",
        f"{where} has not heard the last that {name} registered: a partition between them",
        f"look for a firewall between {name} and {where}; the next change of a topic of {name} registers all"
        " again",
    )


# KV config and settings


def _of_kv(difference: Difference, scene: Scene) -> Cause:
    having = [at for at, value in enumerate(difference.values) if value is not None]
    namespace = difference.item.place
    source = scene.pictures[having[0]].source
    advice = f"nsadmin kvSync -s {namespace} --from {source}, or from who has it right"
    if difference.missing and not difference.fields:
        return Cause(
            "kv-written-to-some",
            f"written to {scene.named(having)} only, or deleted on {scene.named(difference.missing)} only:"
            " name servers never tell each other",
            advice,
        )
    odd = _odd(difference)
    whom = f"{scene.named(odd)} only, or to the others only" if odd else "some of them only"
    return Cause("kv-written-to-some", f"written to {whom}: name servers never tell each other", advice)


def _of_setting(difference: Difference, scene: Scene) -> Cause:
    return Cause(
        "own-files",
        "each name server has its own configuration file",
        f"nsadmin updateNamesrvConfig {difference.item.name} VALUE, which goes to all of them",
    )
