"""Checks whether the clocks of brokers, and that of this machine, show the same time."""

from collections.abc import Sequence
from math import ceil, copysign
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.results import error_text
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.listed_brokers import BrokerListing

_EFFECT = (
    "a broker stores messages with its own time: delayed messages, searches by time and retention follow it"
)
_NOT_IN_BUNDLE = "a bundle does not tell when its brokers answered"


class ClockObservation(NamedTuple):
    """The answers of brokers, and this machine's time before and after them."""

    listing: BrokerListing
    runtime_results: Sequence[ServerResult[RuntimeInfo]]
    before_ms: int
    after_ms: int


def observe(admin: AdminClient, scope: CheckScope) -> ClockObservation:
    if admin.is_static:
        scope.skip_if(True, _NOT_IN_BUNDLE)
        raise RocketMQError(_NOT_IN_BUNDLE)
    listing = listed_brokers.observe_listing(admin, scope.cluster_name)
    addrs = sorted(listing.broker_names)
    before_ms, results, after_ms = _ask(admin, addrs)
    failures = [result for result in results if result.error is not None]
    if 0 < len(failures) < len(results):
        # The wait for silent brokers hides when the others answered.
        before_ms, answers, after_ms = _ask(admin, [r.addr for r in results if r.error is None])
        results = [*answers, *failures]
    return ClockObservation(listing, results, before_ms, after_ms)


def _ask(admin: AdminClient, addrs: Sequence[str]) -> tuple[int, list[ServerResult[RuntimeInfo]], int]:
    return admin.clock_ms, admin.brokers.get_runtime_info(addrs), admin.clock_ms


def judge(scale: CheckScale, seen: ClockObservation) -> CheckFinding:
    """Judge by how far each clock is from the middle one. With a single broker, that is this machine's."""
    names, doubts, clocks = seen.listing.broker_names, list[str](), dict[str, float]()
    for addr, info, error in seen.runtime_results:
        if info is not None and info.clock_ms is not None:
            clocks[names[addr]] = (info.clock_ms - (seen.before_ms + seen.after_ms) / 2) / 1000
        else:
            doubts.append(f"{names[addr]}: {error_text(error) if error else 'reports no time'}")
    doubts += seen.listing.failure_lines
    if not clocks:
        return scale.make_unknown_finding(seen.listing.explain_nothing("no broker reported its time"), doubts)
    middle = _find_middle([*clocks.values()])
    # A slow answer is not a wrong clock.
    slack = (seen.after_ms - seen.before_ms) / 1000
    distances = {name: _shorten(clock - middle, slack) for name, clock in clocks.items()}
    own_distance = _shorten(-middle, slack)
    longest = max(map(abs, distances.values()))

    def is_wrong(distance: float) -> bool:
        return scale.judge_value("away", abs(distance)) is not CheckState.OK

    wrong = [
        f"{name} is {_describe(distance)} {'the others' if len(clocks) > 1 else 'this machine'}"
        for name, distance in sorted(distances.items(), key=lambda item: -abs(item[1]))
        if is_wrong(distance)
    ]
    if is_wrong(own_distance):
        wrong.append(f"the clock of this machine is {_describe(own_distance)} the brokers")
    summary = (
        f"the clocks of {count_noun(len(clocks), 'broker')} and of this machine differ by at most "
        f"{ceil(max(longest, abs(own_distance), 1))} s"
    )
    if wrong:
        summary = f"{len(wrong)} clocks are wrong; {wrong[0]}" if wrong[1:] else wrong[0]
    return scale.make_finding(
        summary,
        {"away": longest, "own": abs(own_distance), "ahead": distances},
        [*(wrong if wrong[1:] else ()), _EFFECT] if wrong else (),
        doubts=doubts,
        minimum_state=CheckState.WARNING if is_wrong(own_distance) else CheckState.OK,
    )


def _find_middle(clocks: Sequence[float]) -> float:
    """The middle one; this machine's clock, 0 here, decides between halves of the brokers."""
    if len(clocks) == 1:
        return 0.0
    return sorted(clocks if len(clocks) % 2 else [*clocks, 0.0])[len(clocks) // 2]


def _shorten(distance: float, slack: float) -> float:
    return round(copysign(max(abs(distance) - slack, 0.0), distance), 1)


def _describe(distance: float) -> str:
    return f"{abs(distance):.0f} s {'ahead of' if distance > 0 else 'behind'}"


CHECK = Check(
    "clocks",
    (
        CheckMeasure(
            "away",
            "longest distance of a broker's clock from the middle one of all",
            "s",
            warning="5",
            critical="60",
        ),
        CheckMeasure("own", "distance of this machine's clock from the middle one", "s"),
        CheckMeasure(
            "ahead",
            "seconds that a broker's clock is ahead of the middle one, negative if behind",
            "s",
            label_name="broker",
        ),
    ),
    observe,
    judge,
    warning_when="a broker's clock, or that of this machine, differs from the others by more than 5 s",
    critical_when="a broker's clock differs by more than 60 s",
    remedy="nsadmin check clocks",
    takes_cluster=True,
    warning_help="Difference from the middle clock, in seconds. Default: 5.",
    critical_help="Difference of a broker's clock from the middle one, in seconds. Default: 60.",
    help="""Check the clocks of brokers for clock skew: whether the time differs between them.

    A broker with a wrong clock stores wrong times. So delayed messages come early or late, searches by time
    miss messages, and files are deleted too early or too late. The clock of this machine counts, too. Each
    clock is known to within a second. Set the time of a machine with NTP.

    Examples:
        # Do the clocks of all brokers agree?
        nsadmin check clocks
        # Accept only two seconds of difference in a cluster
        nsadmin check clocks --cluster cluster-a --warning 2
    """,
)
