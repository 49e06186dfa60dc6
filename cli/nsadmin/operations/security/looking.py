"""What an audit of security sees by looking: no request changes anything, nobody tries to break in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.certificates import Certificate, NoTls
from nsadmin.client.doors import Answer
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed

NAME_SERVER, BROKER = "name server", "broker"

_REPLICATION = "haListenPort"


class Server(NamedTuple):
    """What is known of one server; None: nobody knows.

    `settings` are as this client may read them, `told` as it tells them to whoever asks. `plain` is whether
    it answers in plain text, `speaks_tls` whether it does that, and then shows `certificate`. `lists` says
    that a name server tells its brokers to whoever asks, `is_ours` that it is this project's. `replication`
    is whether the port of a broker's replication takes connections from here. `error` is why nothing at all
    is known.
    """

    kind: str
    name: str
    addr: str
    version: str | None = None
    settings: Mapping[str, str] | None = None
    told: Mapping[str, str] | None = None
    lists: bool = False
    is_ours: bool = False
    plain: bool | None = None
    speaks_tls: bool | None = None
    certificate: Certificate | None = None
    replication: bool | None = None
    error: str | None = None


class Seen(NamedTuple):
    """All servers at `now` (s); `unlisted` says why it is not known which brokers there are."""

    now: float
    servers: Sequence[Server]
    unlisted: str | None = None


class Eyes(NamedTuple):
    """Who looks: the operator, and somebody unknown, in plain text and through TLS."""

    own: AdminClient
    plain: AdminClient
    veiled: AdminClient


def look(eyes: Eyes, now: float) -> Seen:
    """At all name servers, and all brokers that any of them lists."""
    addrs = list(eyes.own.addresses.addrs)
    found = listed.look(eyes.own)
    ours = _ours(eyes)
    open_ = {addr for addr, answer, _ in _asked(eyes, "clusters", addrs) if answer and answer.refusal is None}
    servers = [
        one._replace(is_ours=one.addr in ours, lists=one.addr in open_)
        for one in _servers(eyes, NAME_SERVER, {addr: addr for addr in addrs})
    ]
    brokers = _with_replication(eyes.own, _servers(eyes, BROKER, found.names))
    unlisted = None if found.by_server else "no name server tells which brokers there are"
    return Seen(now, [*servers, *brokers], unlisted)


def _ours(eyes: Eyes) -> set[str]:
    """This project's name servers tell when they heard of whom, some only to who trusts any certificate."""
    heard = eyes.own.clusters.heard_each()
    if any(one.result is None for one in heard):
        heard += eyes.veiled.clusters.heard_each()
    return {one.addr for one in heard if one.result and one.result.heartbeats is not None}


def _servers(eyes: Eyes, kind: str, names: Mapping[str, str]) -> list[Server]:
    asking = "name_servers" if kind == NAME_SERVER else "brokers"
    own = {one.addr: one for one in getattr(eyes.own.doors, asking)(names)}
    plain = {one.addr: one for one in getattr(eyes.plain.doors, asking)(names)}
    anybody = {one.addr: one for one in _asked(eyes, asking, names)}
    shown = {one.addr: one for one in eyes.own.certificates.own(names)}
    return [
        _server(Server(kind, name, addr), own[addr], plain[addr], anybody[addr], shown[addr])
        for addr, name in names.items()
    ]


def _asked(eyes: Eyes, asking: str, addrs: Iterable[str]) -> list[ServerResult[Answer]]:
    """What somebody unknown is told: in plain text, or else through TLS."""
    found: list[ServerResult[Answer]] = getattr(eyes.plain.doors, asking)(addrs)
    silent = [one.addr for one in found if one.result is None]
    again: dict[str, ServerResult[Answer]] = {
        one.addr: one for one in getattr(eyes.veiled.doors, asking)(silent) if one.result is not None
    }
    return [again.get(one.addr, one) for one in found]


def _server(
    known: Server,
    own: ServerResult[Answer],
    plain: ServerResult[Answer],
    anybody: ServerResult[Answer],
    shown: ServerResult[Certificate],
) -> Server:
    answers = [answer for _, answer, _ in (own, plain, anybody) if answer is not None]
    speaks_tls = True if shown.result else False if isinstance(shown.error, NoTls) else None
    if not answers and not speaks_tls:
        return known._replace(error=error_text(own.error) if own.error else "no answer")
    told = _settings(anybody)
    settings = _settings(own)
    return known._replace(
        version=answers[0].version if answers else None,
        settings=told if settings is None else settings,
        told=told,
        plain=plain.result is not None if answers or speaks_tls else None,
        speaks_tls=speaks_tls,
        certificate=shown.result,
    )


def _settings(answered: ServerResult[Answer]) -> Mapping[str, str] | None:
    answer = answered.result
    return answer.settings if answer is not None and answer.refusal is None else None


def _with_replication(admin: AdminClient, brokers: Sequence[Server]) -> list[Server]:
    """Where a slave would fetch all messages; nobody asks it who it is."""
    ports = {}
    for one in brokers:
        port = (one.settings or {}).get(_REPLICATION, "")
        if port.isdecimal() and 0 < int(port) < 65536:
            ports[one.addr] = f"{one.addr.rpartition(':')[0]}:{port}"
    taken = admin.doors.reachable(ports.values())
    return [one._replace(replication=taken.get(ports.get(one.addr, ""))) for one in brokers]
