"""Checks for half messages: transactions that wait for a decision of their producer, or never got one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.results import NotFound, error_text
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.half_messages import BrokerTransactions, read_transactions

_HOUR_MS = 3_600_000
_MAX_SHOWN = 10


class TransactionObservation(NamedTuple):
    """The transactions of each master.

    `client_counts` has the connected clients of the producer groups of half messages; None if unknown.
    """

    listing: BrokerListing
    transactions: Sequence[BrokerTransactions]
    client_counts: Mapping[str, int | None]
    now_ms: int


def observe(admin: AdminClient, scope: CheckScope) -> TransactionObservation:
    """Read the half messages, and ask brokers for the clients of their producer groups."""
    listing, now_ms = listed_brokers.observe_listing(admin, scope.cluster_name), admin.clock_ms
    transactions = read_transactions(admin, listing.master_addrs, now_ms - _HOUR_MS)
    groups = {_producer_group(message) for broker in transactions for message in broker.half_messages}
    return TransactionObservation(
        listing, transactions, {group: _count_clients(admin, group) for group in sorted(groups)}, now_ms
    )


def _producer_group(message: StoredMessage) -> str:
    return message.properties.get("PGROUP", "")


def _count_clients(admin: AdminClient, group: str) -> int | None:
    try:
        return len(admin.producers.get_connections(group).clients) or None
    except NotFound:
        return 0
    except RocketMQError:
        return None


def judge(scale: CheckScale, seen: TransactionObservation) -> CheckFinding:
    """Judge the age of the oldest half message. One whose producers are gone is at least a warning."""
    halves = [(broker.broker_name, m) for broker in seen.transactions for m in broker.half_messages]
    discarded = [m for broker in seen.transactions for m in broker.discarded_messages]
    unread_count = sum(broker.unread_count for broker in seen.transactions)
    failures = [
        *(f"{t.broker_name}: {error_text(t.error)}" for t in seen.transactions if t.error is not None),
        *seen.listing.masterless_lines,
        *seen.listing.failure_lines,
    ]
    if not seen.listing.groups_by_server:
        return scale.make_unknown_finding("no name server returned a list of brokers", failures)
    oldest = max((_age_seconds(seen, message) for _, message in halves), default=0.0)
    abandoned = [m for _, m in halves if seen.client_counts.get(_producer_group(m)) == 0]
    samples = [
        scale.make_sample("oldest", round(oldest, 1)),
        scale.make_sample("half", len(halves)),
        scale.make_sample("abandoned", len(abandoned)),
        scale.make_sample("discarded", len(discarded)),
    ]
    minimum_state = CheckState.UNKNOWN if failures or unread_count else CheckState.OK
    if abandoned or discarded:
        minimum_state = CheckState.WARNING
    at_least = "at least " if failures or unread_count else ""
    summary = f"{at_least}{count_noun(len(halves), 'half message')}"
    if halves:
        summary += f", the oldest is {oldest:.0f} s old"
    if abandoned:
        summary += f"; the producers of {len(abandoned)} are gone"
    if discarded:
        summary += f"; brokers discarded {len(discarded)} in the last hour"
    details = [
        *_describe_groups(seen),
        *_describe_discarded(discarded),
        *([f"not read: {count_noun(unread_count, 'newer half message')}"] if unread_count else []),
        *failures,
    ]
    return scale.make_finding(summary, samples, details, minimum_state=minimum_state)


def _age_seconds(seen: TransactionObservation, message: StoredMessage) -> float:
    # A broker writes a half message again at each check. Its birth is what the broker judges by.
    return max(seen.now_ms - message.born_timestamp, 0) / 1000


def _describe_groups(seen: TransactionObservation) -> list[str]:
    """A line per producer group, topic and broker."""
    ages: dict[tuple[str, str, str], list[float]] = {}
    for broker in seen.transactions:
        for message in broker.half_messages:
            key = (_producer_group(message), _topic(message), broker.broker_name)
            ages.setdefault(key, []).append(_age_seconds(seen, message))
    lines = []
    for (group, topic, broker_name), group_ages in sorted(ages.items(), key=lambda item: -max(item[1])):
        client_count = seen.client_counts.get(group)
        clients = (
            "no client is connected: start a producer of this group, which the broker asks for the decision"
            if client_count == 0
            else "its clients are unknown"
            if client_count is None
            else f"{count_noun(client_count, 'client')} connected"
        )
        lines.append(
            f"producer group {group or 'unknown'}: {count_noun(len(group_ages), 'half message')} for {topic} "
            f"on {broker_name}, the oldest is {max(group_ages):.0f} s old; {clients}"
        )
    hidden_count = len(lines) - _MAX_SHOWN
    return [*lines[:_MAX_SHOWN], *([f"and {hidden_count} more"] if hidden_count > 0 else [])]


def _describe_discarded(discarded: Sequence[StoredMessage]) -> list[str]:
    counts = Counter((_producer_group(message), _topic(message)) for message in discarded)
    return [
        f"discarded in the last hour: {count} for {topic} of producer group {group or 'unknown'}, which did "
        "not answer the checks of the broker"
        for (group, topic), count in counts.most_common(_MAX_SHOWN)
    ]


def _topic(message: StoredMessage) -> str:
    return message.properties.get("REAL_TOPIC", "an unknown topic")


CHECK = Check(
    "transactions",
    (
        CheckMeasure(
            "oldest", "age of the oldest half message without a decision", "s", warning="60", critical="600"
        ),
        CheckMeasure("half", "half messages without a decision"),
        CheckMeasure("abandoned", "those whose producer group has no connected client"),
        CheckMeasure("discarded", "half messages that brokers discarded in the last hour"),
    ),
    observe,
    judge,
    warning_when="a half message waits for over a minute, its producer group has no connected client, or "
    "brokers discarded half messages in the last hour",
    critical_when="a half message waits for over ten minutes",
    remedy="nsadmin client list",
    takes_cluster=True,
    warning_help="Age of the oldest half message, in seconds. Default: 60.",
    critical_help="Age of the oldest half message, in seconds. Default: 600.",
    help="""Check whether transactions wait for a decision: half messages, neither committed nor rolled back.

    Consumers see a half message only after its commit. A broker asks the producer group for the decision
    (every 30 s since 5.0, every minute before), up to 15 times (transactionCheckMax). Then it moves the
    message to TRANS_CHECK_MAX_TIME_TOPIC. The check reads up to 10,000 half messages of each master.

    Examples:
        # Check all brokers
        nsadmin check transactions
        # Accept transactions of five minutes
        nsadmin check transactions --warning 300
    """,
)
