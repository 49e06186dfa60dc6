"""Asks name servers and brokers for their topics, twice: an orphan seen twice is no change in progress."""

from collections.abc import Callable, Mapping, Sequence

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.pictures import Picture, of_each
from nsadmin.client.registrations import Registrant
from nsadmin.client.results import NoneReachable
from nsadmin.client.targets import Target
from nsadmin.operations.orphans.finding import Facts, Orphan, find
from nsadmin.operations.topic_kinds import of_vanished_groups


def look_twice(admin: AdminClient, now: int, pause: Callable[[], None]) -> tuple[list[Orphan], Facts]:
    """The orphans that two observations find, with `pause` between them, and the second facts.

    A topic that is being created or deleted is found only once.

    Raises:
        NoneReachable: no name server answered.
    """
    facts = look(admin, now)
    found = find(facts)
    if not found:
        return [], facts
    pause()
    facts = look(admin, now)
    before = set(found)
    return [orphan for orphan in find(facts) if orphan in before], facts


def look(admin: AdminClient, now: int) -> Facts:
    """The current facts. Name servers are asked first, because they learn of topics last."""
    found = of_each(admin, now)
    pictures = {picture.source: picture for _, picture, _ in found if picture is not None}
    errors = {addr: error for addr, _, error in found if error is not None}
    if not pictures:
        raise NoneReachable(list(errors.values()))  # type: ignore[arg-type]
    at = _places(pictures)
    addrs = list(dict.fromkeys(target.broker_addr or "" for target in at))
    told = {result.addr: result for result in admin.registrations.each(addrs)}
    brokers = {target.broker_name or "": told[target.broker_addr or ""] for target in at}
    silent = {name: result.error for name, result in brokers.items() if result.error is not None}
    held = {name: _held(result) for name, result in brokers.items() if result.error is None}
    groups, unknown = _groups(admin, at, held)
    return Facts(
        {addr: _topics(picture) for addr, picture in pictures.items()},
        {addr: _masters(picture) for addr, picture in pictures.items()},
        held,
        frozenset(silent),
        groups,
        {
            name: broker["clusterName"]
            for picture in pictures.values()
            for name, broker in picture.brokers.items()
        },
        {**errors, **unknown, **silent},
    )


def _groups(
    admin: AdminClient, at: Sequence[Target], held: Mapping[str, frozenset[str]]
) -> tuple[frozenset[str] | None, dict[str, RocketMQError]]:
    """All groups that brokers know or that have connected clients; None if a broker did not answer."""
    names = {target.broker_addr or "": target.broker_name or "" for target in at}
    tables = admin.groups.tables(at)
    unknown = {names[table.addr]: table.error for table in tables if table.error is not None}
    known = frozenset(group for table in tables for group in table.result or ())
    suspects = set(
        of_vanished_groups((topic for topics in held.values() for topic in topics), known).values()
    )
    if unknown:
        return None, unknown
    online = admin.consumers.connected(suspects, names)
    for found in online.values():
        unknown |= {names[addr]: error for addr, error in found.errors.items() if error is not None}
    alive = frozenset(group for group, found in online.items() if found.clients)
    return None if unknown else known | alive, unknown


def _places(pictures: Mapping[str, Picture]) -> list[Target]:
    """The process with the lowest id of each registered broker: the master, if there is one."""
    found: dict[str, Target] = {}
    for picture in pictures.values():
        for name, broker in picture.brokers.items():
            for number, addr in broker["brokerAddrs"].items():
                known = found.get(name)
                if known is None or int(number) < (known.broker_id or 0):
                    found[name] = Target(name, int(number), addr)
    return list(found.values())


def _topics(picture: Picture) -> dict[str, frozenset[str]]:
    return {
        topic: frozenset(name for name, queue in queues.items() if "perm" in queue)
        for topic, queues in picture.topics.items()
    }


def _masters(picture: Picture) -> frozenset[str]:
    return frozenset(name for name, broker in picture.brokers.items() if "0" in broker["brokerAddrs"])


def _held(result: ServerResult[Registrant]) -> frozenset[str]:
    return frozenset(result.result.topics if result.result is not None else ())
