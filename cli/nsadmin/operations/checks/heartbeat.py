"""Checks how long ago name servers received the last heartbeat of each broker.

Only nsadmin's name server reports heartbeat ages. Apache's lists a broker for two minutes after its last
heartbeat and reports no age, so there a listed broker that does not answer is a warning.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.clusters import HeartbeatAge, HeartbeatListing
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckMeasure,
    CheckState,
    list_failures,
    worst_state,
)
from nsadmin.operations.checks.listed_brokers import name_brokers


class HeartbeatObservation(NamedTuple):
    """The brokers and heartbeat ages of each name server, and the unreachable brokers by address."""

    heartbeat_listings: Sequence[ServerResult[HeartbeatListing]]
    silence_reasons: Mapping[str, str]


def observe(admin: AdminClient, scope: CheckScope) -> HeartbeatObservation:
    """Ask each name server, and every broker that at least one of them lists."""
    listings = admin.clusters.get_heartbeats_each()
    groups = [group for _, listing, _ in listings if listing for group in listing.info.broker_groups]
    addrs = sorted(name_brokers(groups))
    silence_reasons = {
        addr: error_text(error)
        for addr, _, error in admin.brokers.get_runtime_info(addrs)
        if error is not None and is_unreachable(error)
    }
    return HeartbeatObservation(listings, silence_reasons)


class _ServerHeartbeats(NamedTuple):
    """The brokers in the list of one name server, and their heartbeat ages if it reports them."""

    addr: str
    broker_names: Mapping[str, str]
    ages: Mapping[str, HeartbeatAge] | None

    @property
    def oldest(self) -> tuple[str, HeartbeatAge] | None:
        """The listed broker with the longest silence, as a share of its timeout."""
        ages = self.ages or {}
        listed = ((addr, ages[addr]) for addr in self.broker_names if addr in ages)
        return max(listed, key=lambda item: item[1].elapsed_share, default=None)


def judge(scale: CheckScale, seen: HeartbeatObservation) -> CheckFinding:
    """Judge by the longest silence. Where ages are unknown, judge by which brokers answer."""
    failure_lines = list_failures(seen.heartbeat_listings, kind="name server")
    views = [
        _ServerHeartbeats(addr, name_brokers(listing.info.broker_groups), listing.heartbeats)
        for addr, listing, _ in seen.heartbeat_listings
        if listing is not None
    ]
    if not views:
        return scale.make_unknown_finding(
            "no name server returned the brokers with heartbeats", failure_lines
        )
    names = {addr: name for view in views for addr, name in view.broker_names.items()}
    unheard_lines = [
        f"name server {view.addr} receives no heartbeats from {name}"
        for view in views
        for addr, name in names.items()
        if addr not in view.broker_names
    ]
    views_with_ages = [view for view in views if view.ages is not None]
    silent_lines = [
        f"{names[addr]} does not answer: {reason}" for addr, reason in seen.silence_reasons.items()
    ]
    minimum_state = CheckState.WARNING if unheard_lines or failure_lines else CheckState.OK
    if seen.silence_reasons and len(views_with_ages) < len(views):
        minimum_state = CheckState.WARNING
    if not names:
        minimum_state = worst_state([minimum_state, CheckState.UNKNOWN])
    return scale.make_finding(
        _format_summary(names, views_with_ages, seen.silence_reasons),
        {**_measure_silences(views_with_ages), "unheard": len(unheard_lines)},
        [
            *_format_oldest(views_with_ages),
            *unheard_lines,
            *silent_lines,
            *_format_unsupported(views),
            *failure_lines,
        ],
        minimum_state=minimum_state,
    )


def _measure_silences(views: Sequence[_ServerHeartbeats]) -> Figures:
    """No figures if no name server reports ages, because that is not a fault of the cluster."""
    oldest_ages = {view.addr: view.oldest[1] for view in views if view.oldest}
    if not oldest_ages:
        return {}
    return {
        "longest": round(max(age.elapsed_share for age in oldest_ages.values()) * 100, 1),
        "silence": {addr: age.silent_ms / 1000 for addr, age in oldest_ages.items()},
    }


def _format_oldest(views: Sequence[_ServerHeartbeats]) -> list[str]:
    """Format the longest silence at each name server."""
    return [
        f"name server {view.addr} received the last heartbeat of {view.broker_names[addr]} "
        f"{age.silent_ms / 1000:.1f} s ago, and removes the broker after {age.timeout_ms / 1000:g} s"
        for view in views
        for addr, age in filter(None, [view.oldest])
    ]


def _format_unsupported(views: Sequence[_ServerHeartbeats]) -> list[str]:
    return [
        f"name server {view.addr} does not report the heartbeats of its "
        f"{count_noun(len(view.broker_names), 'broker')}. "
        "Each sent one within the last two minutes, because it is still listed."
        for view in views
        if view.ages is None
    ]


def _format_summary(
    names: Mapping[str, str], views: Sequence[_ServerHeartbeats], silence_reasons: Mapping[str, str]
) -> str:
    if not names:
        return "no broker is registered"
    oldest_of_servers = [view.oldest for view in views if view.oldest]
    if oldest_of_servers:
        addr, age = max(oldest_of_servers, key=lambda item: item[1].elapsed_share)
        return (
            f"{count_noun(len(names), 'broker')}; the longest time without a heartbeat is "
            f"{age.silent_ms / 1000:.1f} s ({names[addr]})"
        )
    return (
        f"the ages of heartbeats are unknown; {len(names) - len(silence_reasons)} of {len(names)} listed "
        "brokers answer"
    )


CHECK = Check(
    "heartbeat",
    (
        CheckMeasure(
            "longest",
            "longest time without a heartbeat, as a share of the time until the broker expires",
            "%",
            warning="50",
            critical="75",
        ),
        CheckMeasure("silence", "the same in seconds, at each name server", "s", label_name="namesrv"),
        CheckMeasure("unheard", "brokers that are missing on some name servers only"),
    ),
    observe,
    judge,
    warning_when="a broker's last heartbeat is older than half of its timeout",
    critical_when="older than three quarters of the timeout",
    remedy="nsadmin clusterList",
    warning_help="Silence of a broker, in percent of its timeout. Default: 50.",
    critical_help="Silence of a broker, in percent of its timeout. Default: 75.",
    help="""Check how long ago name servers received heartbeats of their brokers.

    Only nsadmin's name servers report this. Most brokers register every 30 s, and name servers remove them
    after 120 s of silence. So 25 percent is normal, and 50 percent means one missed heartbeat. Java name
    servers report only that a heartbeat came within the last two minutes. There, a listed broker that does
    not answer is a warning. On all name servers, a broker that only another name server lists is a warning.

    Examples:
        # Check the longest silence
        nsadmin check heartbeat
        # For Nagios, in percent of the brokers' timeout (exit code 2)
        nsadmin check heartbeat --critical @0:100 --format nagios
    """,
)
