"""The detection of changes between two polls, described in words, for servers without a journal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from nsadmin.wording import first_of

if TYPE_CHECKING:
    from nsadmin.tui.model import Broker, NameServer
    from nsadmin.tui.polls import BrokerPolled, NameServerPolled

_MOST = 3


class Notice(NamedTuple):
    """A change: the server that showed it, its kind, its description, and the objects that it concerns.

    If `is_from_journal` is False, two polls differ, and more may have happened between them.
    """

    at: int
    server: str
    kind: str
    said: str
    names: tuple[str, ...] = ()
    recorded: bool = False


def of_name_server(server: NameServer, poll: NameServerPolled) -> Iterator[Notice]:
    """The changes between the last poll of a name server and this one. The first poll has none."""
    if poll.error is not None:
        if server.error is None:
            yield Notice(poll.at, server.addr, "NameServerSilent", poll.error)
        return
    if server.error is not None and server.since is not None:
        seconds = (poll.at - server.since) / 1000
        yield Notice(poll.at, server.addr, "NameServerBack", f"answers again after {seconds:.0f} s")
    if server.last is None:
        return
    yield from _brokers(server, poll)
    yield from _perms(server.last.perms, poll)
    yield from _topics(server, poll)
    if poll.settings is not None:
        yield from _items(server.addr, poll.at, "SettingsChanged", "", server.settings, poll.settings)
    for namespace, table in (poll.kv or {}).items():
        before = server.kv.get(namespace, {})
        yield from _items(server.addr, poll.at, "KvChanged", f"{namespace} ", before, table)


def _brokers(server: NameServer, poll: NameServerPolled) -> Iterator[Notice]:
    assert server.last is not None
    if poll.groups == server.last.groups:
        return
    before = _places(server.last)
    after = _places(poll)
    for place in sorted(after - before):
        yield Notice(poll.at, server.addr, "BrokerRegistered", f"new: {_said(place)}", (place[0],))
    for place in sorted(before - after):
        yield Notice(poll.at, server.addr, "BrokerUnregistered", f"gone: {_said(place)}", (place[0],))


def _places(poll: NameServerPolled) -> set[tuple[str, int, str]]:
    return {
        (name, broker_id, addr)
        for name, group in poll.groups.items()
        for broker_id, addr in group.broker_addrs.items()
    }


def _said(place: tuple[str, int, str]) -> str:
    return f"{place[0]} {place[1]}={place[2]}"


def _perms(before: Mapping[str, int], poll: NameServerPolled) -> Iterator[Notice]:
    for name, perm in poll.perms.items():
        was = before.get(name)
        if was is not None and (was ^ perm) & 2:
            kind, said = (
                ("WritePermAdded", "may be written again")
                if perm & 2
                else ("WritePermWiped", "is not written any more")
            )
            yield Notice(poll.at, poll.addr, kind, f"{name} {said}", (name,))


def _topics(server: NameServer, poll: NameServerPolled) -> Iterator[Notice]:
    if poll.topics is None or not server.topics or poll.topics == server.told_topics:
        return
    after = frozenset(poll.topics)
    for word, names in (("new", after - server.topics), ("gone", server.topics - after)):
        if names:
            shown = sorted(names)
            said = f"{word}: {first_of(shown, _MOST)}"
            yield Notice(poll.at, server.addr, "TopicsChanged", said, tuple(shown[:_MOST]))


def _items(
    addr: str,
    at: int,
    kind: str,
    lead: str,
    before: Mapping[str, str | None],
    after: Mapping[str, str | None],
) -> Iterator[Notice]:
    for key in sorted(before.keys() | after.keys()) if before else ():
        was, now = before.get(key), after.get(key)
        if was != now:
            change = f"new: {now}" if was is None else f"gone: {was}" if now is None else f"{was} -> {now}"
            yield Notice(at, addr, kind, f"{lead}{key}: {change}", (key,))


def of_broker(broker: Broker, poll: BrokerPolled) -> Iterator[Notice]:
    """Whether a broker stopped answering, answers again, or was restarted."""
    name, broker_id, addr = broker.place
    place = f"{name} {broker_id}"
    if poll.table is None:
        if broker.is_fresh and broker.gone is None:
            yield Notice(poll.at, addr, "BrokerSilent", f"{place}: {poll.error}", (name,))
        return
    if broker.error is not None and broker.since is not None and broker.last is not None:
        seconds = (poll.at - broker.since) / 1000
        yield Notice(poll.at, addr, "BrokerAnswers", f"{place} answers again after {seconds:.0f} s", (name,))
    booted, before = poll.table.get("bootTimestamp"), broker.text("bootTimestamp")
    if before is not None and booted is not None and booted != before:
        yield Notice(poll.at, addr, "BrokerRestarted", f"{place} was started anew", (name,))


def gone(broker: Broker, at: int) -> Notice:
    """The notice that no name server lists a broker any more."""
    name, broker_id, addr = broker.place
    return Notice(at, addr, "BrokerGone", f"{name} {broker_id} is listed by no name server", (name,))


def back(broker: Broker, at: int) -> Notice:
    name, broker_id, addr = broker.place
    return Notice(at, addr, "BrokerBack", f"{name} {broker_id} is listed again", (name,))
