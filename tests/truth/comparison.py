"""Comparison: matches the rows of each report with the expected ones, and counts precision and recall."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.truth.expected_convergence import ExpectedConvergence, expect_convergence, find_percentile
from tests.truth.expected_presence import (
    ExpectedHealth,
    expect_availability,
    expect_config_changes,
    expect_drains,
    expect_flaps,
    expect_gaps,
    expect_health,
)
from tests.truth.expected_routes import (
    PROOF_MS,
    expect_differences,
    expect_final_routes,
    list_running_servers,
    parse_values,
)
from tests.truth.expected_topics import ExpectedGrowth, ExpectedOrphan, expect_growth, expect_orphans
from tests.truth.recorded_view import JOURNAL, LOG_KNOWLEDGE_MS, TOLERANCE_MS, RecordedView
from tests.truth.true_facts import KvChange, ServerPause

ReportRow = Mapping[str, Any]


class ReportScore(NamedTuple):
    """How many rows were right, and how many expected ones were found. `misses` describes the others."""

    report: str
    source: str
    row_count: int
    right_count: int
    expected_count: int
    hit_count: int
    misses: Sequence[str]

    @property
    def precision(self) -> float:
        return self.right_count / self.row_count if self.row_count else 1.0

    @property
    def recall(self) -> float:
        return self.hit_count / self.expected_count if self.expected_count else 1.0

    def describe(self) -> str:
        return (
            f"{self.report:22} {self.source:8} precision {self.precision:.4f} of {self.row_count:6}, "
            f"recall {self.recall:.4f} of {self.expected_count:6}"
        )


class _Comparer(NamedTuple):
    """Expects rows from a view, says whether a row matches one, and which expected rows may be missing."""

    expect_rows: Callable[[RecordedView], Sequence[Any]]
    is_match: Callable[[RecordedView, ReportRow, Any], bool]
    is_row_counted: Callable[[RecordedView, ReportRow], bool] = lambda view, row: True
    sources: tuple[str, ...] = (JOURNAL, "5.x", "4.x")


def compare_report(
    report_name: str, rows: Sequence[ReportRow], views: Sequence[RecordedView]
) -> list[ReportScore]:
    """Compare a report with the views of all seeds; return a score for each source."""
    comparer = _COMPARERS[report_name]
    scores = []
    for source in comparer.sources:
        source_views = [view for view in views if view.source == source]
        if source_views:
            totals = [_compare_view(report_name, comparer, rows, view) for view in source_views]
            scores.append(add_scores(totals))
    return scores


def _compare_view(
    report_name: str, comparer: _Comparer, rows: Sequence[ReportRow], view: RecordedView
) -> ReportScore:
    own_rows = [row for row in rows if _is_of_view(row, view) and comparer.is_row_counted(view, row)]
    expected_rows = list(comparer.expect_rows(view))
    left_rows = list(expected_rows)
    wrong_rows = []
    for row in own_rows:
        match = next((expected for expected in left_rows if comparer.is_match(view, row, expected)), None)
        if match is None:
            wrong_rows.append(row)
        else:
            left_rows.remove(match)
    missed_rows = [expected for expected in left_rows if getattr(expected, "is_sure", True)]
    misses = [f"{view.name_prefix} {view.source} reported: {_describe_row(row)}" for row in wrong_rows]
    misses += [f"{view.name_prefix} {view.source} missing: {expected}" for expected in missed_rows]
    sure_count = sum(getattr(expected, "is_sure", True) for expected in expected_rows)
    return ReportScore(
        report_name, view.source, len(own_rows), len(own_rows) - len(wrong_rows), sure_count,
        sure_count - len(missed_rows), misses,
    )  # fmt: skip


def add_scores(scores: Sequence[ReportScore]) -> ReportScore:
    return ReportScore(
        scores[0].report,
        scores[0].source,
        sum(score.row_count for score in scores),
        sum(score.right_count for score in scores),
        sum(score.expected_count for score in scores),
        sum(score.hit_count for score in scores),
        [miss for score in scores for miss in score.misses],
    )


def _is_of_view(row: ReportRow, view: RecordedView) -> bool:
    """Whether a row is about the cluster of a view: one of its names begins with the view's prefix."""
    texts = [row.get(column) for column in ("cluster", "server", "brokerName")]
    texts += [str(row["values"])[2:]] if row.get("values") else []
    own_addr_start = _addr_start(view)
    return any(isinstance(t, str) and t.startswith((f"{view.name_prefix}-", own_addr_start)) for t in texts)


def _addr_start(view: RecordedView) -> str:
    [addr] = {fact.broker_addr.rpartition(".")[0] for fact in view.facts if hasattr(fact, "broker_addr")}
    return f"{addr}."


def _describe_row(row: ReportRow) -> str:
    return ", ".join(
        f"{column}={value:%H:%M:%S.%f}" if isinstance(value, datetime) else f"{column}={value}"
        for column, value in row.items()
        if value is not None and column not in ("date", "cluster")
    )


def _ms(moment: datetime) -> int:
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)


def _is_near(moment: datetime | None, expected_ms: int | None) -> bool:
    if moment is None or expected_ms is None:
        return moment is None and expected_ms is None
    return abs(_ms(moment) - expected_ms) <= TOLERANCE_MS


def _is_close(seconds: float | None, expected_ms: int, tolerance_ms: int = TOLERANCE_MS) -> bool:
    return abs((seconds or 0) * 1000 - expected_ms) <= tolerance_ms


def _sum_tolerance(view: RecordedView, boundaries: int) -> int:
    """The tolerance for a sum of spans: in a log, each boundary may be off by a second.

    Times in a journal are exact, but each pause of a name server is measured in whole seconds.
    """
    return TOLERANCE_MS * (1 + len(view.facts_of(ServerPause)) if view.source == JOURNAL else boundaries)


def _is_same_broker(view: RecordedView, row: ReportRow, broker: tuple[str, int]) -> bool:
    """A log names some slaves by their address only, or without an id."""
    name, broker_id = row["brokerName"], row["brokerId"]
    if view.source == JOURNAL:
        return (name, broker_id) == broker
    addrs = {(f.broker_name, f.broker_id): f.broker_addr for f in view.facts if hasattr(f, "broker_addr")}
    return name == addrs[broker] or (name == broker[0] and broker_id in (broker[1], None))


def _match_flap(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    return (
        _is_same_broker(view, row, expected.broker)
        and _is_near(row["ts"], expected.since)
        and _is_near(row["endTs"], expected.until)
        and set(row["servers"]) == expected.servers
        and row["outages"] == expected.outages
        and row["ongoing"] == (expected.until >= view.end_ms)
        and _is_close(row["downSeconds"], expected.down_ms, _sum_tolerance(view, 2 * expected.outages))
        and row["cause"] in expected.causes
    )


def _match_availability(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    if not _is_same_broker(view, row, expected.broker):
        return False
    if row["brokerName"] != expected.broker[0]:
        expected = expected.undrained
    return (
        all(
            _is_close(
                row[f"{s}Seconds"], getattr(expected, f"{s}_ms"), _sum_tolerance(view, expected.boundaries)
            )
            for s in ("up", "down", "planned", "unknown", "partial")
        )
        and row["failures"] == expected.failures
    )


def _match_gap(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    broker = None if row["brokerName"] is None else (row["brokerName"], row["brokerId"])
    return (
        row["server"] == expected.server
        and broker == expected.broker
        and (_is_near(row["ts"], expected.since) or _is_near(row["ts"], expected.new_since))
        and _is_near(row["endTs"], expected.until)
        and row["outcome"] == expected.end
        and row["causedBy"] in expected.causes
    )


def _match_health(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    return (
        row["server"] == expected.server
        and _is_close(row["knownSeconds"], expected.known_ms, _known_tolerance(view, expected))
        and row["starts"] == expected.starts
        and row["stops"] == expected.stops
        and expected.pauses[0] <= row["pauses"] <= expected.pauses[1]
        and (expected.pauses[0] == 0 or _is_close(row["longestPauseSeconds"], expected.longest_pause_ms))
        and expected.scan_gaps[0] <= row["scanGaps"] <= expected.scan_gaps[1]
        and not row["eventsLost"] + row["repairs"] + row["unparsedWarnings"]
    )


def _known_tolerance(view: RecordedView, expected: ExpectedHealth) -> int:
    """The tolerance for the time in which a name server is known."""
    if view.source == JOURNAL:
        return _sum_tolerance(view, 0)
    pauses = [pause for pause in view.facts_of(ServerPause) if pause.server == expected.server]
    return LOG_KNOWLEDGE_MS * (expected.starts + len(pauses))


def _match_drain(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    return (
        row["server"] == expected.server
        and row["brokerName"] == expected.broker_name
        and row["outcome"] == expected.outcome
        and row["method"] == expected.method
        and _is_near(row["ts"], expected.act)
        and _is_near(row["closedTs"], expected.since)
        and _is_near(row["openedTs"], expected.until)
        and (view.source != JOURNAL or row["closedTopics"] == expected.topics)
    )


def _match_difference(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    return (
        (row["topic"], row["brokerName"], row["key"], row["field"])
        == (expected.topic, expected.broker_name, expected.key, expected.field)
        and _is_near(row["ts"], expected.since)
        and _is_near(row["endTs"], expected.until)
        and parse_values(row["values"]) == expected.values
    )


def _match_config_change(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    return (
        (row["server"], row["namespace"], row["key"], row["after"])
        == (expected.server, expected.namespace, expected.key, expected.after)
        and (row["before"] == expected.before or view.source != JOURNAL)
        and row["type"] == ("KvDeleted" if expected.after is None else "KvPut")
        and _is_near(row["ts"], expected.at)
    )


def _is_real_change(view: RecordedView, row: ReportRow) -> bool:
    """Whether a row changes the value. A log lacks the value before, so the same value can be put again."""
    values = [
        change.after
        for change in view.facts_of(KvChange)
        if (change.server, change.namespace, change.key) == (row["server"], row["namespace"], row["key"])
        and change.at < _ms(row["ts"]) - TOLERANCE_MS
    ]
    return view.source == JOURNAL or not values or values[-1] != row["after"]


def _match_route(view: RecordedView, row: ReportRow, expected: Any) -> bool:
    numbers = tuple(row[column] for column in ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag"))
    place = (row["server"], row["topic"], row["brokerName"])
    return (*place, numbers) == tuple(expected)


def _match_convergence(view: RecordedView, row: ReportRow, expected: ExpectedConvergence) -> bool:
    if row["trigger"] != expected.trigger:
        return False
    wrong_count = max(
        abs(row["changes"] - expected.change_count), abs(row["unfinishedChanges"] - expected.unfinished_count)
    )
    if wrong_count or not expected.durations_ms:
        return bool(wrong_count <= expected.doubtful_count)
    return all(
        _is_close(row[column], find_percentile(expected.durations_ms, share))
        for column, share in (("p50Seconds", 0.5), ("p95Seconds", 0.95), ("maxSeconds", 1))
    )


def _match_growth(view: RecordedView, row: ReportRow, expected: ExpectedGrowth) -> bool:
    """The size is that of the topics, and about 400 bytes for the rest of a registration."""
    rest = row["bytes"] - expected.byte_count
    return (row["brokerName"], row["topics"]) == expected[:2] and 300 <= rest <= 500


def _match_forecast(view: RecordedView, row: ReportRow, expected: ExpectedGrowth) -> bool:
    """One day is no basis for a forecast."""
    forecast = (row["days"], row["bytesPerDay"], row["fullDate"])
    return _match_growth(view, row, expected) and forecast == (1, None, None)


def _match_orphan(view: RecordedView, row: ReportRow, expected: ExpectedOrphan) -> bool:
    return (row["topic"], frozenset(row["brokers"]), row["reason"]) == (*expected, "no broker")


def _is_surely_known(view: RecordedView, row: ReportRow) -> bool:
    """Whether the truth decides about the row: a name server that died may be alive for two more minutes."""
    is_fresh = view.end_ms - view.words[row["server"]][-1] < PROOF_MS
    return bool(row["known"]) and (row["server"] in list_running_servers(view) or not is_fresh)


_COMPARERS: Mapping[str, _Comparer] = {
    "broker_availability": _Comparer(expect_availability, _match_availability),
    "broker_flaps": _Comparer(expect_flaps, _match_flap),
    "drain_audit": _Comparer(expect_drains, _match_drain),
    "heartbeat_gaps": _Comparer(expect_gaps, _match_gap, sources=(JOURNAL,)),
    "ns_health": _Comparer(expect_health, _match_health),
    "ns_divergence": _Comparer(expect_differences, _match_difference, sources=(JOURNAL,)),
    "ns_convergence": _Comparer(expect_convergence, _match_convergence, sources=(JOURNAL,)),
    "topic_growth": _Comparer(expect_growth, _match_growth, sources=(JOURNAL,)),
    "registration_forecast": _Comparer(expect_growth, _match_forecast, sources=(JOURNAL,)),
    "orphan_topics": _Comparer(expect_orphans, _match_orphan, sources=(JOURNAL,)),
    "config_changes": _Comparer(expect_config_changes, _match_config_change, _is_real_change),
    "route_as_of": _Comparer(expect_final_routes, _match_route, _is_surely_known, (JOURNAL,)),
}
REPORT_NAMES = tuple(_COMPARERS)


def describe_scores(scores: Iterable[ReportScore]) -> str:
    return "\n".join(score.describe() for score in scores)
