"""Owns listAcl, getAcl, createAcl, updateAcl, copyAcl and deleteAcl, the ACL commands for brokers since 5.3.

They refuse input that brokers accept but misread: an unknown resource type, a subject without "User:".
"""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.acls import ACTIONS, DECISIONS, POLICY_TYPES, RESOURCE_TYPES, AclChange, AclEntry, Entries
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target, at
from nsadmin.commands import values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, words
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    MembersOption,
    addrs,
    broker_addr,
    carried_out,
    identity,
    matched,
    members_at,
    places,
)
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, "subject", "policyType", "resource", "actions", "sourceIps", "decision")
CHANGE_COLUMNS = (*IDENTITY, "subject", *CHANGE)
IN_TABLE = (*IDENTITY, "subject", *CHANGE_IN_TABLE)

Subject = Annotated[str, Word(("-s", "--subject"), "SUBJECT", "Who: User:NAME, or NAME alone.")]
Resources = Annotated[
    str,
    Option(
        "-r",
        "--resources",
        metavar="A,B",
        help="Of what: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.",
    ),
]
Actions = Annotated[
    str,
    Option("-a", "--actions", metavar="A,B", help="All, Pub, Sub, Create, Update, Delete, Get, List."),
]
Decision = Annotated[str, Option("-d", "--decision", metavar="Allow|Deny", help="What becomes of them.")]
SourceIps = Annotated[
    str | None,
    Option("-i", "--sourceIp", metavar="A,B", help="Only from these addresses or networks (10.0.0.0/8)."),
]


@shows(COLUMNS)
def list_acl(
    session: Session,
    broker: AddrOption = None,
    cluster: MembersOption = None,
    subject: Annotated[
        str | None, Option("-s", "--subject", metavar="TEXT", help="Only subjects with this text in them.")
    ] = None,
    resource: Annotated[
        str | None, Option("-r", "--resource", metavar="TEXT", help="Only resources with this text in them.")
    ] = None,
) -> Rows:
    """Show the ACLs of a broker, or of every broker of a cluster: a row for each resource.

    Examples:
        # All ACLs of a cluster
        nsadmin listAcl -c cluster-a
        # Who may do what to a topic, on one broker
        nsadmin listAcl -b 127.0.0.1:10911 -r Topic:orders
    """
    targets = members_at(session, "listAcl", broker, cluster)
    results = matched(targets, session.admin.acls.each(addrs(targets), subject, resource))
    rows = [
        _row(target, name, entry)
        for target, found in zip(targets, results, strict=True)
        for name, entries in sorted((found.result or {}).items())
        for entry in entries
    ]
    return Rows(COLUMNS, rows, [found.error for found in results], _notes(results))


@shows(COLUMNS)
def get_acl(
    session: Session, subject: Subject, broker: AddrOption = None, cluster: MembersOption = None
) -> Rows:
    """Show what one user may do, on a broker or on every broker of a cluster.

    Examples:
        # A user's ACL on every broker of a cluster
        nsadmin getAcl User:operator-1 -c cluster-a
    """
    name = _subject(subject)
    targets = members_at(session, "getAcl", broker, cluster)
    results = [
        found.then(lambda entries: _some(name, entries))
        for found in matched(targets, session.admin.acls.get(addrs(targets), name))
    ]
    rows = [
        _row(target, name, entry)
        for target, found in zip(targets, results, strict=True)
        for entry in found.result or ()
    ]
    return Rows(COLUMNS, rows, [found.error for found in results], _notes(results))


@shows(CHANGE_COLUMNS)
def create_acl(
    session: Session,
    subject: Subject,
    resources: Resources,
    actions: Actions,
    decision: Decision,
    source_ips: SourceIps = None,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Allow or deny a user something, on a broker or on every broker of a cluster.

    It is added to what there is; what there is for the same resource gives way. The user has to be there.

    Examples:
        # A user may send to a topic and read it
        nsadmin createAcl operator-1 -r Topic:orders -a Pub,Sub -d Allow -c cluster-a --yes
        # What would change, where he comes from one network
        nsadmin createAcl operator-1 -r Group:* -a Sub -d Allow -i 10.0.0.0/8 -c cluster-a --dry-run
    """
    entries = _entries("createAcl", resources, actions, decision, source_ips)
    return _merge(session, "createAcl", subject, entries, broker, cluster)


@shows(CHANGE_COLUMNS)
def update_acl(
    session: Session,
    subject: Subject,
    resources: Resources,
    actions: Actions,
    decision: Decision,
    source_ips: SourceIps = None,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Change what is allowed or denied a user, resource by resource.

    Other resources stay as they are; what there is not yet is added, as brokers have it.

    Examples:
        # A user may only read a topic
        nsadmin updateAcl operator-1 -r Topic:orders -a Sub -d Allow -c cluster-a --yes
    """
    entries = _entries("updateAcl", resources, actions, decision, source_ips)
    return _merge(session, "updateAcl", subject, entries, broker, cluster)


@shows(CHANGE_COLUMNS)
def delete_acl(
    session: Session,
    subject: Subject,
    resources: Annotated[
        str | None,
        Option("-r", "--resources", metavar="A,B", help="Only what it says of these; else all of it."),
    ] = None,
    policy_type: Annotated[
        str | None,
        Option("--policyType", metavar="Custom|Default", help="Only policies of this type; else both."),
    ] = None,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Delete a user's ACL, or what it says of some resources; what is not there is an error.

    Examples:
        # What would go
        nsadmin deleteAcl operator-1 -c cluster-a --dry-run
        # What it says of one topic, on one broker
        nsadmin deleteAcl operator-1 -r Topic:orders -b 127.0.0.1:10911 --yes
    """
    name, chosen = _subject(subject), _resources("deleteAcl", resources)
    kind = values.one_of("deleteAcl", "--policyType", policy_type, POLICY_TYPES)
    targets = members_at(session, "deleteAcl", broker, cluster)
    session.confirm(f"Delete {', '.join(chosen) or 'the whole ACL'} of {name} from {places(targets)}?")
    plans = session.admin.acls.plan_delete(addrs(targets), name, chosen, kind)
    return _carried_out(session, targets, name, plans)


@shows(CHANGE_COLUMNS)
def copy_acl(
    session: Session,
    source: Annotated[
        str, Word(("-f", "--fromBroker"), "FROM", "The broker that has them: address or name.")
    ],
    target: Annotated[str, Word(("-t", "--toBroker"), "TO", "The broker that gets them: address or name.")],
    subjects: Annotated[
        str | None, Option("-s", "--subjects", metavar="A,B", help="Only these users' ACLs.")
    ] = None,
) -> Rows:
    """Copy ACLs from one broker to another, among those that are there; copyUser copies the users.

    Examples:
        # What the copy would change
        nsadmin copyAcl 127.0.0.1:10911 127.0.0.1:10921 --dry-run
        # Copy one user's ACL
        nsadmin copyAcl 127.0.0.1:10911 127.0.0.1:10921 -s User:operator-1 --yes
    """
    origin, goal = broker_addr(session, source), broker_addr(session, target)
    [found] = session.admin.acls.each([origin])
    if found.error is not None:
        raise found.error
    there = found.result or {}
    names = [_subject(name) for name in values.names("copyAcl", "-s", subjects)] or sorted(there)
    session.confirm(f"Copy {len(names)} ACLs from {origin} to {goal}?")
    plans = [_copied(session, origin, goal, name, there.get(name)) for name in names]
    done = plans if session.dry_run else session.admin.acls.carry_out(plans)
    rows = [_changed(session, at(goal), name, result) for name, result in zip(names, done, strict=True)]
    return Rows(CHANGE_COLUMNS, rows, [result.error for result in done], (), IN_TABLE)


def _copied(
    session: Session, origin: str, goal: str, subject: str, entries: Entries | None
) -> ServerResult[AclChange]:
    if not entries:
        return ServerResult(goal, None, NotFound(f"{origin} has no ACL of {subject}"))
    return session.admin.acls.plan_merge([goal], subject, entries)[0]


def _merge(
    session: Session,
    command: str,
    subject: str,
    entries: Sequence[AclEntry],
    broker: str | None,
    cluster: str | None,
) -> Rows:
    name = _subject(subject)
    targets = members_at(session, command, broker, cluster)
    what = "; ".join(map(_text, entries))
    session.confirm(f"Have {name} get {what} on {places(targets)}?")
    plans = session.admin.acls.plan_merge(addrs(targets), name, entries)
    return _carried_out(session, targets, name, plans)


def _carried_out(
    session: Session, targets: Sequence[Target], subject: str, plans: Sequence[ServerResult[AclChange]]
) -> Rows:
    done = carried_out(session, targets, plans, session.admin.acls.carry_out)
    rows = [_changed(session, target, subject, result) for target, result in done]
    return Rows(CHANGE_COLUMNS, rows, [result.error for _, result in done], (), IN_TABLE)


def _changed(session: Session, target: Target, subject: str, found: ServerResult[AclChange]) -> Row:
    _, before, after = found.result or AclChange(subject, (), ())
    word = "unchanged" if before == after else "dry-run" if session.dry_run else "done"
    shown: Row = {
        "before": [_fields(entry) for entry in before] or None,
        "after": [_fields(entry) for entry in after] or None,
        "changes": _words(before, after),
    }
    return {
        **identity(target),
        "subject": subject,
        **(shown if found.result else {}),
        **outcome(found.error, word),
    }


def _words(before: Entries, after: Entries) -> str | None:
    """The changes by resource: "new: Topic:a Allow Pub", "Topic:a Allow Pub -> Deny All", "gone: …"."""
    was, now = ({entry.place: entry for entry in entries} for entries in (before, after))
    changed = [place for place in {**was, **now} if was.get(place) != now.get(place)]
    found = []
    for place in changed:
        old, new = was.get(place), now.get(place)
        name = f"{place[1]} " if old and new else ""
        found.append(name + (words(_says(old, bool(name)), _says(new, bool(name))) or ""))
    return "; ".join(found) or None


def _says(entry: AclEntry | None, briefly: bool) -> str | None:
    if entry is None:
        return None
    source = f" from {','.join(entry.source_ips)}" if entry.source_ips else ""
    kind = "" if entry.policy_type == POLICY_TYPES[0] else f" ({entry.policy_type})"
    return (
        f"{'' if briefly else entry.resource + ' '}{entry.decision} {','.join(entry.actions)}{source}{kind}"
    )


def _text(entry: AclEntry) -> str:
    return _says(entry, False) or ""


def _fields(entry: AclEntry) -> dict[str, object]:
    return {
        "policyType": entry.policy_type,
        "resource": entry.resource,
        "actions": list(entry.actions),
        "sourceIps": list(entry.source_ips),
        "decision": entry.decision,
    }


def _row(target: Target, subject: str, entry: AclEntry) -> Row:
    return {**identity(target), "subject": subject, **_fields(entry)}


def _notes(
    results: Sequence[ServerResult[Entries]] | Sequence[ServerResult[dict[str, Entries]]],
) -> list[str]:
    return [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]


def _some(subject: str, entries: Entries) -> Entries:
    if not entries:
        raise NotFound(f"{subject} has no ACL")
    return entries


def _subject(text: str) -> str:
    """Complete a name to User:NAME: brokers know only this type, and fail on a subject without a type."""
    kind, colon, name = text.partition(":")
    if colon and (kind.lower() != "user" or not name):
        raise UsageError(f"{text!r} is no subject: type User:NAME")
    return f"User:{name if colon else text}"


def _entries(
    command: str, resources: str, actions: str, decision: str, source_ips: str | None
) -> tuple[AclEntry, ...]:
    acts = tuple(
        values.one_of(command, "-a", text, ACTIONS) or "" for text in values.names(command, "-a", actions)
    )
    verdict = values.one_of(command, "-d", decision, DECISIONS) or ""
    ips = tuple(_network(command, text) for text in values.names(command, "-i", source_ips))
    return tuple(AclEntry(name, acts, verdict, ips) for name in _resources(command, resources))


def _resources(command: str, text: str | None) -> list[str]:
    return [_resource(command, item) for item in values.names(command, "-r", text)]


def _resource(command: str, text: str) -> str:
    kind, colon, name = text.partition(":")
    known = next((word for word in RESOURCE_TYPES if word.lower() == kind.lower()), None)
    if text == "*":
        return text
    if not colon or known is None or not name or "*" in name[:-1]:
        raise UsageError(
            f"{command}: -r {text} cannot be: give TYPE:NAME, TYPE:PREFIX* or TYPE:* of"
            f" {', '.join(RESOURCE_TYPES)}, or * for everything"
        )
    return f"{known}:{name}"


def _network(command: str, text: str) -> str:
    from ipaddress import ip_network

    try:
        ip_network(text, strict=False)
    except ValueError:
        raise UsageError(
            f"{command}: -i {text} cannot be: give an address or a network such as 10.0.0.0/8"
        ) from None
    return text
