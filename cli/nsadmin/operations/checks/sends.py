"""Checks how near brokers are to the limits at which they refuse to store messages: "system busy"."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.send_limits import LimitUse, find_limit_uses
from nsadmin.client.results import error_text, is_silent
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing
from nsadmin.operations.checks.looks import Look, compare_look

_LOOKS, _PAUSE_SECONDS = 5, 0.1
"""A queue fills and empties within milliseconds: one look often misses it."""
_FAILURES_KEY = "putMessageFailedTimes"
_USE_TEXTS = {
    "waitTimeMillsInSendQueue": "its oldest send waits {:.0f} ms, limit {:.0f} ms",
    "osPageCacheBusyTimeOutMills": "a write holds its commit log for {:.0f} ms, limit {:.0f} ms",
    "sendThreadPoolQueueCapacity": "its send queue has {:.0f} requests, limit {:.0f}",
    "endTransactionPoolQueueCapacity": "its transaction queue has {:.0f} requests, limit {:.0f}",
    "transientStorePoolSize": "no buffer of its transient store pool is free",
}
_LOW_TEXTS = {
    "sendThreadPoolQueueCapacity": "refuses a send while {:.0f} others wait",
    "waitTimeMillsInSendQueue": "refuses a send that waits for {:.0f} ms",
}


class SendObservation(NamedTuple):
    """Several runtime figures of each master, by address, its settings, and earlier failures."""

    listing: BrokerListing
    looks: Sequence[Sequence[ServerResult[RuntimeInfo]]]
    config_results: Sequence[ServerResult[BrokerConfig]]
    earlier: Look | None = None


def observe(admin: AdminClient, scope: CheckScope) -> SendObservation:
    """Look several times within half a second. A broker that does not answer the first time is asked once."""
    listing = listed_brokers.observe_listing(admin, scope.cluster_name, scope.inventory)
    addrs = sorted(listing.master_addrs.values())
    looks, answering_addrs = [], addrs
    for number in range(_LOOKS if addrs else 0):
        if number:
            scope.pause_seconds(_PAUSE_SECONDS)
        looks.append(admin.brokers.get_runtime_info(answering_addrs))
        answering_addrs = [result.addr for result in looks[-1] if not is_silent(result.error)]
    failures = {
        addr: count
        for addr, info, _ in (looks[-1] if looks else ())
        if info is not None and (count := info.get_number(_FAILURES_KEY)) is not None
    }
    return SendObservation(
        listing,
        looks,
        admin.broker_configs.get_each(answering_addrs) if answering_addrs else [],
        compare_look(scope, "sends", Look(admin.clock_ms, failures)),
    )


def judge(scale: CheckScale, seen: SendObservation) -> CheckFinding:
    """Judge by the limit of which a broker uses the largest share."""
    names = {addr: name for name, addr in seen.listing.master_addrs.items()}
    configs = {addr: config for addr, config, _ in seen.config_results if config is not None}
    errors = {
        addr: error
        for results in (*seen.looks, seen.config_results)
        for addr, _, error in results
        if error is not None
    }
    doubts = [
        *(f"{names[addr]}: {error_text(error)}" for addr, error in errors.items()),
        *seen.listing.masterless_lines,
        *seen.listing.failure_lines,
    ]
    infos = {
        addr: [r.result for look in seen.looks for r in look if r.addr == addr and r.result] for addr in names
    }
    all_uses = {
        addr: [use for info in addr_infos for use in find_limit_uses(info, configs.get(addr, {})).values()]
        for addr, addr_infos in infos.items()
    }
    uses = {addr: use for addr, addr_uses in all_uses.items() if (use := _find_nearest(addr_uses))}
    doubts += [f"{names[a]} does not report its send queue" for a in infos if infos[a] and a not in uses]
    if not uses:
        return scale.make_unknown_finding(
            seen.listing.explain_nothing("no master reported its send queue"), doubts
        )
    nearest = max(uses, key=lambda addr: uses[addr].percent)
    failed = _count_failures(infos, seen.earlier)
    used_lines = {a: f"{names[a]}: {_describe(use)}" for a, use in uses.items() if use.percent >= 1}
    low_lines = [
        (addr, f"{names[addr]} {text.format(use.limit)}: {setting} (default {use.default:.0f})")
        for addr, addr_uses in all_uses.items()
        for setting, text in _LOW_TEXTS.items()
        for use in [use for use in addr_uses if use.setting == setting and use.is_low][:1]
    ]
    failure_lines = [
        (addr, f"{names[addr]} could not store {count:.0f} messages {seen.earlier.since_text}")
        for addr, count in failed.items()
        if count and seen.earlier is not None
    ]
    problem_lines = [*low_lines, *failure_lines]
    percent, use_text = uses[nearest].percent, _describe(uses[nearest])
    if busy := [names[addr] for addr, use in uses.items() if use.percent >= 100]:
        first, *others = sorted(busy, key=lambda name: name != names[nearest])
        more = f"; so do {abbreviate_names(others, 3)}" if others else ""
        summary = f"{first} refuses messages as too busy: {use_text}{more}"
    elif problem_lines:
        summary = problem_lines[0][1]
    elif scale.judge_value("pressure", percent) is CheckState.OK:
        summary = (
            f"no broker {'that answered ' if doubts else ''}refuses messages as too busy; the nearest to a "
            f"limit is {names[nearest]} ({percent:.0f} %): {use_text}"
        )
    else:
        summary = f"{names[nearest]} is at {percent:.0f} % of a limit: {use_text}"
    return scale.make_finding(
        summary,
        {
            "pressure": round(percent, 1),
            **({"failed": sum(failed.values())} if seen.earlier is not None else {}),
            "wait": _find_largest(names, infos, "sendThreadPoolQueueHeadWaitTimeMills", 1000),
            "queued": _find_largest(names, infos, "sendThreadPoolQueueSize"),
            "latency": _find_largest(names, infos, "putLatency99", 1000),
        },
        [*used_lines.values(), *(line for _, line in problem_lines)],
        doubts=doubts,
        minimum_state=CheckState.WARNING if problem_lines else CheckState.OK,
        affected=[names[nearest]],
    )._replace(remedies=listed_brokers.explain_brokers([*used_lines, *(addr for addr, _ in problem_lines)]))


def _find_nearest(uses: Sequence[LimitUse]) -> LimitUse | None:
    """The limit of which the largest share is used. A pool with a free buffer refuses nothing."""
    shares = (use for use in uses if use.setting != "transientStorePoolSize" or use.is_reached)
    return max(shares, key=lambda use: use.percent, default=None)


def _describe(use: LimitUse) -> str:
    return f"{_USE_TEXTS[use.setting].format(use.used, use.limit)} ({use.setting})"


def _count_failures(infos: Mapping[str, Sequence[RuntimeInfo]], earlier: Look | None) -> dict[str, float]:
    """Messages that could not be stored since the earlier look. A broker counts from its start."""
    if earlier is None:
        return {}
    return {
        addr: count - then if (then := earlier.figures.get(addr, count)) <= count else count
        for addr, looks in infos.items()
        if looks and (count := looks[-1].get_number(_FAILURES_KEY)) is not None
    }


def _find_largest(
    names: Mapping[str, str], infos: Mapping[str, Sequence[RuntimeInfo]], key: str, divisor: int = 1
) -> dict[str, float]:
    """The largest value of all looks, by broker."""
    return {
        names[addr]: max(values) / divisor
        for addr, looks in infos.items()
        if (values := [value for info in looks if (value := info.get_number(key)) is not None])
    }


CHECK = Check(
    "sends",
    (
        CheckMeasure(
            "pressure",
            "largest used share of a limit at which a master refuses messages",
            "%",
            warning="50",
            critical="90",
        ),
        CheckMeasure("failed", "messages that masters could not store since the earlier look"),
        CheckMeasure("wait", "age of the oldest request in the send queue", "s", label_name="broker"),
        CheckMeasure("queued", "requests in the send queue", label_name="broker"),
        CheckMeasure("latency", "time to store a message, 99th percentile", "s", label_name="broker"),
    ),
    observe,
    judge,
    warning_when="a master uses over half of a limit at which it refuses messages, such a limit is far below "
    "its default, or messages could not be stored",
    critical_when="a master uses over 90 percent of such a limit",
    remedy="nsadmin clusterList",
    takes_cluster=True,
    warning_help="Used share of the nearest limit, in percent. Default: 50.",
    critical_help="Used share of the nearest limit, in percent. Default: 90.",
    help="""Check how near masters are to the limits at which they refuse messages.

    Producers get "system busy" or "broker busy" then. A limit is the time that a request may wait in the send
    queue (waitTimeMillsInSendQueue). Others are the lengths of this queue and of the queue of transactions.
    A writer may hold the lock of the store for a limited time (osPageCacheBusyTimeOutMills), and the
    transient store pool has a limited number of buffers. The check looks five times in half a second.

    Examples:
        # Is any broker slow, overloaded or near a limit of its sends?
        nsadmin check sends
        # Warn later, at 80 percent of a limit
        nsadmin check sends --warning 80
    """,
)
