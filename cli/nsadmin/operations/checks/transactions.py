"""Checks for half messages: transactions that wait for a decision of their producer, or never got one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.messages.transactions import HalfMessage, HalfMessages
from nsadmin.client.results import is_silent
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, list_failures
from nsadmin.operations.checks.listed_brokers import BrokerListing

_HOUR_MS = 3_600_000
_MAX_SHOWN = 10


class WaitingHalf(NamedTuple):
    """A half message on its broker, and whether its producer group has a client there (None: unknown)."""

    broker_name: str
    half: HalfMessage
    age_seconds: float
    connected: bool | None


class TransactionObservation(NamedTuple):
    """The half messages of each master, and those that it discarded in the last hour."""

    listing: BrokerListing
    half_results: Sequence[ServerResult[HalfMessages]]
    discarded_results: Sequence[ServerResult[HalfMessages]]
    connected: Mapping[tuple[str, str], bool | None]
    now_ms: int


def observe(admin: AdminClient, scope: CheckScope) -> TransactionObservation:
    """Read the half messages, and ask their brokers for clients of the producer groups."""
    listing, now_ms = (
        listed_brokers.observe_listing(admin, scope.cluster_name, scope.inventory),
        admin.clock_ms,
    )
    addrs = sorted(listing.master_addrs.values())
    half_results = admin.transactions.list_half_messages(addrs)
    answering_addrs = [result.addr for result in half_results if not is_silent(result.error)]
    discarded_results = admin.transactions.list_discarded(answering_addrs, since_ms=now_ms - _HOUR_MS)
    places = list(
        dict.fromkeys((r.addr, half.producer_group or "") for r in half_results for half in _halves(r))
    )
    results = admin.producers.find_connected(places)
    return TransactionObservation(
        listing, half_results, discarded_results,
        {place: r.result for place, r in zip(places, results, strict=True)}, now_ms,
    )  # fmt: skip


def _halves(result: ServerResult[HalfMessages]) -> Sequence[HalfMessage]:
    return () if result.result is None else result.result.messages


def judge(scale: CheckScale, seen: TransactionObservation) -> CheckFinding:
    """Judge the age of the oldest half message. One whose producers are gone is at least a warning."""
    names = {addr: name for name, addr in seen.listing.master_addrs.items()}
    halves = [
        # A broker writes a half message again at each check. Its birth is what the broker judges by.
        WaitingHalf(
            names[r.addr], half, max(seen.now_ms - half.message.born_timestamp, 0) / 1000,
            seen.connected[r.addr, half.producer_group or ""],
        )
        for r in seen.half_results for half in _halves(r)
    ]  # fmt: skip
    discarded = [half for r in seen.discarded_results for half in _halves(r)]
    failures = [
        *dict.fromkeys(list_failures((*seen.half_results, *seen.discarded_results), names)),
        *(
            f"not read: {count_noun(count, noun)}"
            for results, noun in (
                (seen.half_results, "newer half message"),
                (seen.discarded_results, "older discarded message"),
            )
            if (count := sum(r.result.unread_count for r in results if r.result is not None))
        ),
        *seen.listing.masterless_lines,
        *seen.listing.failure_lines,
    ]
    if not seen.listing.groups_by_server:
        return scale.make_unknown_finding("no name server returned a list of brokers", failures)
    oldest = max((found.age_seconds for found in halves), default=0.0)
    abandoned_count = sum(found.connected is False for found in halves)
    figures = {
        "oldest": round(oldest, 1),
        "half": len(halves),
        "abandoned": abandoned_count,
        "discarded": len(discarded),
    }
    minimum_state = CheckState.WARNING if abandoned_count or discarded else CheckState.OK
    summary = "no half message was found" if failures else "no half message waits for a decision"
    if halves:
        summary = f"{'at least ' if failures else ''}{count_noun(len(halves), 'half message')}"
        summary += f", the oldest is {oldest:.0f} s old"
    if abandoned_count:
        summary += f"; the producers of {abandoned_count} are gone"
    if discarded:
        summary += f"; brokers discarded {len(discarded)} in the last hour"
    details = [*_describe_groups(halves), *_describe_discarded(discarded)]
    return scale.make_finding(summary, figures, details, doubts=failures, minimum_state=minimum_state)


def _describe_groups(halves: Sequence[WaitingHalf]) -> list[str]:
    """A line per producer group, topic and broker."""
    by_place: dict[tuple[str, str, str], list[WaitingHalf]] = {}
    for found in sorted(halves, key=lambda found: -found.age_seconds):
        by_place.setdefault((*_origin(found.half), found.broker_name), []).append(found)
    lines = []
    for (group, topic, broker_name), (oldest, *others) in by_place.items():
        clients = (
            "its clients are unknown"
            if oldest.connected is None
            else "a client is connected"
            if oldest.connected
            else "no client is connected: start a producer of this group, which the broker asks for the "
            "decision"
        )
        lines.append(
            f"producer group {group}: {count_noun(1 + len(others), 'half message')} for {topic} "
            f"on {broker_name}, the oldest is {oldest.age_seconds:.0f} s old; {clients}"
        )
    hidden_count = len(lines) - _MAX_SHOWN
    return [*lines[:_MAX_SHOWN], *([f"and {hidden_count} more"] if hidden_count > 0 else [])]


def _describe_discarded(discarded: Sequence[HalfMessage]) -> list[str]:
    return [
        f"discarded in the last hour: {count} for {topic} of producer group {group}, which did "
        "not answer the checks of the broker"
        for (group, topic), count in Counter(map(_origin, discarded)).most_common(_MAX_SHOWN)
    ]


def _origin(half: HalfMessage) -> tuple[str, str]:
    return half.producer_group or "unknown", half.topic or "an unknown topic"


CHECK = Check(
    "transactions",
    (
        CheckMeasure(
            "oldest", "age of the oldest half message without a decision", "s", warning="60", critical="600"
        ),
        CheckMeasure("half", "half messages without a decision"),
        CheckMeasure("abandoned", "those whose producer group has no client connected to the broker"),
        CheckMeasure("discarded", "half messages that brokers discarded in the last hour"),
    ),
    observe,
    judge,
    warning_when="a half message waits for over a minute, its producer group has no connected client, or "
    "brokers discarded half messages in the last hour",
    critical_when="a half message waits for over ten minutes",
    remedy="nsadmin transaction list",
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
