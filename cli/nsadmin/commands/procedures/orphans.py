"""Owns orphans, which finds topics without a broker, a name server or a group, and can delete them."""

from collections.abc import Sequence
from time import sleep, time_ns
from typing import Annotated

from typer import Option

from nsadmin.client import NotApplied
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.changes import CHANGE_COLUMNS, ServerChange
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ROLE, SERVER
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.topics.topics import describe_deletion
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun, failed_on
from nsadmin.console.session import Session
from nsadmin.operations.orphans.cleaner import clean_orphans, select_cleanable
from nsadmin.operations.orphans.observer import find_lasting_orphans
from nsadmin.operations.orphans.rules import Orphan, TopicFacts

FINDINGS_BY_KIND = {
    "noBroker": "no broker has it",
    "notThere": "routes name brokers that do not have it",
    "noNameServer": "no name server has its route",
    "noGroup": "no broker has its group",
}
KIND: Column[Orphan] = Column("kind", "noBroker, notThere, noNameServer or noGroup", lambda o: o.orphan_kind)
ORPHAN_COLUMNS: Columns[Orphan] = (
    KIND,
    TOPIC,
    Column("finding", "explanation of the kind", lambda o: FINDINGS_BY_KIND[o.orphan_kind]),
    Column(
        "brokers",
        "brokers that clients try without success; for the other kinds, brokers with the topic",
        lambda o: list(o.broker_names),
    ),
    Column(
        "namesrvAddrs",
        "the name servers with the topic; for noNameServer, those without it",
        lambda o: list(o.namesrv_addrs),
    ),
    GROUP.means("the missing group"),
)
CLEANUP_COLUMNS: Columns[tuple[Orphan, ServerChange]] = (
    *of_part(lambda r: r[0], (KIND, TOPIC)),
    *of_part(lambda r: r[1], (SERVER, ROLE, *CHANGE_COLUMNS)),
)
_SECONDS_BETWEEN_LOOKS = 1.0
"""Seconds between two observations. A topic that is being created or deleted settles within this time."""
_MAX_NAMED_TOPICS = 5


@command(columns=(*ORPHAN_COLUMNS, *CLEANUP_COLUMNS), nothing="no orphans")
def orphans(
    session: Session,
    delete_orphans: Annotated[
        bool, Option("--clean", help="Delete topics without a broker, and retry topics without a group.")
    ] = False,
    delete_dead_letters: Annotated[
        bool,
        Option(
            "--dlq", help="With --clean: also delete dead-letter topics without a group, with their messages."
        ),
    ] = False,
) -> ResultRows:
    """List topics without a broker, without a route, or without a group.

    nsadmin observes each topic twice, because topics can be in creation or deletion. For the kind noBroker,
    clients find a route, but no broker has the topic. For notThere, some brokers of the route do not have the
    topic and refuse its messages. For noNameServer, clients find no route, and registrationSize shows whether
    that is the reason. For noGroup, no broker has the group of a retry or dead-letter topic.

    --clean deletes noBroker topics from name servers, and noGroup topics from brokers and name servers. The
    other kinds need a decision: updateTopic creates the missing topic, deleteTopic removes it everywhere.
    nsadmin deletes nothing while a broker or name server does not answer. Off a terminal, --clean needs
    --yes.

    Examples:
        # All orphaned topics
        nsadmin orphans
        # Preview the deletion on each server
        nsadmin orphans --clean --dry-run
        # Delete topics without a broker, and retry topics without a group; --dlq also deletes dead letters
        nsadmin orphans --clean --yes
    """
    if delete_dead_letters and not delete_orphans:
        raise UsageError("--dlq needs --clean: run nsadmin orphans --clean --dlq")
    if delete_orphans:
        session.require_writable("orphans --clean")
        session.require_yes("orphans --clean", "this would delete orphaned topics with their messages")
    now_ms = time_ns() // 1_000_000
    found_orphans, orphan_facts = find_lasting_orphans(
        session.admin, now_ms, lambda: sleep(_SECONDS_BETWEEN_LOOKS)
    )
    if delete_orphans:
        return _clean_orphans(session, found_orphans, orphan_facts, delete_dead_letters)
    unknown = orphan_facts.errors_by_server
    notes = [f"unknown state of {server}: {error_text(error)}" for server, error in unknown.items()]
    counts = {kind: sum(o.orphan_kind == kind for o in found_orphans) for kind in FINDINGS_BY_KIND}
    if found_orphans:
        notes.append(", ".join(f"{n} {kind}" for kind, n in counts.items() if n))
    errors = [None, *unknown.values()] if unknown else []
    return ResultRows.from_records(ORPHAN_COLUMNS, found_orphans, errors, notes)


def _clean_orphans(
    session: Session, found_orphans: Sequence[Orphan], orphan_facts: TopicFacts, delete_dead_letters: bool
) -> ResultRows:
    if orphan_facts.errors_by_server:
        error = NotApplied(
            f"nothing was deleted, because the state of {', '.join(orphan_facts.errors_by_server)} is unknown"
        )
        for server_name, reason in orphan_facts.errors_by_server.items():
            error.add_note(f"{server_name}: {error_text(reason)}")
        raise error
    chosen_orphans = select_cleanable(found_orphans, include_dead_letters=delete_dead_letters)
    left_notes = (
        [
            f"not deleted: {count_noun(len(found_orphans) - len(chosen_orphans), 'orphaned topic')} of other "
            f"kinds, or with dead letters: {quote_command('orphans')} lists them"
        ]
        if len(found_orphans) > len(chosen_orphans)
        else []
    )
    if not chosen_orphans:
        return ResultRows.from_records(CLEANUP_COLUMNS, [], [], [*left_notes, "nothing to delete"])
    session.confirm_change(_cleanup_question(chosen_orphans))
    steps = clean_orphans(session.admin, chosen_orphans, orphan_facts, dry_run=session.is_dry_run)
    changes = [(orphan, describe_deletion(step, orphan.topic)) for orphan, step in steps]
    errors = [change.error for _, change in changes if change.done != "skipped"]
    return ResultRows.from_records(
        CLEANUP_COLUMNS, changes, errors, [*left_notes, *failed_on(errors, "step")]
    )


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
