"""Checks for new dead letters: messages that a consumer group failed to consume, and gave up."""

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.results import error_text
from nsadmin.console.phrases import count_noun, format_utc_second
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure
from nsadmin.operations.checks.looks import Look, compare_look

_MAX_SHOWN = 20


class DlqObservation(NamedTuple):
    """The dead letters of each group with a dead-letter topic, and the ends of their queues earlier."""

    counts: Sequence[DeadLetterCounts]
    earlier: Look | None = None
    gone_lines: Sequence[str] = ()

    @property
    def failure_lines(self) -> list[str]:
        errors = [f"{c.group}: {error_text(e)}" for c in self.counts for e in c.errors if e is not None]
        return [*errors, *self.gone_lines]


class GroupLetters(NamedTuple):
    """The dead letters of a group. `new_count` is None if no earlier look tells it."""

    counts: DeadLetterCounts
    new_count: int | None


def observe(admin: AdminClient, scope: CheckScope) -> DlqObservation:
    """Count the dead letters, and compare with an earlier look. A look with errors is not kept."""
    now_ms = admin.clock_ms
    # Of a cluster that does not exist, or a broker that is gone, no dead letter would be found.
    listing = listed_brokers.observe_listing(admin, scope.cluster_name, scope.inventory)
    all_counts = admin.dead_letters.count_letters(admin.dead_letters.list_groups(), now_ms)
    seen = DlqObservation(
        [
            counts
            for counts in all_counts
            if scope.cluster_name in (None, *(place.cluster_name for place in counts.queue_bounds))
        ],
        gone_lines=listing.gone_lines,
    )
    if seen.failure_lines:
        return seen
    ends = {key: float(end) for counts in seen.counts for key, (_, end) in _bounds_by_key(counts).items()}
    return seen._replace(earlier=compare_look(scope, "dlq", Look(now_ms, ends)))


def _bounds_by_key(counts: DeadLetterCounts) -> dict[str, tuple[int, int]]:
    return {
        f"{place.broker_name} {place.queue_id} {counts.group}": bounds
        for place, bounds in counts.queue_bounds.items()
    }


def judge(scale: CheckScale, seen: DlqObservation) -> CheckFinding:
    """Judge the growth. Without an earlier look, dead letters of the last hour are new, others unknown."""
    groups = sorted(
        (_count_new(counts, seen.earlier) for counts in seen.counts if counts.message_count),
        key=lambda g: (-(g.new_count or 0), -g.counts.message_count),
    )
    known = [group.new_count for group in groups if group.new_count is not None]
    total = sum(group.counts.message_count for group in groups)
    new_count = sum(known) if any(known) or len(known) == len(groups) else None
    figures = {
        "new": new_count,
        "total": total,
        "letters": {g.counts.group: g.counts.message_count for g in groups},
    }
    since = seen.earlier.since_text if seen.earlier is not None else "in the last hour"
    summary = f"{count_noun(total, 'dead letter')} of {count_noun(len(groups), 'group')}"
    if not total:
        summary = "no dead letter was found" if seen.failure_lines else "no group has dead letters"
    else:
        summary += (
            ": how many are new is not known before the next run"
            if new_count is None
            else f", {new_count} of them {since}"
        )
    details = [_describe(group, since) for group in groups[:_MAX_SHOWN]]
    affected = [group.counts.group for group in groups if group.new_count]
    return scale.make_finding(summary, figures, details, doubts=seen.failure_lines, affected=affected)


def _count_new(counts: DeadLetterCounts, earlier: Look | None) -> GroupLetters:
    """Count what is new since the earlier look: all, in a queue that it lacks or that began anew."""
    if earlier is None:
        return GroupLetters(counts, counts.last_hour_count or None)
    return GroupLetters(
        counts,
        sum(
            end - (int(then) if begin <= (then := earlier.figures.get(key, begin)) <= end else begin)
            for key, (begin, end) in _bounds_by_key(counts).items()
        ),
    )


def _describe(group: GroupLetters, since: str) -> str:
    counts = group.counts
    new_text = "" if group.new_count is None else f", {group.new_count} of them {since}"
    newest = "" if counts.newest_ms is None else f"; the newest is of {format_utc_second(counts.newest_ms)}"
    topics = f", from {', '.join(counts.origin_topics)}" if counts.origin_topics else ""
    return f"{counts.group}: {count_noun(counts.message_count, 'dead letter')}{new_text}{topics}{newest}"


CHECK = Check(
    "dlq",
    (
        CheckMeasure("new", "dead letters since the earlier look", warning="0", critical="1000"),
        CheckMeasure("total", "dead letters of all groups"),
        CheckMeasure("letters", "dead letters of the group", label_name="group"),
    ),
    observe,
    judge,
    warning_when="a group got dead letters in the last hour, or since the last run before it",
    critical_when="more than 1,000 are new",
    remedy="nsadmin dlq list",
    takes_cluster=True,
    warning_help="New dead letters of all groups. Default: 0.",
    critical_help="New dead letters of all groups. Default: 1000.",
    help="""Check whether consumer groups got dead letters: messages that they failed to consume.

    The check remembers the ends of the dead-letter queues, and compares with those of an hour ago, or of the
    last run before that. In the first run, only dead letters of the last hour count as new. If there are
    only older ones, the state is unknown. `nsadmin dlq show GROUP` prints dead letters.

    Examples:
        # Alert when messages are new in the dead letter queue of any group
        nsadmin check dlq
        # Accept ten an hour
        nsadmin check dlq --warning 10
    """,
)
