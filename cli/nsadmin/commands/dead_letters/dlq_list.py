"""Owns `dlq list`, which counts the dead letters of each group."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from typer import Option

from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.dead_letters.replay_store import count_replayed


class CountedGroup(NamedTuple):
    """The dead letters of a group, and how many of them were replayed."""

    counts: DeadLetterCounts
    replayed_count: int


GROUP_COLUMNS: Columns[CountedGroup] = (
    GROUP.of(lambda g: g.counts.group),
    Column("messageCount", "dead letters on the brokers that answered", lambda g: g.counts.message_count),
    Column(
        "replayedCount",
        "those of messageCount that a `dlq replay` of this account replayed",
        lambda g: g.replayed_count,
    ),
    *of_part(
        lambda g: g.counts,
        (
            Column("lastHourCount", "dead letters stored in the last hour", lambda c: c.last_hour_count),
            Column(
                "oldest",
                "when a broker stored the oldest dead letter (UTC)",
                lambda c: format_utc(c.oldest_ms),
            ),
            Column(
                "newest",
                "when a broker stored the newest dead letter (UTC)",
                lambda c: format_utc(c.newest_ms),
            ),
            Column(
                "originTopics",
                "origin topics of a sample: the oldest 32 dead letters of each queue, and the newest",
                lambda c: list(c.origin_topics),
            ),
            Column("brokerNames", "brokers with the dead-letter topic", lambda c: list(c.broker_names)),
            ERROR.of(lambda c: next((error_text(e) for e in c.errors if e is not None), None)),
        ),
    ),
)


@command(
    columns=GROUP_COLUMNS,
    examples=("elsewhere", "simulated consumers never fail"),
    nothing="no group has dead letters",
)
def dlq_list(
    session: Session,
    shows_empty: Annotated[
        bool, Option("--all", help="List also groups whose dead-letter topic is empty.")
    ] = False,
) -> ResultRows:
    """Count the dead letters of each group, on all brokers.

    replayedCount is the number of those that a `dlq replay` of this account replayed. Brokers keep them until
    they expire. lastHourCount is the growth: the dead letters that brokers stored in the last hour.
    originTopics are those of the oldest 32 dead letters of each queue, and of the newest. `dlq replay GROUP
    --dry-run` counts all of them by origin topic and age.

    Examples:
        # The groups with most dead letters first
        nsadmin dlq list --sort -messageCount
        # The groups that fail now
        nsadmin dlq list --filter 'lastHourCount>0'
    """
    dead_letters = session.admin.dead_letters
    groups = dead_letters.count_letters(dead_letters.list_groups(), int(time() * 1000))
    failure_notes = {
        f"group {g.group}: {error_text(error)}" for g in groups for error in g.errors if error is not None
    }
    return ResultRows.from_records(
        GROUP_COLUMNS,
        [
            CountedGroup(g, count_replayed(session.admin, g))
            for g in groups
            if shows_empty or g.message_count or any(g.errors)
        ],
        [error for g in groups for error in g.errors],
        [*sorted(failure_notes), *_list_gaps(session, groups)],
    )


def _list_gaps(session: Session, all_counts: Sequence[DeadLetterCounts]) -> list[str]:
    """A line about what a bundle lacks, because its messages are missing."""
    if session.options.bundle is None or not any(counts.message_count for counts in all_counts):
        return []
    return ["oldest, newest and originTopics are unknown: a bundle contains no messages"]
