"""orphans: finds topics without a broker, a name server or a group, and deletes them if asked to."""

from collections.abc import Sequence
from time import sleep, time_ns
from typing import Annotated

from nsadmin.client import NotApplied
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.columns.change_rows import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE
from nsadmin.commands.topics.topics import deletion_row
from nsadmin.exit_codes import UsageError
from nsadmin.operations.orphans.cleaner import clean_orphans, select_cleanable
from nsadmin.operations.orphans.observer import find_lasting_orphans
from nsadmin.operations.orphans.rules import Orphan, TopicFacts
from nsadmin.output import ResultRow, ResultRows
from nsadmin.phrases import abbreviate_names
from nsadmin.session import Session

ORPHAN_COLUMNS = ("kind", "topic", "finding", "brokers", "namesrvAddrs", "group")
CLEANUP_COLUMNS = ("kind", "topic", "target", "role", *CHANGE_RESULT_COLUMNS)
CLEANUP_TABLE_COLUMNS = ("kind", "topic", "target", "role", *CHANGE_RESULT_IN_TABLE)

FINDINGS_BY_KIND = {
    "noBroker": "no broker has it",
    "notThere": "clients are sent to brokers that do not have it",
    "noNameServer": "no name server sends clients to it",
    "noGroup": "no broker has its group",
}
_SECONDS_BETWEEN_LOOKS = 1.0
"""Seconds between two observations: a topic that is being created or deleted is settled by then."""
_MAX_NAMED_TOPICS = 5


@declare_columns(ORPHAN_COLUMNS, CLEANUP_COLUMNS)
def orphans(
    session: Session,
    delete_orphans: Annotated[
        bool,
        Option("--clean", help="Delete those without a broker, and retry topics without a group."),
    ] = False,
    delete_dead_letters: Annotated[
        bool, Option("--dlq", help="With --clean: dead letters without a group too, with their messages.")
    ] = False,
) -> ResultRows:
    """Show topics that name servers have and no broker, or the other way round, or whose group is gone.

    Each is seen twice before it counts: what is being made or deleted is on its way. Kinds are noBroker
    (clients find a route to nothing), notThere (some brokers of a route do not have it, and refuse what is
    sent to them), noNameServer (clients find no route; registrationSize shows if that is why) and noGroup
    (retries and dead letters of a group that no broker has).

    --clean deletes what is noBroker from the name servers and what is noGroup from brokers and name servers.
    The other kinds need a decision: updateTopic makes a topic where it is missing, deleteTopic takes it away
    everywhere. Nothing is deleted as long as a broker or name server does not answer. Off a terminal it needs
    --yes.

    Examples:
        # All of them
        nsadmin orphans
        # What would be deleted, on which server
        nsadmin orphans --clean --dry-run
        # Delete it, dead letters included
        nsadmin orphans --clean --dlq --yes
    """
    if delete_dead_letters and not delete_orphans:
        raise UsageError("orphans: --dlq is for --clean: type nsadmin orphans --clean --dlq")
    if delete_orphans:
        session.require_writable("orphans --clean")
        session.require_yes("orphans --clean")
    now_ms = time_ns() // 1_000_000
    found_orphans, orphan_facts = find_lasting_orphans(
        session.admin, now_ms, lambda: sleep(_SECONDS_BETWEEN_LOOKS)
    )
    if delete_orphans:
        return _clean_orphans(session, found_orphans, orphan_facts, delete_dead_letters)
    unknown_notes = [
        f"unknown is what {server_name} has: {error_text(error)}"
        for server_name, error in orphan_facts.errors_by_server.items()
    ]
    counts_by_kind = {
        orphan_kind: sum(orphan.orphan_kind == orphan_kind for orphan in found_orphans)
        for orphan_kind in FINDINGS_BY_KIND
    }
    summary_text = (
        ", ".join(
            f"{orphan_count} {orphan_kind}"
            for orphan_kind, orphan_count in counts_by_kind.items()
            if orphan_count
        )
        or "no orphans"
    )
    errors = [None, *orphan_facts.errors_by_server.values()] if orphan_facts.errors_by_server else []
    return ResultRows(
        ORPHAN_COLUMNS,
        [_orphan_row(orphan) for orphan in found_orphans],
        errors,
        [*unknown_notes, summary_text],
    )


def _orphan_row(orphan: Orphan) -> ResultRow:
    return {
        "kind": orphan.orphan_kind,
        "topic": orphan.topic,
        "finding": FINDINGS_BY_KIND[orphan.orphan_kind],
        "brokers": list(orphan.broker_names),
        "namesrvAddrs": list(orphan.namesrv_addrs),
        "group": orphan.group,
    }


def _clean_orphans(
    session: Session, found_orphans: Sequence[Orphan], orphan_facts: TopicFacts, delete_dead_letters: bool
) -> ResultRows:
    if orphan_facts.errors_by_server:
        error = NotApplied(
            f"nothing was cleaned: what {', '.join(orphan_facts.errors_by_server)} has is unknown"
        )
        for server_name, reason in orphan_facts.errors_by_server.items():
            error.add_note(f"{server_name}: {error_text(reason)}")
        raise error
    chosen_orphans = select_cleanable(found_orphans, include_dead_letters=delete_dead_letters)
    left_notes = (
        [f"{len(found_orphans) - len(chosen_orphans)} orphans are left as they are"]
        if len(found_orphans) > len(chosen_orphans)
        else []
    )
    if not chosen_orphans:
        return ResultRows(
            CLEANUP_COLUMNS, [], [], [*left_notes, "there is nothing to clean"], CLEANUP_TABLE_COLUMNS
        )
    session.confirm_change(_cleanup_question(chosen_orphans))
    clean_steps = list(clean_orphans(session.admin, chosen_orphans, orphan_facts, dry_run=session.is_dry_run))
    step_rows: list[ResultRow] = [
        {**deletion_row(clean_step), "kind": orphan.orphan_kind, "topic": orphan.topic}
        for orphan, clean_step in clean_steps
    ]
    errors = [clean_step.error for _, clean_step in clean_steps if clean_step.result != "skipped"]
    return ResultRows(CLEANUP_COLUMNS, step_rows, errors, left_notes, CLEANUP_TABLE_COLUMNS)


def _cleanup_question(chosen_orphans: Sequence[Orphan]) -> str:
    """One question that names the topics to delete and their servers."""
    question_parts = []
    for orphan_kind, deleted_from in (
        ("noBroker", "from name servers"),
        ("noGroup", "with their messages from brokers"),
    ):
        topic_names = [orphan.topic for orphan in chosen_orphans if orphan.orphan_kind == orphan_kind]
        if topic_names:
            question_parts.append(f"{abbreviate_names(topic_names, _MAX_NAMED_TOPICS)} {deleted_from}")
    return f"Delete {' and '.join(question_parts)}?"
