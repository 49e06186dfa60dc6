"""One poll of a name server or of a batch of brokers, with the blocking client.

Rule: a missing answer becomes a poll with an error. These functions raise only programming errors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.multiplexed_client import CallError, Exchange
from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.results import NoneReachable, ServerResult, error_text, is_not_found
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.polling.poll_records import (
    BrokerGroupListing,
    BrokerPolled,
    MissingBrokerRecord,
    MissingBrokersPolled,
    NameServerPolled,
    OptionalTexts,
)

T = TypeVar("T")
Clock = Callable[[], int]

HIDDEN_VALUE = "(hidden)"
PROBED_TOPIC = "SELF_TEST_TOPIC"
"""Every broker creates this topic at its first start, so one route has the permissions of all brokers."""


class RequestStopwatch:
    """A request observer of a client. It keeps the duration (ms) of the last request to each server."""

    def __init__(self) -> None:
        self._ms_by_addr: dict[str, float] = {}

    def __call__(self, exchange: Exchange) -> None:
        self._ms_by_addr[exchange.addr] = exchange.seconds * 1000

    def last_request_ms(self, addr: str) -> float:
        return round(self._ms_by_addr.get(addr, 0.0), 2)


class ServerProbe(NamedTuple):
    """What a thread asks servers with: a client, its stopwatch, a clock (ms since 1970) and a rate limit.

    Each thread has its own probe. `addrs` are the name servers of the client. `carried_state` keeps values of
    one poll for the next, by name. `list_silent` returns the errors of the name servers that did not answer
    their last poll, by address.
    """

    admin: AdminClient
    stopwatch: RequestStopwatch
    clock: Clock
    pace: RequestPace
    addrs: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    carried_state: dict[str, Any] = {}  # noqa: RUF012 - each looker is made with its own
    list_silent: Callable[[], Mapping[str, str]] = dict


def describe_error(result: ServerResult[Any]) -> str:
    return error_text(result.error or RocketMQError("no answer"))


def poll_name_server(probe: ServerProbe, addr: str) -> NameServerPolled:
    """Poll the only name server of this client. The poll fails if the list of brokers is missing."""
    try:
        return _read_name_server(probe, addr)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return NameServerPolled(probe.clock(), addr, error=f"malformed answer ({error})")


def _read_name_server(probe: ServerProbe, addr: str) -> NameServerPolled:
    admin = probe.admin
    [result] = admin.clusters.get_heartbeats_each()
    if result.result is None:
        error = _error_line(result.error or RocketMQError("no answer"))
        return NameServerPolled(probe.clock(), addr, error=error)
    cluster_info, heartbeats = result.result
    answer_ms = probe.stopwatch.last_request_ms(addr)
    unreported: dict[str, str] = {}

    def ask_or_default(field: str, read_answer: Callable[[], T], default_answer: T) -> T:
        try:
            return read_answer()
        except RocketMQError as error:
            unreported[field] = _error_line(error)
            return default_answer

    groups = {
        intern(g.broker_name): BrokerGroupListing(intern(g.cluster_name), g.broker_addrs)
        for g in cluster_info.broker_groups
    }
    topics = ask_or_default("topics", admin.topics.list_names, None)
    settings = ask_or_default("settings", lambda: _read_settings(admin), None)
    kv = ask_or_default("kv", lambda: {n: _read_kv_entries(admin, n) for n in probe.namespaces}, None)
    no_perms: dict[str, int] = {}
    perms = ask_or_default("perms", lambda: _read_perms(admin, addr), no_perms)
    silences = None if heartbeats is None else {addr: (age[0], age[1]) for addr, age in heartbeats.items()}
    peer = admin.name_server_tables.describe_peer(addr)
    return NameServerPolled(
        probe.clock(), addr, answer_ms, None, groups, topics, settings, kv, perms, silences, unreported, peer
    )


def _read_settings(admin: AdminClient) -> dict[str, str]:
    [result] = admin.name_servers.get_config_each()
    if result.result is None:
        raise result.error or RocketMQError("no settings")
    return hide_secrets(result.result)


def hide_secrets(texts: Mapping[str, str]) -> dict[str, str]:
    """Replace values that look like secrets, because recordings and screenshots would keep them."""
    return {key: HIDDEN_VALUE if text and is_secret_name(key) else text for key, text in texts.items()}


def _read_kv_entries(admin: AdminClient, namespace: str) -> OptionalTexts:
    """The entries of a KV namespace, or none if the namespace does not exist."""
    try:
        return hide_secrets(admin.kv.get_entries(namespace))
    except RocketMQError as error:
        if is_not_found(error):
            return {}
        raise


def _read_perms(admin: AdminClient, addr: str) -> dict[str, int]:
    # Import here, while requests are running, so that the first screen appears sooner.
    from nsadmin.client.name_servers.name_server_tables import parse_topic_queues

    [result] = admin.name_server_tables.get_route_bodies(addr, [PROBED_TOPIC])
    if result.result is None:
        if is_not_found(result.error):
            return {}
        raise result.error or RocketMQError("no route")
    try:
        queues = parse_topic_queues(result.result).queues
    except ValueError as error:
        raise RocketMQError(f"malformed answer ({error})") from error
    return {intern(broker): broker_queues.perm for broker, broker_queues in queues.items()}


def poll_brokers(probe: ServerProbe, addrs: Iterable[str]) -> list[BrokerPolled]:
    """Ask these brokers for their runtime figures, all at the same time."""
    results = probe.admin.brokers.get_runtime_info(addrs)
    now_ms = probe.clock()
    return [
        BrokerPolled(
            now_ms,
            result.addr,
            probe.stopwatch.last_request_ms(result.addr),
            None if result.result is None else _intern_table(result.result.table),
            None if result.error is None else _error_line(result.error),
            failure_kind(result.error),
        )
        for result in results
    ]


def _intern_table(table: Mapping[str, str]) -> dict[str, str]:
    """Share equal strings, because a thousand brokers report the same keys and many equal values."""
    return {intern(key): intern(text) if len(text) < 8 else text for key, text in table.items()}


def failure_kind(error: RocketMQError | None) -> str | None:
    """The kind of a broker's failure, as `BrokerPolled` describes it."""
    if error is None:
        return None
    if not isinstance(error, CallError):
        return "refused"
    return "timeout" if error.kind == "timeout" else "unreachable"


def _error_line(error: RocketMQError) -> str:
    """The error in one line, without the server's address: the request went to one server only."""
    if isinstance(error, NoneReachable) and error.errors:
        return error_text(error.errors[0])
    return error_text(error)


def split_batches(addrs: Sequence[str], size: int) -> list[Sequence[str]]:
    return [addrs[start : start + size] for start in range(0, len(addrs), size)]


def poll_missing_brokers(
    inventory: InventoryKeeper, latest_polls: Iterable[NameServerPolled], clock: Clock
) -> MissingBrokersPolled | None:
    """Compare the latest listings with the inventory; None if no name server answered."""
    answered = [poll for poll in latest_polls if poll.error is None]
    if not answered:
        return None
    listings = [(name, group) for poll in answered for name, group in poll.groups.items()]
    missing = inventory.observe_brokers(
        [BrokerAddrGroup(group.cluster_name, name, dict(group.broker_addrs)) for name, group in listings]
    )
    records = [
        MissingBrokerRecord(b.cluster_name, b.broker_name, b.broker_id, b.broker_addr, b.last_seen_ms)
        for b in (gone.broker for gone in missing)
    ]
    return MissingBrokersPolled(clock(), records, inventory.problem or "")
