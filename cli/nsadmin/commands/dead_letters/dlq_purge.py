"""Owns `dlq purge`, which deletes the dead letters of a group."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client.messages.dead_letter_replay import DeadLetterSpan
from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from nsadmin.client.results import NotApplied, NotFound, error_text
from nsadmin.command_line.declarations import command
from nsadmin.command_line.time_arguments import TIME_HELP, parse_past_time
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.dead_letters.letter_options import GroupArgument
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.dead_letters.replay_store import SavedReplayMemory


class ClusterPurge(NamedTuple):
    """The dead letters of a group in one cluster: older than the limit, not older, and never replayed."""

    cluster_name: str
    older_count: int
    newer_count: int
    unreplayed_count: int
    error: RocketMQError | None = None
    done: str = "done"

    @property
    def result(self) -> str:
        return "blocked" if self.newer_count else outcome_word(self.error, self.done)


PURGE_COLUMNS: Columns[ClusterPurge] = (
    CLUSTER_NAME,
    GROUP,
    TOPIC.means("the dead-letter topic"),
    Column("older", "dead letters that are older than --before", lambda p: p.older_count),
    Column("newer", "dead letters that are not older than --before", lambda p: p.newer_count),
    Column(
        "notReplayed",
        "dead letters that no `dlq replay` of this account replayed",
        lambda p: p.unreplayed_count,
    ),
    RESULT.means("done, dry-run, blocked (newer dead letters exist) or failed"),
    ERROR,
)


@command(columns=PURGE_COLUMNS, examples=("elsewhere", "simulated consumers never fail"), counts_first=True)
def dlq_purge(
    session: Session,
    group: GroupArgument,
    before_text: Annotated[
        str | None, Option("--before", metavar="TIME", help=f"Delete dead letters before: {TIME_HELP}")
    ] = None,
) -> ResultRows:
    """Delete the dead letters of a group, if all of them in a cluster are older than --before.

    A broker cannot delete single messages: its only request deletes the whole dead-letter topic. So nsadmin
    refuses in a cluster where a newer dead letter exists, and says how many there are. Brokers delete old
    dead letters themselves, after the retention time of their commit log. The topic comes back with the next
    dead letter. A dead letter that a broker stores during the purge is deleted too.

    Examples:
        # Count the dead letters, and those that were never replayed
        nsadmin dlq purge payments-consumer --before now --dry-run
        # Empty the dead-letter topic of the group
        nsadmin dlq purge payments-consumer --before now --yes
    """
    if before_text is None:
        raise UsageError("dlq purge: missing --before TIME: pass --before now for all dead letters")
    before_ms = parse_past_time("--before", before_text)
    letter_spans, broker_errors = session.admin.dead_letters.list_spans(group)
    for error in broker_errors.values():
        raise error
    clusters = [span.cluster_name for span in letter_spans]
    memory = SavedReplayMemory.find(session.admin, clusters, group)
    memory.load_records()
    counts = [
        _count_letters(session, group, cluster_name, letter_spans, memory, before_ms)
        for cluster_name in sorted(set(clusters))
    ]
    if not any(purge.older_count or purge.newer_count for purge in counts):
        raise NotFound(f"no dead letters for {group}")
    ready = [purge for purge in counts if not purge.newer_count]
    if ready and not session.is_dry_run:
        letter_count = sum(purge.older_count for purge in ready)
        unreplayed_count = sum(purge.unreplayed_count for purge in ready)
        loss = (
            f"{count_noun(letter_count, 'dead letter')} of {group}, {unreplayed_count} of them not replayed "
            "by this account"
        )
        session.require_yes("dlq purge", f"this would delete {loss}")
        session.confirm_change(f"Delete {loss}?")
    errors = [_purge_cluster(session, group, purge, before_ms) for purge in counts]
    done = "dry-run" if session.is_dry_run else "done"
    purges = [p._replace(error=error, done=done) for p, error in zip(counts, errors, strict=True)]
    notes = [f"cluster {p.cluster_name}: {error_text(p.error)}" for p in purges if p.error is not None]
    common = {GROUP: group, TOPIC: DLQ_PREFIX + group}
    return ResultRows.from_records(PURGE_COLUMNS, purges, errors, notes, common=common)


def _count_letters(
    session: Session,
    group: str,
    cluster_name: str,
    letter_spans: Sequence[DeadLetterSpan],
    memory: ReplayMemory,
    before_ms: int,
) -> ClusterPurge:
    cluster_spans = [span for span in letter_spans if span.cluster_name == cluster_name]
    letter_count = sum(span.queue_span.offset_count for span in cluster_spans)
    replayed_count = sum(
        memory.list_replayed(span.place).count_between(
            span.queue_span.begin_offset, span.queue_span.end_offset
        )
        for span in cluster_spans
    )
    newer_count, dead_letters = 0, session.admin.dead_letters
    newer = DeadLetterSelection(begin_ms=before_ms)
    for page in dead_letters.read_letters(group, dead_letters.list_spans(group, newer)[0], newer):
        if page.error is not None:
            raise page.error
        if any(span.queue_span.broker_name == page.broker_name for span in cluster_spans):
            newer_count += len(page.letters)
    return ClusterPurge(cluster_name, letter_count - newer_count, newer_count, letter_count - replayed_count)


def _purge_cluster(session: Session, group: str, purge: ClusterPurge, before_ms: int) -> RocketMQError | None:
    """Delete the dead-letter topic in a cluster; return the reason if it stays."""
    if purge.newer_count:
        return NotApplied(
            f"not deleted, because {count_noun(purge.newer_count, 'dead letter')} arrived since "
            f"{format_utc(before_ms)}: a broker can delete only all dead letters of a group"
        )
    if session.is_dry_run:
        return None
    steps = session.admin.topics.delete_topic(DLQ_PREFIX + group, purge.cluster_name)
    failed = next((step for step in steps if step.error is not None), None)
    return failed and failed.error and NotApplied(f"{failed.server}: {error_text(failed.error)}")
