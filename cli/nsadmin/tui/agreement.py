"""The comparison of name servers: whether their last polls report the same tables. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nsadmin.tui.model import Model, NameServer

Picked = dict[str, object]


class Verdict(NamedTuple):
    """`outcome` is "agree", "diverge" or "unknown".

    `reasons` are the aspects that nsadmin did not compare, those that differ, or the cause of "unknown".
    """

    word: str
    why: tuple[str, ...] = ()


class Difference(NamedTuple):
    """An object that name servers report differently, with the text that each address reports."""

    what: str
    name: str
    sides: dict[str, str]


_ABSENT = "absent"


def _brokers(server: NameServer) -> Picked:
    groups = server.last.groups if server.last else {}
    return {
        name: "  ".join(f"{number}={addr}" for number, addr in sorted(group.broker_addrs.items()))
        for name, group in groups.items()
    }


def _perms(server: NameServer) -> Picked:
    perms = server.last.perms if server.last else {}
    return {name: "written" if perm & 2 else "wiped" for name, perm in perms.items()}


def _topics(server: NameServer) -> Picked:
    return dict.fromkeys(server.topics, "known")


def _kv(server: NameServer) -> Picked:
    return {f"{space} {key}": value for space, table in server.kv.items() for key, value in table.items()}


class Aspect(NamedTuple):
    """One aspect of a name server's tables that nsadmin compares.

    `poll_field` is its key in `NameServerPolled.untold`. `extract_texts` formats it. `extract_raw` returns
    the values before formatting: if they are equal, no text is needed.
    """

    what: str
    pick: Callable[[NameServer], Picked]
    told_as: str
    raw: Callable[[NameServer], object]

    def able(self, servers: Sequence[NameServer]) -> list[NameServer]:
        """The name servers that report this aspect."""
        return [server for server in servers if self.told_as not in server.untold]

    def are_equal(self, servers: Sequence[NameServer]) -> bool:
        raws = [self.raw(server) for server in servers]
        return _are_equal(raws) or _are_equal([self.pick(server) for server in servers])


ASPECTS = (
    Aspect("brokers", _brokers, "groups", lambda server: server.last and server.last.groups),
    Aspect("permissions", _perms, "perms", lambda server: server.last and server.last.perms),
    Aspect("topics", _topics, "topics", lambda server: server.topics),
    Aspect("KV config", _kv, "kv", lambda server: server.kv),
)


def differences(servers: Sequence[NameServer], aspect: str | None = None) -> Iterator[Difference]:
    """The differences between these servers. A server that does not report an aspect is left out of it."""
    for each in ASPECTS:
        if aspect in (None, each.what):
            yield from _differences(each, each.able(servers))


def _differences(aspect: Aspect, servers: Sequence[NameServer]) -> Iterator[Difference]:
    if aspect.are_equal(servers):
        return
    picked = {server.addr: aspect.pick(server) for server in servers}
    for name in sorted(set().union(*picked.values())):
        sides = {addr: str(table[name]) if name in table else _ABSENT for addr, table in picked.items()}
        if len(set(sides.values())) > 1:
            yield Difference(aspect.what, name, sides)


def _are_equal(tables: Sequence[object]) -> bool:
    return all(table == tables[0] for table in tables[1:])


def verdict(model: Model) -> Verdict:
    """Compare all name servers.

    The outcome is "unknown" if a name server does not answer, or if there is only one, unless others differ.
    """
    fresh = model.fresh()
    different = [aspect.what for aspect in ASPECTS if not aspect.are_equal(aspect.able(fresh))]
    if different:
        return Verdict("diverge", tuple(different))
    silent = [server.addr for server in model.servers.values() if not server.is_fresh]
    if silent or not fresh:
        return Verdict("unknown", tuple(f"{addr} does not answer" for addr in silent))
    if len(fresh) == 1:
        return Verdict("unknown", ("there is no other name server",))
    alone = [f"{aspect.what} not compared" for aspect in ASPECTS if len(aspect.able(fresh)) < 2]
    return Verdict("agree", tuple(alone))


def pairs(servers: Sequence[NameServer]) -> dict[tuple[str, str], int]:
    """The number of differences of each pair of servers, by both addresses and in both orders."""
    found: dict[tuple[str, str], int] = {}
    for at, one in enumerate(servers):
        for other in servers[at + 1 :]:
            number = sum(1 for _ in differences((one, other)))
            found[one.addr, other.addr] = found[other.addr, one.addr] = number
    return found
