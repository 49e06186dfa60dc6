"""Owns listAcl, getAcl, createAcl, updateAcl, copyAcl and deleteAcl, the ACL commands for brokers since 5.3.

They refuse input that brokers accept but misread: an unknown resource type, a subject without "User:".
"""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.access.acls import (
    POLICY_TYPES,
    AclChange,
    AclEntries,
    AclEntry,
)
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrOption,
    ChangeTable,
    ClusterMembersOption,
    apply_target_plans,
    describe_targets,
    distinct_addrs,
    find_broker_addr,
    identity_cells,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.access.acl_arguments import parse_entries, parse_resources, parse_subject
from nsadmin.commands.access.acl_rows import acl_row, describe_acl_change, entry_cells, entry_text
from nsadmin.commands.columns.changes import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
)
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

ACL_COLUMNS = (*IDENTITY_COLUMNS, "subject", "policyType", "resource", "actions", "sourceIps", "decision")
ACL_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, "subject", *CHANGE_RESULT_COLUMNS)
ACL_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, "subject", *CHANGE_RESULT_IN_TABLE)

SubjectArgument = Annotated[
    str, Argument(metavar="SUBJECT", help="The user: User:NAME or NAME."), Flags("-s", "--subject")
]
ResourcesOption = Annotated[
    str,
    Option(
        "-r",
        "--resources",
        metavar="A,B",
        help="The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.",
    ),
]
ActionsOption = Annotated[
    str,
    Option(
        "-a",
        "--actions",
        metavar="A,B",
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
        metavar="A,B",
        help="Only for clients at these addresses or networks (10.0.0.0/8).",
    ),
]


@command(columns=ACL_COLUMNS)
def list_acl(
    session: Session,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
    subject_text: Annotated[
        str | None, Option("-s", "--subject", metavar="TEXT", help="Only subjects that contain this text.")
    ] = None,
    resource_text: Annotated[
        str | None, Option("-r", "--resource", metavar="TEXT", help="Only resources that contain this text.")
    ] = None,
) -> ResultRows:
    """Show the ACLs of a broker, or of every broker of a cluster.

    Each row shows one resource.

    Examples:
        # All ACLs of a cluster
        nsadmin listAcl -c cluster-a
        # Permissions for one topic, on one broker
        nsadmin listAcl -b 127.0.0.1:10911 -r Topic:orders
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    acl_results = match_results(
        broker_targets,
        session.admin.acls.list_entries(distinct_addrs(broker_targets), subject_text, resource_text),
    )
    acl_rows = [
        acl_row(broker_target, subject_name, acl_entry)
        for broker_target, acl_result in zip(broker_targets, acl_results, strict=True)
        for subject_name, acl_entries in sorted((acl_result.result or {}).items())
        for acl_entry in acl_entries
    ]
    return ResultRows(
        ACL_COLUMNS, acl_rows, [acl_result.error for acl_result in acl_results], _failure_notes(acl_results)
    )


@command(columns=ACL_COLUMNS)
def get_acl(
    session: Session,
    subject_text: SubjectArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show the ACL of one user, on a broker or on every broker of a cluster.

    Examples:
        # A user's ACL on every broker of a cluster
        nsadmin getAcl User:operator-1 -c cluster-a
    """
    subject_name = parse_subject(subject_text)
    broker_targets = select_members(session, broker_text, cluster_name)
    acl_results = [
        acl_result.then(lambda acl_entries: _require_entries(subject_name, acl_entries))
        for acl_result in match_results(
            broker_targets, session.admin.acls.get_entries(distinct_addrs(broker_targets), subject_name)
        )
    ]
    acl_rows = [
        acl_row(broker_target, subject_name, acl_entry)
        for broker_target, acl_result in zip(broker_targets, acl_results, strict=True)
        for acl_entry in acl_result.result or ()
    ]
    return ResultRows(
        ACL_COLUMNS, acl_rows, [acl_result.error for acl_result in acl_results], _failure_notes(acl_results)
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

    The entry is added to the user's ACL. It replaces an entry for the same resource. The user must exist.

    Examples:
        # Allow a user to send to a topic and to read it
        nsadmin createAcl operator-1 -r Topic:orders -a Pub,Sub -d Allow -c cluster-a --yes
        # Preview an entry for clients in one network
        nsadmin createAcl operator-1 -r Group:* -a Sub -d Allow -i 10.0.0.0/8 -c cluster-a --dry-run
    """
    acl_entries = parse_entries(resource_list, action_list, decision_text, source_ip_list)
    return _merge_acl(session, subject_text, acl_entries, broker_text, cluster_name)


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
        # Allow a user only to read a topic
        nsadmin updateAcl operator-1 -r Topic:orders -a Sub -d Allow -c cluster-a --yes
    """
    acl_entries = parse_entries(resource_list, action_list, decision_text, source_ip_list)
    return _merge_acl(session, subject_text, acl_entries, broker_text, cluster_name)


@command(columns=ACL_CHANGE_COLUMNS)
def delete_acl(
    session: Session,
    subject_text: SubjectArgument,
    resource_list: Annotated[
        str | None,
        Option(
            "-r",
            "--resources",
            metavar="A,B",
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
        nsadmin deleteAcl operator-1 -c cluster-a --dry-run
        # Delete the entry for one topic, on one broker
        nsadmin deleteAcl operator-1 -r Topic:orders -b 127.0.0.1:10911 --yes
    """
    subject, chosen_resources = parse_subject(subject_text), parse_resources(resource_list)
    policy_kind = argument_values.parse_choice("--policyType", policy_type, POLICY_TYPES)
    broker_targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(
        f"Delete {', '.join(chosen_resources) or 'the whole ACL'} of {subject} from "
        f"{describe_targets(broker_targets)}?"
    )
    planned_changes = session.admin.acls.plan_delete(
        distinct_addrs(broker_targets), subject, chosen_resources, policy_kind
    )
    return _apply_acl_plans(session, broker_targets, subject, planned_changes)


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
        str | None, Option("-s", "--subjects", metavar="A,B", help="Only the ACLs of these users.")
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
    source_addr, target_addr = (
        find_broker_addr(session, source_broker),
        find_broker_addr(session, target_broker),
    )
    [source_result] = session.admin.acls.list_entries([source_addr])
    if source_result.error is not None:
        raise source_result.error
    source_entries = source_result.result or {}
    subject_names = [
        parse_subject(subject_name) for subject_name in argument_values.parse_name_list("-s", subject_list)
    ] or sorted(source_entries)
    session.confirm_change(f"Copy {len(subject_names)} ACLs from {source_addr} to {target_addr}?")
    planned_changes = [
        _plan_copy(session, source_addr, target_addr, subject_name, source_entries.get(subject_name))
        for subject_name in subject_names
    ]
    change_results = (
        planned_changes if session.is_dry_run else session.admin.acls.apply_plans(planned_changes)
    )
    change_rows = [
        _acl_change_row(session, target_at_addr(target_addr), subject_name, change_result)
        for subject_name, change_result in zip(subject_names, change_results, strict=True)
    ]
    return ResultRows(
        ACL_CHANGE_COLUMNS,
        change_rows,
        [change_result.error for change_result in change_results],
        (),
        ACL_CHANGE_TABLE_COLUMNS,
    )


def _plan_copy(
    session: Session, source_addr: str, target_addr: str, subject: str, acl_entries: AclEntries | None
) -> ServerResult[AclChange]:
    if not acl_entries:
        return ServerResult(target_addr, None, NotFound(f"{source_addr} has no ACL of {subject}"))
    return session.admin.acls.plan_merge([target_addr], subject, acl_entries)[0]


def _merge_acl(
    session: Session,
    subject_text: str,
    acl_entries: Sequence[AclEntry],
    broker_text: str | None,
    cluster_name: str | None,
) -> ResultRows:
    subject_name = parse_subject(subject_text)
    broker_targets = select_members(session, broker_text, cluster_name)
    entries_text = "; ".join(map(entry_text, acl_entries))
    session.confirm_change(f"Set {entries_text} for {subject_name} on {describe_targets(broker_targets)}?")
    planned_changes = session.admin.acls.plan_merge(distinct_addrs(broker_targets), subject_name, acl_entries)
    return _apply_acl_plans(session, broker_targets, subject_name, planned_changes)


def _apply_acl_plans(
    session: Session,
    broker_targets: Sequence[BrokerTarget],
    subject_name: str,
    planned_changes: Sequence[ServerResult[AclChange]],
) -> ResultRows:
    change_table = ChangeTable[AclChange](
        ACL_CHANGE_COLUMNS,
        ACL_CHANGE_TABLE_COLUMNS,
        lambda broker_target, change_result: _acl_change_row(
            session, broker_target, subject_name, change_result
        ),
    )
    apply_plans = session.admin.acls.apply_plans
    return apply_target_plans(session, broker_targets, planned_changes, apply_plans, change_table)


def _acl_change_row(
    session: Session, broker_target: BrokerTarget, subject_name: str, change_result: ServerResult[AclChange]
) -> ResultRow:
    _, entries_before, entries_after = change_result.result or AclChange(subject_name, (), ())
    result_word = (
        "unchanged" if entries_before == entries_after else "dry-run" if session.is_dry_run else "done"
    )
    difference_cells: ResultRow = {
        "before": [entry_cells(acl_entry) for acl_entry in entries_before] or None,
        "after": [entry_cells(acl_entry) for acl_entry in entries_after] or None,
        "changes": describe_acl_change(entries_before, entries_after),
    }
    return {
        **identity_cells(broker_target),
        "subject": subject_name,
        **(difference_cells if change_result.result else {}),
        **outcome_cells(change_result.error, result_word),
    }


def _failure_notes(
    acl_results: Sequence[ServerResult[AclEntries]] | Sequence[ServerResult[dict[str, AclEntries]]],
) -> list[str]:
    return [
        f"broker {acl_result.addr}: {error_text(acl_result.error)}"
        for acl_result in acl_results
        if acl_result.error
    ]


def _require_entries(subject_name: str, acl_entries: AclEntries) -> AclEntries:
    if not acl_entries:
        raise NotFound(f"{subject_name} has no ACL")
    return acl_entries
