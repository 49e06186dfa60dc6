"""orphans: finds topics without a broker, a name server or a group, and deletes them if asked to."""

from collections.abc import Sequence
from time import sleep, time_ns
from typing import Annotated

from nsadmin.client import NotApplied
from nsadmin.client.results import error_text
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.topics import deletion_row
from nsadmin.diagnostics import UsageError
from nsadmin.operations.orphans.cleaning import clean, cleanable
from nsadmin.operations.orphans.finding import Facts, Orphan
from nsadmin.operations.orphans.looking import look_twice
from nsadmin.output import Row, Rows
from nsadmin.session import Session
from nsadmin.wording import first_of

COLUMNS = ("kind", "topic", "finding", "brokers", "namesrvAddrs", "group")
CLEANED = ("kind", "topic", "target", "role", *CHANGE)
CLEANED_IN_TABLE = ("kind", "topic", "target", "role", *CHANGE_IN_TABLE)

FINDINGS = {
    "noBroker": "no broker has it",
    "notThere": "clients are sent to brokers that do not have it",
    "noNameServer": "no name server sends clients to it",
    "noGroup": "no broker has its group",
}
_BETWEEN = 1.0
"""Seconds between two observations: a topic that is being created or deleted is settled by then."""
_NAMED = 5


@shows(COLUMNS, CLEANED)
def orphans(
    session: Session,
    clean_: Annotated[
        bool, Option("--clean", help="Delete those without a broker, and retry topics without a group.")
    ] = False,
    dlq: Annotated[
        bool, Option("--dlq", help="With --clean: dead letters without a group too, with their messages.")
    ] = False,
) -> Rows:
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
    if dlq and not clean_:
        raise UsageError("orphans: --dlq is for --clean: type nsadmin orphans --clean --dlq")
    if clean_:
        session.require_writable("orphans --clean")
        session.require_yes("orphans --clean")
    now = time_ns() // 1_000_000
    found, facts = look_twice(session.admin, now, lambda: sleep(_BETWEEN))
    if clean_:
        return _cleaned(session, found, facts, dlq)
    unknown = [f"unknown is what {name} has: {error_text(error)}" for name, error in facts.errors.items()]
    counts = {kind: sum(item.kind == kind for item in found) for kind in FINDINGS}
    total = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "no orphans"
    errors = [None, *facts.errors.values()] if facts.errors else []
    return Rows(COLUMNS, [_row(item) for item in found], errors, [*unknown, total])


def _row(item: Orphan) -> Row:
    return {
        "kind": item.kind,
        "topic": item.topic,
        "finding": FINDINGS[item.kind],
        "brokers": list(item.brokers),
        "namesrvAddrs": list(item.name_servers),
        "group": item.group,
    }


def _cleaned(session: Session, found: Sequence[Orphan], facts: Facts, dlq: bool) -> Rows:
    if facts.errors:
        error = NotApplied(f"nothing was cleaned: what {', '.join(facts.errors)} has is unknown")
        for name, reason in facts.errors.items():
            error.add_note(f"{name}: {error_text(reason)}")
        raise error
    chosen = cleanable(found, dead_letters=dlq)
    left = [f"{len(found) - len(chosen)} orphans are left as they are"] if len(found) > len(chosen) else []
    if not chosen:
        return Rows(CLEANED, [], [], [*left, "there is nothing to clean"], CLEANED_IN_TABLE)
    session.confirm(_question(chosen))
    steps = list(clean(session.admin, chosen, facts, dry_run=session.dry_run))
    rows: list[Row] = [{**deletion_row(step), "kind": item.kind, "topic": item.topic} for item, step in steps]
    errors = [step.error for _, step in steps if step.result != "skipped"]
    return Rows(CLEANED, rows, errors, left, CLEANED_IN_TABLE)


def _question(chosen: Sequence[Orphan]) -> str:
    """One question that names the topics to delete and their servers."""
    parts = []
    for kind, where in (("noBroker", "from name servers"), ("noGroup", "with their messages from brokers")):
        topics = [item.topic for item in chosen if item.kind == kind]
        if topics:
            parts.append(f"{first_of(topics, _NAMED)} {where}")
    return f"Delete {' and '.join(parts)}?"
