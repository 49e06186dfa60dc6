"""Looking: one look at a server, with the blocking client, and the poll that came of it.

Law: an answer that is missing is a poll that says so; nothing is raised but what is a mistake in here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.calls import CallError, Exchange
from nsadmin.client import AdminClient
from nsadmin.client.results import NoneReachable, error_text, is_not_found
from nsadmin.client.secrecy import is_secret
from nsadmin.tui.polls import BrokerPolled, Group, NameServerPolled, Texts

T = TypeVar("T")
Clock = Callable[[], int]

HIDDEN = "(hidden)"
PROBED_TOPIC = "SELF_TEST_TOPIC"
"""Every broker has it from its first start: its route tells at once which brokers may be written."""


class Stopwatch:
    """An observer of a client: how long the last request to each server took, in ms."""

    def __init__(self) -> None:
        self._millis: dict[str, float] = {}

    def __call__(self, exchange: Exchange) -> None:
        self._millis[exchange.addr] = exchange.seconds * 1000

    def of(self, addr: str) -> float:
        return round(self._millis.get(addr, 0.0), 2)


class Looker(NamedTuple):
    """A client and its stopwatch, and what time it is (ms since 1970); for one thread.

    `kept` is what an earlier look left for a later one.
    """

    admin: AdminClient
    watch: Stopwatch
    clock: Clock
    namespaces: Sequence[str] = ()
    kept: dict[str, Any] = {}  # noqa: RUF012 - each looker is made with its own


def name_server(looker: Looker, addr: str, namespaces: Sequence[str]) -> NameServerPolled:
    """What the only name server of this client tells; without its brokers it has told nothing."""
    admin = looker.admin
    [heard] = admin.clusters.heard_each()
    if heard.result is None:
        return NameServerPolled(looker.clock(), addr, error=_text(heard.error or RocketMQError("no answer")))
    info, heartbeats = heard.result
    millis = looker.watch.of(addr)
    untold: dict[str, str] = {}

    def told(what: str, ask: Callable[[], T], default: T) -> T:
        try:
            return ask()
        except RocketMQError as error:
            untold[what] = _text(error)
            return default

    groups = {
        intern(group.broker_name): Group(intern(group.cluster_name), group.broker_addrs)
        for group in info.groups
    }
    topics = told("topics", admin.topics.names, None)
    settings = told("settings", lambda: _settings(admin), None)
    kv = told("kv", lambda: {name: _entries(admin, name) for name in namespaces}, None)
    nobody: dict[str, int] = {}
    perms = told("perms", lambda: _perms(admin, addr), nobody)
    silences = None if heartbeats is None else {addr: tuple(each[:2]) for addr, each in heartbeats.items()}
    return NameServerPolled(
        looker.clock(), addr, millis, None, groups, topics, settings, kv, perms, silences, untold
    )


def _settings(admin: AdminClient) -> dict[str, str]:
    [found] = admin.name_servers.config_each()
    if found.result is None:
        raise found.error or RocketMQError("no settings")
    return hidden(found.result)


def hidden(table: Mapping[str, str]) -> dict[str, str]:
    """Without what looks like a secret: it would stay in recordings and pictures."""
    return {key: HIDDEN if value and is_secret(key) else value for key, value in table.items()}


def _entries(admin: AdminClient, namespace: str) -> Texts:
    """Of a namespace that is not there: nothing."""
    try:
        return hidden(admin.kv.entries(namespace))
    except RocketMQError as error:
        if is_not_found(error):
            return {}
        raise


def _perms(admin: AdminClient, addr: str) -> dict[str, int]:
    # Loaded while servers are asked, and not before the screen is there.
    from nsadmin.client.tables import queues_of

    [found] = admin.tables.route_bodies(addr, [PROBED_TOPIC])
    if found.result is None:
        if is_not_found(found.error):
            return {}
        raise found.error or RocketMQError("no route")
    try:
        return {intern(name): queue.perm for name, queue in queues_of(found.result).queues.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RocketMQError(f"its answer cannot be read ({error})") from error


def brokers(looker: Looker, addrs: Iterable[str]) -> list[BrokerPolled]:
    """These brokers' own figures, all asked at the same time."""
    results = looker.admin.brokers.runtime_infos(addrs)
    at = looker.clock()
    return [
        BrokerPolled(
            at,
            result.addr,
            looker.watch.of(result.addr),
            None if result.result is None else _interned(result.result.table),
            None if result.error is None else _text(result.error),
            kind_of(result.error),
        )
        for result in results
    ]


def _interned(table: Mapping[str, str]) -> dict[str, str]:
    """A thousand tables have the same keys, and many the same values."""
    return {intern(key): intern(value) if len(value) < 8 else value for key, value in table.items()}


def kind_of(error: RocketMQError | None) -> str | None:
    """How a broker failed: see BrokerPolled."""
    if error is None:
        return None
    if not isinstance(error, CallError):
        return "refused"
    return "timeout" if error.kind == "timeout" else "unreachable"


def _text(error: RocketMQError) -> str:
    """In a line that need not say which server it was: one alone was asked."""
    if isinstance(error, NoneReachable) and error.errors:
        return error_text(error.errors[0])
    return error_text(error)
