"""One poll of a name server or of a batch of brokers, with the blocking client.

Rule: a missing answer becomes a poll with an error. These functions raise only programming errors.
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
"""Every broker creates this topic at its first start, so one route has the permissions of all brokers."""


class Stopwatch:
    """A request observer of a client. It keeps the duration (ms) of the last request to each server."""

    def __init__(self) -> None:
        self._millis: dict[str, float] = {}

    def __call__(self, exchange: Exchange) -> None:
        self._millis[exchange.addr] = exchange.seconds * 1000

    def of(self, addr: str) -> float:
        return round(self._millis.get(addr, 0.0), 2)


class Looker(NamedTuple):
    """A client with its stopwatch and a clock (ms since 1970). Each thread has its own probe.

    `carried_state` keeps values of one poll for the next, by name.
    """

    admin: AdminClient
    watch: Stopwatch
    clock: Clock
    namespaces: Sequence[str] = ()
    kept: dict[str, Any] = {}  # noqa: RUF012 - each looker is made with its own


def name_server(looker: Looker, addr: str, namespaces: Sequence[str]) -> NameServerPolled:
    """Poll the only name server of this client. The poll fails if the list of brokers is missing."""
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
    """Replace values that look like secrets, because recordings and screenshots would keep them."""
    return {key: HIDDEN if value and is_secret(key) else value for key, value in table.items()}


def _entries(admin: AdminClient, namespace: str) -> Texts:
    """The entries of a KV namespace, or none if the namespace does not exist."""
    try:
        return hidden(admin.kv.entries(namespace))
    except RocketMQError as error:
        if is_not_found(error):
            return {}
        raise


def _perms(admin: AdminClient, addr: str) -> dict[str, int]:
    # Import here, while requests are running, so that the first screen appears sooner.
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
    """Ask these brokers for their runtime figures, all at the same time."""
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
    """Share equal strings, because a thousand brokers report the same keys and many equal values."""
    return {intern(key): intern(value) if len(value) < 8 else value for key, value in table.items()}


def kind_of(error: RocketMQError | None) -> str | None:
    """The kind of a broker's failure, as `BrokerPolled` describes it."""
    if error is None:
        return None
    if not isinstance(error, CallError):
        return "refused"
    return "timeout" if error.kind == "timeout" else "unreachable"


def _text(error: RocketMQError) -> str:
    """The error in one line, without the server's address: the request went to one server only."""
    if isinstance(error, NoneReachable) and error.errors:
        return error_text(error.errors[0])
    return error_text(error)
