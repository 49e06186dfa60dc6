"""Checks how long ago name servers received the last heartbeat of each broker.

Only nsadmin's name server reports heartbeat ages. Apache's lists a broker for two minutes after its last
heartbeat and reports no age, so there a listed broker that does not answer is a warning.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.clusters import HeartbeatAge, HeartbeatListing
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.operations.checks.findings import CheckFinding, CheckSample, CheckState, worst_state
from nsadmin.operations.checks.thresholds import CheckScale

_MAX_SHOWN = 10


class HeartbeatObservation(NamedTuple):
    """The brokers and heartbeat ages of each name server, and the unreachable brokers by address."""

    heartbeat_listings: Sequence[ServerResult[HeartbeatListing]]
    silence_reasons: Mapping[str, str]


def observe_heartbeats(admin: AdminClient) -> HeartbeatObservation:
    """Ask each name server, and every broker that at least one of them lists."""
    heartbeat_listings = admin.clusters.get_heartbeats_each()
    broker_addrs = sorted(
        {
            broker_addr
            for _, heartbeat_listing, _ in heartbeat_listings
            if heartbeat_listing is not None
            for broker_addr in _name_brokers(heartbeat_listing)
        }
    )
    silence_reasons = {
        runtime_result.addr: error_text(runtime_result.error)
        for runtime_result in admin.brokers.get_runtime_info(broker_addrs)
        if runtime_result.error is not None and is_unreachable(runtime_result.error)
    }
    return HeartbeatObservation(heartbeat_listings, silence_reasons)


def _name_brokers(heartbeat_listing: HeartbeatListing) -> dict[str, str]:
    """Return a display name, such as "broker-a 0 at HOST:PORT", for each broker address."""
    return {
        broker_addr: f"{broker_group.broker_name} {broker_id} at {broker_addr}"
        for broker_group in heartbeat_listing.info.broker_groups
        for broker_id, broker_addr in broker_group.broker_addrs.items()
    }


class _ServerHeartbeats(NamedTuple):
    """The brokers in the list of one name server, and their heartbeat ages if it reports them."""

    addr: str
    broker_names: Mapping[str, str]
    heartbeat_ages: Mapping[str, HeartbeatAge] | None


def judge_heartbeats(scale: CheckScale, observation: HeartbeatObservation) -> CheckFinding:
    """Judge by the longest silence. Where ages are unknown, judge by which brokers answer."""
    failure_lines = [
        f"name server {server_addr}: {error_text(error)}"
        for server_addr, _, error in observation.heartbeat_listings
        if error is not None
    ]
    server_views = [
        _read_listing(server_addr, heartbeat_listing)
        for server_addr, heartbeat_listing, _ in observation.heartbeat_listings
        if heartbeat_listing is not None
    ]
    if not server_views:
        return scale.make_unknown_finding(
            "no name server returned the brokers with heartbeats", failure_lines
        )
    broker_names = {
        server_addr: broker_name
        for view in server_views
        for server_addr, broker_name in view.broker_names.items()
    }
    unheard_lines = [
        f"name server {view.addr} receives no heartbeats from {broker_names[broker_addr]}"
        for view in server_views
        for broker_addr in _missing_addrs(view, broker_names)
    ]
    views_with_ages = [view for view in server_views if view.heartbeat_ages is not None]
    silent_lines = [
        f"{broker_names[broker_addr]} does not answer: {silence_reason}"
        for broker_addr, silence_reason in observation.silence_reasons.items()
    ]
    minimum_state = CheckState.WARNING if unheard_lines or failure_lines else CheckState.OK
    if observation.silence_reasons and len(views_with_ages) < len(server_views):
        minimum_state = CheckState.WARNING
    if not broker_names:
        minimum_state = worst_state([minimum_state, CheckState.UNKNOWN])
    samples = [*_sample_silences(scale, views_with_ages), scale.make_sample("unheard", len(unheard_lines))]
    detail_lines = [
        *_format_oldest(views_with_ages),
        *unheard_lines,
        *silent_lines,
        *_format_unsupported(server_views),
        *failure_lines,
    ]
    return scale.make_finding(
        _format_summary(broker_names, views_with_ages, observation.silence_reasons),
        samples,
        detail_lines,
        minimum_state=minimum_state,
    )


def _read_listing(namesrv_addr: str, heartbeat_listing: HeartbeatListing) -> _ServerHeartbeats:
    broker_names = _name_brokers(heartbeat_listing)
    reported_ages = heartbeat_listing.heartbeats
    heartbeat_ages = (
        None
        if reported_ages is None
        else {
            broker_addr: reported_ages[broker_addr]
            for broker_addr in broker_names
            if broker_addr in reported_ages
        }
    )
    return _ServerHeartbeats(namesrv_addr, broker_names, heartbeat_ages)


def _missing_addrs(view: _ServerHeartbeats, broker_names: Mapping[str, str]) -> list[str]:
    return [broker_addr for broker_addr in broker_names if broker_addr not in view.broker_names]


def _find_oldest(view: _ServerHeartbeats) -> tuple[str, HeartbeatAge] | None:
    return max(
        (view.heartbeat_ages or {}).items(),
        key=lambda addr_and_age: addr_and_age[1].elapsed_share,
        default=None,
    )


def _sample_silences(
    scale: CheckScale, views_with_ages: Sequence[_ServerHeartbeats]
) -> Iterator[CheckSample]:
    """Yield no sample if no name server reports ages, because that is not a fault of the cluster."""
    oldest_ages = [
        (view.addr, oldest_entry[1]) for view in views_with_ages if (oldest_entry := _find_oldest(view))
    ]
    if oldest_ages:
        yield scale.make_sample("longest", round(max(age.elapsed_share for _, age in oldest_ages) * 100, 1))
    for namesrv_addr, age in oldest_ages:
        yield scale.make_sample("silence", age.silent_ms / 1000, namesrv_addr)


def _format_oldest(views_with_ages: Sequence[_ServerHeartbeats]) -> list[str]:
    """Format the longest silence at each name server."""
    return [
        f"name server {view.addr} received the last heartbeat of {view.broker_names[addr]} "
        f"{age.silent_ms / 1000:.1f} s ago, and removes the broker after {age.timeout_ms / 1000:g} s"
        for view in views_with_ages
        for addr, age in filter(None, [_find_oldest(view)])
    ]


def _format_unsupported(server_views: Sequence[_ServerHeartbeats]) -> list[str]:
    return [
        f"name server {view.addr} does not report the heartbeats of its {len(view.broker_names)} brokers. "
        "Each sent one within the last two minutes, because it is still listed."
        for view in server_views
        if view.heartbeat_ages is None
    ]


def _format_summary(
    names: Mapping[str, str], views_with_ages: Sequence[_ServerHeartbeats], silent_texts: Mapping[str, str]
) -> str:
    oldest_entries = [oldest_entry for view in views_with_ages if (oldest_entry := _find_oldest(view))]
    if not names:
        return "no broker is registered"
    if oldest_entries:
        addr, age = max(oldest_entries, key=lambda addr_and_age: addr_and_age[1].elapsed_share)
        return (
            f"{len(names)} brokers; the longest time without a heartbeat is {age.silent_ms / 1000:.1f} s "
            f"({names[addr]})"
        )
    return (
        f"the ages of heartbeats are unknown; {len(names) - len(silent_texts)} of {len(names)} listed "
        "brokers answer"
    )
