"""Expected rows of the reports about brokers and name servers, computed from the truth in plain Python.

Each function follows the definition of its report in docs/reference/data-dictionary.md, not its code.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.truth.recorded_view import (
    JOURNAL,
    TOLERANCE_MS,
    RecordedView,
    Span,
    is_known_at,
    list_runs,
    list_stays,
    pair_with_next,
)
from tests.truth.true_facts import BrokerSilence, BrokerStay, ClockStep, KvChange, ServerPause, TrueDrain

_SESSION_GAP_MS, _GRACE_MS, _ACT_GAP_MS = 600_000, 150_000, 60_000
_LOST = ("unregistered", "channel closed", "expired")
_SHORTEST_PAUSE_MS, _SURE_PAUSE_MS = 5_000, 7_000
_SHORTEST_SILENCE_MS, _SURE_SILENCE_MS = 90_000, 95_000

BrokerId = tuple[str, int]


class ExpectedFlap(NamedTuple):
    broker: BrokerId
    since: int
    until: int
    servers: frozenset[str]
    outages: int
    down_ms: int
    causes: frozenset[str]


class ExpectedAvailability(NamedTuple):
    """`undrained` is the row of a slave that a log knows only by its address: it belongs to no drain."""

    broker: BrokerId
    up_ms: int
    down_ms: int
    planned_ms: int
    unknown_ms: int
    partial_ms: int
    failures: int
    boundaries: int
    undrained: "ExpectedAvailability | None" = None


class ExpectedGap(NamedTuple):
    """A silence of a broker, or a pause of a name server (broker None). `is_sure`: a report must have it.

    If the clock changes meanwhile, `new_since` is the start by the new time.
    """

    server: str
    broker: BrokerId | None
    since: int
    new_since: int
    until: int
    end: str
    causes: frozenset[str]
    is_sure: bool


class ExpectedHealth(NamedTuple):
    server: str
    known_ms: int
    starts: int
    stops: int
    pauses: Span
    longest_pause_ms: int
    scan_gaps: Span


class ExpectedDrain(NamedTuple):
    """A row of an act that began at `act`. `since` is None if the act missed the name server."""

    server: str
    broker_name: str
    act: int
    since: int | None
    until: int | None
    outcome: str
    method: str | None
    topics: int | None


def expect_flaps(view: RecordedView) -> list[ExpectedFlap]:
    losses: dict[BrokerId, list[tuple[int, int, str, str]]] = {}
    for (server, broker_name, broker_id), stays in list_stays(view).items():
        for stay, next_stay in pair_with_next(stays):
            until = view.end_ms if next_stay is None else next_stay.since
            if stay.end in _LOST and stay.until < until:
                losses.setdefault((broker_name, broker_id), []).append((stay.until, until, server, stay.end))
    return [flap for broker, spans in losses.items() for flap in _merge_losses(broker, sorted(spans))]


def _merge_losses(broker: BrokerId, losses: Sequence[tuple[int, int, str, str]]) -> Iterator[ExpectedFlap]:
    session: list[tuple[int, int, str, str]] = []
    end = 0
    for loss in losses:
        if session and loss[0] - end > _SESSION_GAP_MS:
            yield _build_flap(broker, session)
            session = []
        session.append(loss)
        end = max(end, loss[1])
    yield _build_flap(broker, session)


def _build_flap(broker: BrokerId, session: Sequence[tuple[int, int, str, str]]) -> ExpectedFlap:
    outages = down_ms = end = 0
    for since, until, _, _ in session:
        outages += since > end
        down_ms += max(until, end) - max(since, end)
        end = max(end, until)
    reasons = Counter(reason for _, _, _, reason in session)
    most_frequent = frozenset(reason for reason in reasons if reasons[reason] == max(reasons.values()))
    servers = frozenset(server for _, _, server, _ in session)
    return ExpectedFlap(broker, session[0][0], end, servers, outages, down_ms, most_frequent)


def expect_availability(view: RecordedView) -> list[ExpectedAvailability]:
    brokers = sorted({(stay.broker_name, stay.broker_id) for stay in view.facts_of(BrokerStay)})
    drains = view.facts_of(TrueDrain)
    return [
        _sum_availability(view, b, drains)._replace(undrained=_sum_availability(view, b, ())) for b in brokers
    ]


def _sum_availability(
    view: RecordedView, broker: BrokerId, all_drains: Sequence[TrueDrain]
) -> ExpectedAvailability:
    stays = {server: list_stays(view).get((server, *broker), []) for server in view.servers}
    down_spans = {server: list(_down_spans(view, server, stays[server])) for server in view.servers}
    drains = [drain for drain in all_drains if drain.broker_name == broker[0]]
    first = min(
        max(stay.since, since)
        for server in view.servers
        for stay in stays[server]
        for since, until in view.known_spans[server]
        if stay.since < until and since < stay.until
    )
    up_spans = {server: [(stay.since, stay.until) for stay in stays[server]] for server in view.servers}
    moments = {first, view.end_ms, *(drain.since for drain in drains), *(drain.until for drain in drains)}
    for spans_by_server in (up_spans, down_spans, view.known_spans):
        moments |= {moment for server in view.servers for span in spans_by_server[server] for moment in span}
    sums: Counter[str] = Counter()
    failures, before = 0, ""
    ordered_moments = sorted(moment for moment in moments if first <= moment <= view.end_ms)
    for since, until in pairwise(ordered_moments):
        known = [server for server in view.servers if is_known_at(view, server, since)]
        up = sum(_contains(up_spans[server], since) for server in known)
        down = sum(_contains(down_spans[server], since) for server in known)
        is_planned = any(drain.server in known and drain.since <= since < drain.until for drain in drains)
        state = (
            "unknown" if not up and not down
            else "planned" if is_planned
            else "up" if up
            else "down"
        )  # fmt: skip
        sums[state] += until - since
        if state == "up" and down:
            sums["partial"] += until - since
        failures += state == "down" and before != "down"
        before = state if state != "unknown" else before
    return ExpectedAvailability(
        broker, sums["up"], sums["down"], sums["planned"], sums["unknown"], sums["partial"], failures,
        len(ordered_moments),
    )  # fmt: skip


def _contains(spans: Sequence[Span], moment: int) -> bool:
    return any(since <= moment < until for since, until in spans)


def _down_spans(view: RecordedView, server: str, stays: Sequence[BrokerStay]) -> Iterator[Span]:
    """A broker that was there when the name server ended has some time to register again.

    The time begins with each start, and again after each time in which the name server is unknown.
    """
    for stay, next_stay in pair_with_next(stays):
        until = view.end_ms if next_stay is None else next_stay.since
        if stay.end not in ("server ended", "") and stay.until < until:
            yield stay.until, until
        if stay.end == "server ended":
            for known_since, known_until in view.known_spans[server]:
                since = known_since + _GRACE_MS
                if stay.until <= known_since and since < min(known_until, until):
                    yield since, min(known_until, until)


def expect_gaps(view: RecordedView) -> list[ExpectedGap]:
    """Only journals of our name server contain silences."""
    if view.source != JOURNAL:
        return []
    silences = [
        ExpectedGap(
            silence.server,
            (silence.broker_name, silence.broker_id),
            silence.since,
            _shift_start(view, silence),
            silence.until,
            silence.end,
            _list_causes(view, silence),
            _is_surely_reported(view, silence),
        )
        for silence in view.facts_of(BrokerSilence)
    ]
    pauses = [
        ExpectedGap(
            pause.server, None, pause.since, pause.since, pause.until, "resumed", frozenset({"name server"}),
            pause.until - pause.since > _SURE_PAUSE_MS,
        )
        for pause in view.facts_of(ServerPause)
        if pause.until - pause.since > _SHORTEST_PAUSE_MS
    ]  # fmt: skip
    return silences + pauses


def _shift_start(view: RecordedView, silence: BrokerSilence) -> int:
    """The start by the clock at the end: a journal has the length of a silence, and a time in it."""
    clock_steps: list[ClockStep] = view.facts_of(ClockStep)
    return silence.since + sum(
        step.change_ms
        for step in clock_steps
        if step.server == silence.server and silence.since < step.at <= silence.until
    )


def _list_causes(view: RecordedView, silence: BrokerSilence) -> frozenset[str]:
    """The true causes, and "broker" if no name server that ran during the silence heard the broker."""
    long_at = silence.since + _SHORTEST_SILENCE_MS
    silent_servers = {
        other.server
        for other in view.facts_of(BrokerSilence)
        if (other.broker_name, other.broker_id) == (silence.broker_name, silence.broker_id)
        and other.since < silence.until
        and silence.since < other.until
    }
    witnesses = {
        server
        for server in view.servers
        if any(since <= silence.since and long_at <= until for since, until in view.known_spans[server])
        and any(
            stay.since <= long_at < stay.until
            for stay in list_stays(view).get((server, silence.broker_name, silence.broker_id), [])
        )
    }
    causes = {*silence.causes, "broker"} if witnesses <= silent_servers else silence.causes
    return frozenset(causes)


def _is_surely_reported(view: RecordedView, silence: BrokerSilence) -> bool:
    """Whether the end of the silence, or a scan in the middle of it, shows the silence."""
    runs = [run for run in list_runs(view, silence.server) if run.since <= silence.since < run.until]
    is_shown_by_end = silence.end == "resumed" and any(silence.until <= run.until for run in runs)
    sure_from = _shift_start(view, silence) + _SURE_SILENCE_MS
    last_scan = min([silence.until, *(run.active_until for run in runs)])
    has_scan = sure_from < last_scan and not any(
        pause.server == silence.server and pause.since < sure_from and last_scan <= pause.until + TOLERANCE_MS
        for pause in view.facts_of(ServerPause)
    )
    return is_shown_by_end or has_scan


def expect_health(view: RecordedView) -> list[ExpectedHealth]:
    rows = []
    for server in view.servers:
        runs = list_runs(view, server)
        pauses = (
            [pause.until - pause.since for pause in view.facts_of(ServerPause) if pause.server == server]
            if view.source == JOURNAL
            else []
        )
        rows.append(
            ExpectedHealth(
                server,
                # A clock that is ahead writes records that the report leaves out.
                sum(min(u, view.end_ms) - s for s, u in view.known_spans[server] if s < view.end_ms),
                len(runs),
                sum(run.end == "stopped" for run in runs),
                (
                    sum(pause > _SURE_PAUSE_MS for pause in pauses),
                    sum(pause > _SHORTEST_PAUSE_MS for pause in pauses),
                ),
                max(pauses, default=0),
                _count_scan_gaps(view, server),
            )
        )
    return rows


def _count_scan_gaps(view: RecordedView, server: str) -> Span:
    """Only 5.x writes its scans. How many gaps there are at least and at most."""
    if view.source != "5.x":
        return 0, 0
    idle_spans = [(p.since, p.until) for p in view.facts_of(ServerPause) if p.server == server]
    idle_spans += [(run.until, after.since) for run, after in pairwise(list_runs(view, server))]
    lengths = [until - since for since, until in sorted(idle_spans)]
    return sum(length > 16_000 for length in lengths), sum(length > 4_000 for length in lengths)


def expect_drains(view: RecordedView) -> list[ExpectedDrain]:
    rows = []
    drains_by_broker: dict[str, list[TrueDrain]] = {}
    for drain in sorted(view.facts_of(TrueDrain), key=lambda drain: drain.since):
        drains_by_broker.setdefault(drain.broker_name, []).append(drain)
    for broker_name, drains in drains_by_broker.items():
        for act_drains in _split_acts(drains):
            act = act_drains[0].since
            rows += [
                ExpectedDrain(
                    drain.server, broker_name, act, drain.since,
                    drain.until if drain.outcome != "holds" else None, drain.outcome, drain.method,
                    drain.topics,
                )
                for drain in act_drains
            ]  # fmt: skip
            rows += [
                ExpectedDrain(server, broker_name, act, None, None, "missed", None, None)
                for server in view.servers
                if is_known_at(view, server, act)
                and _has_broker(view, server, broker_name, act)
                and not any(
                    d.server == server and d.since <= act + _ACT_GAP_MS and d.until > act for d in drains
                )
            ]
    return rows


def _split_acts(drains: Sequence[TrueDrain]) -> list[list[TrueDrain]]:
    acts: list[list[TrueDrain]] = []
    for drain in drains:
        if not acts or drain.since - acts[-1][-1].since > _ACT_GAP_MS:
            acts.append([])
        acts[-1].append(drain)
    return acts


def _has_broker(view: RecordedView, server: str, broker_name: str, moment: int) -> bool:
    return any(
        stay.server == server and stay.broker_name == broker_name and stay.since <= moment < stay.until
        for stay in view.facts_of(BrokerStay)
    )


def expect_config_changes(view: RecordedView) -> list[KvChange]:
    return view.facts_of(KvChange)
