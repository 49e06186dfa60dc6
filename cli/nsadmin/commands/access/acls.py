"""Owns listAcl, getAcl, createAcl, updateAcl, copyAcl and deleteAcl, the ACL commands for brokers since 5.3.

They refuse input that brokers accept but misread: an unknown resource type, a subject without "User:".
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.access.acls import (
    POLICY_TYPES,
    AclChange,
    AclEntries,
    AclEntry,
)
from nsadmin.client.access.users import User
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
from nsadmin.client.results import is_not_found
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    BrokerAddrOption,
    ClusterMembersOption,
    ReadBrokerOption,
    describe_targets,
    distinct_addrs,
    find_broker_addr,
    list_members,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.server_name_suggestions import remark_unknown_names
from nsadmin.commands.access.acl_arguments import parse_entries, parse_resources, parse_subject
from nsadmin.commands.access.broker_agreement import BROKERS, describe_differences, list_holders
from nsadmin.commands.access.enforcement import remark_super_user, remark_super_users, warn_of_no_effect
from nsadmin.commands.access.users import USER_STATUS, USER_TYPE
from nsadmin.commands.columns.changes import (
    ServerChange,
    broker_change_columns,
    broker_change_rows,
    describe_change,
)
from nsadmin.commands.columns.servers import drop_absences, result_notes
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part, read_row
from nsadmin.console.phrases import count_noun, failed_on
from nsadmin.console.session import Session

SUBJECT: AnyColumn = Column("subject", "the user, as User:NAME", lambda r: r[2])
ENTRY_COLUMNS: Columns[AclEntry] = (
    Column("policyType", "Custom, or Default: applies if no other entry does", lambda e: e.policy_type),
    Column(
        "resource",
        "topic, group, cluster or namespace: TYPE:NAME, TYPE:PREFIX*, TYPE:*, or * for all resources",
        lambda e: e.resource,
    ),
    Column("actions", "the actions that are allowed or denied", lambda e: list(e.actions)),
    Column(
        "sourceIps",
        "client addresses and networks that the entry applies to; empty for all",
        lambda e: list(e.source_ips),
    ),
    Column("decision", "Allow or Deny", lambda e: e.decision),
)
ACL_COLUMNS: Columns[tuple[list[str], AclEntry | None, str, User | None]] = (
    SUBJECT,
    USER_TYPE.of(lambda r: r[3] and r[3].user_type),
    USER_STATUS.of(lambda r: r[3] and r[3].user_status),
    *of_part(itemgetter(1), ENTRY_COLUMNS),
    BROKERS,
)
ACL_CHANGE_COLUMNS = broker_change_columns(SUBJECT)
_CREATIONS = (("Topic:", "topics", "updateTopic"), ("Group:", "groups", "updateSubGroup"))
"""The beginning of a resource, where its names are listed, and the command that creates it."""
SubjectArgument = Annotated[
    str, Argument(metavar="SUBJECT", help="The user: User:NAME or NAME."), Flags("-s", "--subject")
]
ResourcesOption = Annotated[
    str,
    Option(
        "-r",
        "--resources",
        metavar="RESOURCES",
        help="The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.",
    ),
]
ActionsOption = Annotated[
    str,
    Option(
        "-a",
        "--actions",
        metavar="ACTIONS",
        help="The actions: All, Pub, Sub, Create, Update, Delete, Get, List.",
    ),
]
DecisionOption = Annotated[
    str, Option("-d", "--decision", metavar="Allow|Deny", help="The decision: Allow or Deny.")
]
SourceIpsOption = Annotated[
    str | None,
    Option(
        "-i",
        "--sourceIp",
        metavar="NETWORKS",
        help="Only for clients at these addresses or networks (10.0.0.0/8).",
    ),
]


@command(columns=ACL_COLUMNS, nothing="no ACLs")
def list_acl(
    session: Session,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMembersOption = None,
    subject_text: Annotated[
        str | None, Option("-s", "--subject", metavar="TEXT", help="Only subjects that contain this text.")
    ] = None,
    resource_text: Annotated[
        str | None, Option("-r", "--resource", metavar="TEXT", help="Only resources that contain this text.")
    ] = None,
    target_text: Annotated[
        str | None,
        Option(
            "--for", metavar="RESOURCE", help="Only entries that apply to this one, such as Topic:orders."
        ),
    ] = None,
) -> ResultRows:
    """Show the ACLs of brokers. Each row shows one resource, and the brokers where the entry is the same.

    Without -r and --for, a user without an entry has a row, too. Lines on stderr name the entries that differ
    between brokers of a cluster, and the brokers that do not check ACLs. Others name the Super users, which
    may do everything without an entry, and the disabled users, which may do nothing. --for Topic:orders also
    finds entries for Topic:ord*, for Topic:* and for *.

    Examples:
        # All ACLs of a cluster; do all its brokers have the same: stderr names each difference
        nsadmin listAcl -c cluster-a
        # Who can publish, is allowed to write to a topic (Pub), or to read it (Sub): all users with access
        nsadmin listAcl --for Topic:orders
        # Why is a user denied, "no permission": its entries for a topic, with actions, networks and decision
        nsadmin listAcl --for Topic:orders -s operator-1
        # For an auditor: a list of all accounts with type, status and rights, as a spreadsheet
        nsadmin listAcl --output spreadsheet
    """
    wanted = parse_resources(target_text, "--for")
    targets = list_members(session, broker_text, cluster_name)
    addrs = distinct_addrs(targets)
    results = session.admin.acls.list_entries(addrs, subject_text, resource_text)
    warn_of_no_effect(session, "ACLs", results)
    if wanted:

        def choose(entries_by_subject: dict[str, AclEntries]) -> dict[str, AclEntries]:
            return {
                subject: tuple(entry for entry in entries if all(map(entry.applies_to, wanted)))
                for subject, entries in entries_by_subject.items()
            }

        results = [r.then(choose) for r in results]
    users = session.admin.users.list_users(addrs)
    has_entries = any(result.result for result in results)
    remark_super_users(session, users, None if has_entries else subject_text)
    idle_text = None if wanted or resource_text else subject_text or ""
    return _entry_rows(session, targets, results, users, idle_text)


@command(columns=ACL_COLUMNS)
def get_acl(
    session: Session,
    subject_text: SubjectArgument,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show the ACL of one user, on a broker or on every broker of a cluster.

    A Super user may do everything, also without an ACL, and a disabled one nothing. A line on stderr says so.
    Other lines name brokers that do not have the user, or no ACL of it, or another ACL than the others.

    Examples:
        # What a user may do, and why it is denied the rest: its rights on all brokers, or that it is disabled
        nsadmin getAcl operator-1
        # On the brokers of one cluster
        nsadmin getAcl User:operator-1 -c cluster-a
    """
    subject = parse_subject(subject_text)

    def require_entries(entries: AclEntries) -> dict[str, AclEntries]:
        if not entries:
            raise NotFound(f"{subject} has no ACL")
        return {subject: entries}

    targets = list_members(session, broker_text, cluster_name)
    addrs = distinct_addrs(targets)
    results = session.admin.acls.get_entries(addrs, subject)
    warn_of_no_effect(session, "ACLs", results)
    users = session.admin.users.get_user(addrs, subject.removeprefix("User:"))
    remark_super_user(session, subject, users)
    return _entry_rows(
        session,
        targets,
        [r.then(require_entries) for r in results],
        [r.then(lambda user: (user,)) for r in users],
    )


def _entry_rows(
    session: Session,
    targets: Sequence[BrokerTarget],
    results: Sequence[ServerResult[dict[str, AclEntries]]],
    users: Sequence[ServerResult[tuple[User, ...]]],
    idle_text: str | None = None,
) -> ResultRows:
    """The entries of each broker; also the users without an entry whose subject has the text."""
    results = match_results(targets, results)
    users_by_addr = {
        r.addr: {f"User:{user.username}": user._replace(password=None) for user in r.result or ()}
        for r in users
    }
    rights = []
    for result in results:
        entries_by_subject = result.result
        own_users = users_by_addr.get(result.addr, {})
        own_rights: list[tuple[AclEntry | None, str, User | None]] = [
            (entry, subject, own_users.get(subject))
            for subject, entries in (entries_by_subject or {}).items()
            for entry in entries
        ]
        if entries_by_subject is not None and idle_text is not None:
            own_rights += [
                (None, subject, user)
                for subject, user in own_users.items()
                if idle_text in subject and not entries_by_subject.get(subject)
            ]
        rights.append(own_rights)
    holders = list_holders(targets, rights)
    differences = describe_differences(
        session,
        targets,
        [
            None
            if result.result is None
            else {
                f"ACL of {subject}, {entry.resource}{_name_policy(entry)}": {"": _describe_permission(entry)}
                for subject, entries in result.result.items()
                for entry in entries
            }
            for result in results
        ],
    )
    return ResultRows.from_records(
        ACL_COLUMNS,
        sorted(((brokers, *right) for right, brokers in holders.items()), key=itemgetter(2)),
        drop_absences(r.error for r in results),
        [*result_notes(results), *differences],
    )


@command(columns=ACL_CHANGE_COLUMNS)
def create_acl(
    session: Session,
    subject_text: SubjectArgument,
    resource_list: ResourcesOption,
    action_list: ActionsOption,
    decision_text: DecisionOption,
    source_ip_list: SourceIpsOption = None,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Allow or deny actions on resources to a user, on a broker or on every broker of a cluster.

    First create the user, with `nsadmin createUser`. It must be Normal, as new users are: brokers check no
    ACL for a Super user. The entry is added to the user's ACL. It replaces an entry for the same resource. To
    read a topic, a consumer needs Sub on the topic and on its group. It also needs Get, which reads the end
    of a queue where the group has no offset yet.

    Examples:
        # A producer: allow a user only to send (write) to one topic
        nsadmin createAcl shop -r Topic:orders -a Pub -d Allow -c cluster-a --yes
        # Allow a user to send to a topic, and to read it with one group
        nsadmin createAcl shop -r Topic:orders,Group:shipping -a Pub,Sub,Get -d Allow -c cluster-a --yes
        # A consumer: read-only access to one topic, with one group, from the IP addresses of one network
        nsadmin createAcl shop -r Topic:orders,Group:ship -a Sub,Get -d Allow -i 10.0.0.0/8 -c cluster-a --yes
        # A team: give a user access only to topics and groups whose names start (begin) with its prefix
        nsadmin createAcl shop -r 'Topic:pay*,Group:pay*' -a Pub,Sub,Get -d Allow -c cluster-a --yes
        # Read-only access for a colleague: the user may look at all topics and groups, and change nothing
        nsadmin createAcl shop -r 'Topic:*,Group:*' -a Get,List -d Allow -c cluster-a --yes
        # Preview: a user may only send (publish) to a topic, from the IP addresses of one network
        nsadmin createAcl shop -r Topic:orders -a Pub -d Allow -i 10.0.0.0/8 -c cluster-a --dry-run
    """
    entries = parse_entries(resource_list, action_list, decision_text, source_ip_list)
    return _merge_acl(session, subject_text, entries, broker_text, cluster_name)


@command(columns=ACL_CHANGE_COLUMNS)
def update_acl(
    session: Session,
    subject_text: SubjectArgument,
    resource_list: ResourcesOption,
    action_list: ActionsOption,
    decision_text: DecisionOption,
    source_ip_list: SourceIpsOption = None,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Change entries of a user's ACL, resource by resource.

    Entries for other resources do not change. An entry for a new resource is added.

    Examples:
        # Let an application also send to one more topic; its rights on other topics and groups stay
        nsadmin updateAcl shop -r Topic:payments -a Pub -d Allow -c cluster-a --yes
        # Change the rights of a user on a topic: allow it only to read the topic
        nsadmin updateAcl shop -r Topic:orders -a Sub -d Allow -c cluster-a --yes
    """
    entries = parse_entries(resource_list, action_list, decision_text, source_ip_list)
    return _merge_acl(session, subject_text, entries, broker_text, cluster_name)


@command(columns=ACL_CHANGE_COLUMNS)
def delete_acl(
    session: Session,
    subject_text: SubjectArgument,
    resource_list: Annotated[
        str | None,
        Option(
            "-r",
            "--resources",
            metavar="RESOURCES",
            help="Delete only the entries for these resources. Default: the whole ACL.",
        ),
    ] = None,
    policy_type: Annotated[
        str | None,
        Option(
            "--policyType",
            metavar="Custom|Default",
            help="Delete only entries of this policy type. Default: both types.",
        ),
    ] = None,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Delete a user's ACL, or its entries for some resources.

    It is an error if the ACL or an entry does not exist.

    Examples:
        # Preview the deletion
        nsadmin deleteAcl shop -c cluster-a --dry-run
        # Revoke access: take away the rights of a user on one topic, on all brokers of a cluster
        nsadmin deleteAcl shop -r Topic:orders -c cluster-a --yes
    """
    subject, chosen_resources = parse_subject(subject_text), parse_resources(resource_list)
    policy_kind = argument_values.parse_choice("--policyType", policy_type, POLICY_TYPES)
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(
        f"Delete {', '.join(chosen_resources) or 'the whole ACL'} of {subject} from "
        f"{describe_targets(targets)}?"
    )
    plans = session.admin.acls.plan_delete(distinct_addrs(targets), subject, chosen_resources, policy_kind)
    return _apply_plans(session, targets, subject, plans)


@command(columns=ACL_CHANGE_COLUMNS)
def copy_acl(
    session: Session,
    source_broker: Annotated[
        str,
        Argument(metavar="FROM", help="The broker to copy from: address or name."),
        Flags("-f", "--fromBroker"),
    ],
    target_broker: Annotated[
        str, Argument(metavar="TO", help="The broker to copy to: address or name."), Flags("-t", "--toBroker")
    ],
    subject_list: Annotated[
        str | None, Option("-s", "--subjects", metavar="USERS", help="Only the ACLs of these users.")
    ] = None,
) -> ResultRows:
    """Copy ACLs from one broker to another. Use copyUser to copy the users.

    ACLs that exist only on the target broker stay.

    Examples:
        # Preview the copy
        nsadmin copyAcl 127.0.0.1:10911 127.0.0.1:10921 --dry-run
        # Copy one user's ACL
        nsadmin copyAcl 127.0.0.1:10911 127.0.0.1:10921 -s User:operator-1 --yes
    """
    source_addr = find_broker_addr(session, source_broker)
    target_addr = find_broker_addr(session, target_broker)
    [source_result] = session.admin.acls.list_entries([source_addr])
    source_entries = source_result.value()
    subjects = [
        parse_subject(name) for name in argument_values.parse_name_list("-s", subject_list)
    ] or sorted(source_entries)

    def plan_copy(subject: str) -> ServerResult[AclChange]:
        if not source_entries.get(subject):
            return ServerResult(target_addr, None, NotFound(f"{source_addr} has no ACL of {subject}"))
        [plan] = session.admin.acls.plan_merge([target_addr], subject, source_entries[subject])
        if not is_not_found(plan.error):
            return plan
        name = subject.removeprefix("User:")
        copying = quote_command("copyUser", source_broker, target_broker, "-u", name)
        return plan._replace(error=NotFound(f'{target_broker} has no user "{name}": run {copying}'))

    results = [plan_copy(subject) for subject in subjects]
    warn_of_no_effect(session, "ACLs", results)
    session.confirm_change(f"Copy {count_noun(len(subjects), 'ACL')} from {source_addr} to {target_addr}?")
    if not session.is_dry_run:
        results = session.admin.acls.apply_plans(results)
    changes = [_describe_result(session, r) for r in results]
    errors = [change.error for change in changes]
    target = target_at_addr(target_addr)
    return ResultRows.from_records(
        ACL_CHANGE_COLUMNS,
        [(target, change, subject) for change, subject in zip(changes, subjects, strict=True)],
        errors,
        failed_on(errors, "user"),
    )


def _merge_acl(
    session: Session,
    subject_text: str,
    entries: Sequence[AclEntry],
    broker_text: str | None,
    cluster_name: str | None,
) -> ResultRows:
    subject = parse_subject(subject_text)
    targets = select_members(session, broker_text, cluster_name)
    where = ("-c", cluster_name) if cluster_name else ("-b", broker_text or "")
    entries_text = "; ".join(map(_describe_entry, entries))
    plans = session.admin.acls.plan_merge(distinct_addrs(targets), subject, entries)
    warn_of_no_effect(session, "ACLs", plans)
    # One broker alone does not tell which topics and groups exist.
    if session.namesrv_addrs:
        resources = [entry.resource for entry in entries if not entry.resource.endswith("*")]
        for prefix, value_source, creation in _CREATIONS:
            names = [r.removeprefix(prefix) for r in resources if r.startswith(prefix)]
            remark_unknown_names(session, value_source, names, creation, where)
    planned_addrs = [plan.addr for plan in plans if plan.error is None]
    users = session.admin.users.get_user(planned_addrs, subject.removeprefix("User:"))
    remark_super_user(session, subject, users)
    session.confirm_change(f"Set {entries_text} for {subject} on {describe_targets(targets)}?")
    rows = _apply_plans(session, targets, subject, plans)
    if not any(isinstance(error, NotFound) for error in rows.errors):
        return rows
    creation = quote_command("createUser", subject.removeprefix("User:"), *where)
    return rows.with_notes(f"create the user first: {creation}")


def _apply_plans(
    session: Session,
    targets: Sequence[BrokerTarget],
    subject: str,
    plans: Sequence[ServerResult[AclChange]],
) -> ResultRows:
    results = plans if session.is_dry_run else session.admin.acls.apply_plans(plans)
    changes = [_describe_result(session, r) for r in match_results(targets, results)]
    return broker_change_rows(ACL_CHANGE_COLUMNS, targets, changes, {SUBJECT: subject})


def _describe_result(session: Session, result: ServerResult[AclChange]) -> ServerChange:
    if result.result is None:
        return ServerChange(result.addr, None, None, result.error)
    _, before, after = result.result
    done = "unchanged" if before == after else "dry-run" if session.is_dry_run else "done"
    words = _describe_acl_change(before, after)
    return ServerChange(result.addr, _entry_cells(before), _entry_cells(after), None, done, words=words)


def _entry_cells(entries: AclEntries) -> list[dict[str, object]] | None:
    return [read_row(ENTRY_COLUMNS, entry) for entry in entries] or None


def _describe_acl_change(before: AclEntries, after: AclEntries) -> str | None:
    """The changes by resource: "new: Topic:a Allow Pub", "Topic:a Allow Pub -> Deny All", "removed: …"."""
    old_by_key, new_by_key = ({e.policy_key: e for e in entries} for entries in (before, after))
    texts = []
    for key in {**old_by_key, **new_by_key}:
        old, new = old_by_key.get(key), new_by_key.get(key)
        if old == new:
            continue
        if old and new:
            change = describe_change(_describe_permission(old), _describe_permission(new))
            texts.append(f"{key[1]} {change or ''}")
        else:
            texts.append(describe_change(old and _describe_entry(old), new and _describe_entry(new)) or "")
    return "; ".join(texts) or None


def _describe_entry(entry: AclEntry) -> str:
    return f"{entry.resource} {_describe_permission(entry)}"


def _describe_permission(entry: AclEntry) -> str:
    source = f" from {','.join(entry.source_ips)}" if entry.source_ips else ""
    return f"{entry.decision} {','.join(entry.actions)}{source}{_name_policy(entry)}"


def _name_policy(entry: AclEntry) -> str:
    return "" if entry.policy_type == POLICY_TYPES[0] else f" ({entry.policy_type})"
