"""Checks how full the disks of brokers are, and when they will be full."""

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.console.phrases import abbreviate_names, format_byte_size
from nsadmin.operations.broker_disks import REFUSING, find_fullest, judge_disks, parse_disk_capacity
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, list_failures
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.looks import HOUR_MS, Look, compare_look

_DAY_MS = 24 * HOUR_MS
_LEAST_AGE_MS = HOUR_MS // 6
"""Nothing is said about growth in a shorter time: one file that a broker deletes would outweigh it."""
_MAX_SHOWN = 4


class DiskObservation(NamedTuple):
    """The runtime figures and settings of all brokers, by address, and the store sizes of an earlier look."""

    listing: BrokerListing
    runtime_results: Sequence[ServerResult[RuntimeInfo]]
    config_results: Sequence[ServerResult[BrokerConfig]]
    now_ms: int
    earlier: Look | None = None


def observe(admin: AdminClient, scope: CheckScope) -> DiskObservation:
    listing = listed_brokers.observe_listing(admin, scope.cluster_name)
    results = admin.brokers.get_runtime_info(sorted(listing.broker_names))
    sizes = {addr: size for addr, info, _ in results if info and (size := _store_bytes(info)) is not None}
    look = Look(admin.clock_ms, sizes)
    return DiskObservation(
        listing,
        results,
        admin.broker_configs.get_each([addr for addr, info, _ in results if info is not None]),
        look.at_ms,
        compare_look(scope, "disk", look, _DAY_MS),
    )


def _store_bytes(info: RuntimeInfo) -> int | None:
    return info.get_difference("commitLogMaxOffset", "commitLogMinOffset")


def judge(scale: CheckScale, seen: DiskObservation) -> CheckFinding:
    """Judge each disk by its distance from the level at which its broker refuses messages."""
    names = seen.listing.broker_names
    configs = {addr: config for addr, config, _ in seen.config_results if config is not None}
    # A share of -1 is that of a broker that cannot read its disk.
    shares = {
        addr: share * 100
        for addr, info, _ in seen.runtime_results
        if info is not None and (share := find_fullest(info)[1]) >= 0
    }
    rooms = {addr: REFUSING.of(configs.get(addr, {})) - percent for addr, percent in shares.items()}
    states = judge_disks(seen.runtime_results, seen.config_results)
    doubts = [
        *(f"{names[addr]} {text}" for addr, text in states.unknown.items()),
        *list_failures((r for r in seen.runtime_results if r.addr not in states.unknown), names),
        *list_failures((r for r in seen.config_results if r.addr not in states.unknown), names),
        *seen.listing.failure_lines,
    ]
    if not rooms:
        return scale.make_unknown_finding(seen.listing.explain_nothing("no broker reported its disk"), doubts)
    fullest = min(rooms, key=lambda addr: rooms[addr])
    growth = _measure_growth(seen)
    days = {addr: max(rooms[addr], 0) / percent for addr, percent in growth.items() if addr in rooms}
    oldest_hours = {
        addr: info.oldest_message_hours(seen.now_ms / 1000)
        for addr, info, _ in seen.runtime_results
        if info is not None
    }
    figures: Figures = {
        "room": round(rooms[fullest], 1),
        **({"daysLeft": round(min(days.values()), 1)} if days else {}),
        "used": {names[addr]: round(percent, 1) for addr, percent in shares.items()},
        "oldestMessage": {
            names[addr]: round(hours * 3600) for addr, hours in oldest_hours.items() if hours is not None
        },
    }
    minimum_state = CheckState.WARNING if states.deletions else CheckState.OK
    if states.refusals:
        minimum_state = CheckState.CRITICAL
    full = {**states.refusals, **states.deletions}
    details = [
        *(f"{names[addr]} {text}" for addr, text in full.items()),
        *(
            f"{names[addr]} refuses messages {_describe_refusal(seen, day_count, growth[addr])}"
            for addr, day_count in days.items()
        ),
    ]
    summary = (
        f"the fullest disk is that of {names[fullest]}: {shares[fullest]:.0f} %"
        f"{_describe_size(seen, fullest)} (room until writes are "
        f"refused at {shares[fullest] + rooms[fullest]:.0f} %: {rooms[fullest]:.0f} %)"
    )
    if states.refusals:
        refusing = abbreviate_names([names[addr] for addr in states.refusals], _MAX_SHOWN)
        summary = f"{refusing} refuses messages: its disk is full"
    elif days:
        first = min(days, key=lambda addr: days[addr])
        subject = "it" if first == fullest else names[first]
        summary += f"; {subject} refuses messages {_describe_refusal(seen, days[first], growth[first])}"
    elif seen.earlier is None or seen.now_ms - seen.earlier.at_ms < _LEAST_AGE_MS:
        summary += "; growth is known when the check runs again after 10 minutes"
    else:
        summary += f"; no store grew {seen.earlier.since_text}"
    finding = scale.make_finding(
        summary,
        figures,
        details,
        doubts=doubts,
        minimum_state=minimum_state,
        affected=[names[addr] for addr in full or [fullest]],
    )
    return finding._replace(remedies=listed_brokers.explain_brokers([*full, *days]))


def _describe_size(seen: DiskObservation, addr: str) -> str:
    """The size of the disk, if the broker reports it."""
    [info] = [result.result for result in seen.runtime_results if result.addr == addr]
    size = parse_disk_capacity(info.table.get("commitLogDirCapacity", "") if info else "").get("Total")
    return f" of {format_byte_size(int(size))}" if size else ""


def _describe_refusal(seen: DiskObservation, day_count: float, percent: float) -> str:
    """When a broker refuses messages, and from which growth that follows."""
    assert seen.earlier is not None
    duration = f"{day_count * 24:.0f} hours" if day_count < 2 else f"{day_count:.0f} days"
    return (
        f"in {duration}, if it deletes none and its store grows by {percent:.2g} % of the disk a day, as "
        f"{seen.earlier.since_text}"
    )


def _measure_growth(seen: DiskObservation) -> dict[str, float]:
    """The percent of the disk by which stores grew a day since the earlier look; none for the others."""
    if seen.earlier is None or seen.now_ms - seen.earlier.at_ms < _LEAST_AGE_MS:
        return {}
    percents = {}
    for addr, info, _ in seen.runtime_results:
        store_bytes = None if info is None else _store_bytes(info)
        if info is None or store_bytes is None or addr not in seen.earlier.figures:
            continue
        disk_bytes = parse_disk_capacity(info.table.get("commitLogDirCapacity", "")).get("Total")
        growth = store_bytes - seen.earlier.figures[addr]
        if disk_bytes and growth > 0:
            passed_days = (seen.now_ms - seen.earlier.at_ms) / _DAY_MS
            percents[addr] = 100 * growth / disk_bytes / passed_days
    return percents


CHECK = Check(
    "disk",
    (
        CheckMeasure(
            "room",
            "points of percent that the fullest disk is below the level at which its broker refuses messages "
            "(`diskSpaceWarningLevelRatio`)",
            "%",
            warning="15:",
            critical="5:",
            advise_limit=lambda percent: (
                f"the value is the room that is left until a broker refuses messages "
                f"({REFUSING.default} % by default): "
                f"to alert above {percent:g} % used, use {max(REFUSING.default - percent, 0):g}:"
            ),
        ),
        CheckMeasure("daysLeft", "days until a broker refuses messages, if its store grows as before"),
        CheckMeasure("used", "used share of the fuller disk of the broker", "%", label_name="broker"),
        CheckMeasure("oldestMessage", "age of the oldest message of the broker", "s", label_name="broker"),
    ),
    observe,
    judge,
    warning_when="a disk is less than 15 points below the level at which its broker refuses messages, or "
    "above `diskSpaceCleanForciblyRatio`, so that the broker deletes messages before `fileReservedTime`",
    critical_when="a disk is less than 5 points below that level, or above it",
    remedy="nsadmin statsAll --no-system --bytes --sort -inBytes24Hour --limit 5",
    takes_cluster=True,
    warning_help="Points of percent below the level of refusal. Default: 15: (at least 15).",
    critical_help="Points of percent below the level of refusal. Default: 5: (at least 5).",
    help="""Check how full the disks of brokers are: commit logs, consume queues and indexes.

    A broker refuses messages above its setting diskSpaceWarningLevelRatio (90 percent by default). Above
    diskSpaceCleanForciblyRatio (85), it deletes its oldest messages although they are younger than
    fileReservedTime. Above diskMaxUsedSpaceRatio (75), it deletes the older ones at once, not only at the
    hour deleteWhen. The check compares with the sizes of a day ago, or of the first run since then, and says
    in how many days a broker will refuse messages. That is no warning by itself: a broker deletes its oldest
    messages before its disk is full.

    `nsadmin statsAll --no-system --bytes --sort -inBytes24Hour --limit 5` shows the topics that fill the
    disks. `nsadmin getBrokerConfig --filter 'key~^(fileReservedTime|deleteWhen)$'` shows how long brokers
    keep messages, and `nsadmin brokerStatus --filter key=commitLogDirCapacity` the size of each disk.

    Examples:
        # How full each disk is, how old its oldest message is, and when it is full (from the second run on)
        nsadmin check disk
        # Critical if a disk is over 75 % full: 15 points below the 90 at which brokers refuse messages
        nsadmin check disk --critical 15:
    """,
)
