"""Owns listUser, getUser, createUser, updateUser, copyUser and deleteUser, for brokers 5.3 and later.

Each broker, also each slave, has its own users. No command shows a password.
"""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.access.users import USER_STATUSES, USER_TYPES, User, UserChange
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
from nsadmin.commands.access import password_input
from nsadmin.commands.columns.changes import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    describe_change,
)
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

USER_COLUMNS = (*IDENTITY_COLUMNS, "username", "userType", "userStatus")
USER_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, "username", *CHANGE_RESULT_COLUMNS)
USER_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, "username", *CHANGE_RESULT_IN_TABLE)

UsernameArgument = Annotated[
    str, Argument(metavar="NAME", help="Name of the user."), Flags("-u", "--username")
]
UserTypeOption = Annotated[
    str | None,
    Option(
        "-t",
        "--userType",
        metavar="Normal|Super",
        help="Normal: permissions come from ACLs. Super: all permissions.",
    ),
]
PasswordOption = Annotated[
    str | None,
    Option("-p", "--password", metavar="TEXT", help="The password. Needs --passwordVisible."),
]


@command(columns=USER_COLUMNS)
def list_user(
    session: Session,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
    name_filter: Annotated[
        str | None, Option("-f", metavar="TEXT", help="Only users whose names contain this text.")
    ] = None,
) -> ResultRows:
    """List the users of a broker, or of every broker of a cluster.

    A line on stderr names each user that differs between brokers.

    Examples:
        # Users of every broker of a cluster
        nsadmin listUser -c cluster-a
        # Users of one broker whose names contain a text
        nsadmin listUser -b 127.0.0.1:10911 -f operator
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    user_results = match_results(
        broker_targets, session.admin.users.list_users(distinct_addrs(broker_targets), name_filter)
    )
    user_rows = [
        _user_row(broker_target, broker_user)
        for broker_target, users_result in zip(broker_targets, user_results, strict=True)
        for broker_user in users_result.result or ()
    ]
    return ResultRows(
        USER_COLUMNS,
        user_rows,
        [users_result.error for users_result in user_results],
        _user_notes(user_results),
    )


@command(columns=USER_COLUMNS)
def get_user(
    session: Session,
    username: UsernameArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show one user on a broker, or on every broker of a cluster.

    Examples:
        # A user on every broker of a cluster
        nsadmin getUser operator-1 -c cluster-a
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    user_results = match_results(
        broker_targets, session.admin.users.get_user(distinct_addrs(broker_targets), username)
    )
    user_rows = [
        _user_row(broker_target, user_result.result)
        for broker_target, user_result in zip(broker_targets, user_results, strict=True)
        if user_result.result
    ]
    users_by_target: list[ServerResult[tuple[User, ...]]] = [
        user_result.then(lambda broker_user: (broker_user,)) for user_result in user_results
    ]
    return ResultRows(
        USER_COLUMNS,
        user_rows,
        [user_result.error for user_result in user_results],
        _user_notes(users_by_target),
    )


@command(columns=USER_CHANGE_COLUMNS, agent_refusal="it needs a secret, which the client would see")
def create_user(
    session: Session,
    username: UsernameArgument,
    user_type: UserTypeOption = None,
    password: PasswordOption = None,
    password_file: password_input.PasswordFileOption = None,
    password_stdin: password_input.PasswordStdinOption = False,
    password_visible: password_input.PasswordVisibleOption = False,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Create a user on a broker, or on every broker of a cluster. nsadmin asks for the password.

    A broker that already has the user does not change. The other brokers still get it.

    Examples:
        # Preview the creation, with the password from standard input
        nsadmin createUser shop -c cluster-a --passwordStdin --dry-run
        # Create a user whose permissions come from ACLs, with the password from a file
        nsadmin createUser shop -c cluster-a --passwordFile shop.password --yes
    """
    type_name = argument_values.parse_choice("-t", user_type, USER_TYPES) or "Normal"
    broker_targets = select_members(session, broker_text, cluster_name)
    new_password = password_input.read_password(
        session,
        password,
        password_file,
        password_stdin,
        password_visible,
        prompt_if_missing=True,
    )
    session.confirm_change(f'Create the {type_name} user "{username}" on {describe_targets(broker_targets)}?')
    planned_changes = session.admin.users.plan_create(
        distinct_addrs(broker_targets), User(username, new_password, type_name)
    )
    return _apply_user_plans(session, broker_targets, username, planned_changes)


@command(columns=USER_CHANGE_COLUMNS)
def update_user(
    session: Session,
    username: UsernameArgument,
    user_type: UserTypeOption = None,
    user_status: Annotated[
        str | None,
        Option("-s", "--userStatus", metavar="enable|disable", help="Whether the user can sign requests."),
    ] = None,
    password: PasswordOption = None,
    password_prompt: Annotated[
        bool, Option("--passwordPrompt", help="Ask for a new password on the terminal.")
    ] = False,
    password_file: password_input.PasswordFileOption = None,
    password_stdin: password_input.PasswordStdinOption = False,
    password_visible: password_input.PasswordVisibleOption = False,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Change a user's password, type or status, on a broker or on every broker of a cluster.

    Settings that you do not pass stay.

    Examples:
        # Disable a user
        nsadmin updateUser operator-1 -s disable -c cluster-a --yes
        # Set another password, from a file
        nsadmin updateUser operator-1 --passwordFile shop.password -c cluster-a --yes
    """
    type_name = argument_values.parse_choice("-t", user_type, USER_TYPES)
    status_name = argument_values.parse_choice("-s", user_status, USER_STATUSES)
    broker_targets = select_members(session, broker_text, cluster_name)
    new_password = password_input.read_password(
        session,
        password,
        password_file,
        password_stdin,
        password_visible,
        prompt_if_missing=password_prompt,
    )
    if (new_password, type_name, status_name) == (None, None, None):
        raise UsageError("nothing to change: pass -t, -s, --passwordPrompt or --passwordFile")
    session.confirm_change(f'Change the user "{username}" on {describe_targets(broker_targets)}?')
    planned_changes = session.admin.users.plan_update(
        distinct_addrs(broker_targets), User(username, new_password, type_name, status_name)
    )
    return _apply_user_plans(session, broker_targets, username, planned_changes)


@command(columns=USER_CHANGE_COLUMNS)
def delete_user(
    session: Session,
    username: UsernameArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Delete a user and its ACL from a broker, or from every broker of a cluster.

    Examples:
        # Preview the deletion
        nsadmin deleteUser operator-1 -c cluster-a --dry-run
        # Delete it on one broker
        nsadmin deleteUser operator-1 -b 127.0.0.1:10911 --yes
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(
        f'Delete the user "{username}" and its ACL from {describe_targets(broker_targets)}?'
    )
    planned_changes = session.admin.users.plan_delete(distinct_addrs(broker_targets), username)
    return _apply_user_plans(session, broker_targets, username, planned_changes)


@command(columns=USER_CHANGE_COLUMNS)
def copy_user(
    session: Session,
    source_broker: Annotated[
        str,
        Argument(metavar="FROM", help="The broker to copy from: address or name."),
        Flags("-f", "--fromBroker"),
    ],
    target_broker: Annotated[
        str, Argument(metavar="TO", help="The broker to copy to: address or name."), Flags("-t", "--toBroker")
    ],
    username_list: Annotated[
        str | None, Option("-u", "--usernames", metavar="A,B", help="Only these users.")
    ] = None,
) -> ResultRows:
    """Copy users with their passwords from one broker to another.

    Users that already exist on the target broker are overwritten.

    Examples:
        # Preview the copy
        nsadmin copyUser 127.0.0.1:10911 127.0.0.1:10921 --dry-run
        # Copy one user
        nsadmin copyUser 127.0.0.1:10911 127.0.0.1:10921 -u operator-1 --yes
    """
    source_addr, target_addr = (
        find_broker_addr(session, source_broker),
        find_broker_addr(session, target_broker),
    )
    [source_result] = session.admin.users.list_users([source_addr])
    if source_result.error is not None:
        raise source_result.error
    source_users = {source_user.username: source_user for source_user in source_result.result or ()}
    wanted_names = argument_values.parse_name_list("-u", username_list) or [*source_users]
    missing_errors = {
        username: NotFound(f'{source_addr} has no user "{username}"')
        for username in wanted_names
        if username not in source_users
    }
    copied_users = [source_users[username] for username in wanted_names if username in source_users]
    session.confirm_change(f"Copy {len(copied_users)} users from {source_addr} to {target_addr}?")
    planned_changes = session.admin.users.plan_copy(target_addr, copied_users)
    change_results = (
        planned_changes if session.is_dry_run else session.admin.users.apply_plans(planned_changes)
    )
    results_by_name = dict(
        zip((source_user.username for source_user in copied_users), change_results, strict=True)
    )
    row_results = [
        results_by_name.get(username) or ServerResult(target_addr, None, missing_errors.get(username))
        for username in wanted_names
    ]
    change_rows = [
        _user_change_row(session, target_at_addr(target_addr), username, change_result)
        for username, change_result in zip(wanted_names, row_results, strict=True)
    ]
    return ResultRows(
        USER_CHANGE_COLUMNS,
        change_rows,
        [change_result.error for change_result in row_results],
        (),
        USER_CHANGE_TABLE_COLUMNS,
    )


def _apply_user_plans(
    session: Session,
    broker_targets: Sequence[BrokerTarget],
    username: str,
    planned_changes: Sequence[ServerResult[UserChange]],
) -> ResultRows:
    change_table = ChangeTable[UserChange](
        USER_CHANGE_COLUMNS,
        USER_CHANGE_TABLE_COLUMNS,
        lambda broker_target, change_result: _user_change_row(
            session, broker_target, username, change_result
        ),
    )
    apply_plans = session.admin.users.apply_plans
    return apply_target_plans(session, broker_targets, planned_changes, apply_plans, change_table)


def _user_change_row(
    session: Session, broker_target: BrokerTarget, username: str, change_result: ServerResult[UserChange]
) -> ResultRow:
    user_before, user_after = change_result.result or UserChange(None, None)
    result_word = "unchanged" if user_before == user_after else "dry-run" if session.is_dry_run else "done"
    difference_cells: ResultRow = {
        "before": _user_cells(user_before),
        "after": _user_cells(user_after),
        "changes": _describe_user_change(user_before, user_after),
    }
    return {
        **identity_cells(broker_target),
        "username": username,
        **(difference_cells if change_result.result else {}),
        **outcome_cells(change_result.error, result_word),
    }


def _describe_user_change(user_before: User | None, user_after: User | None) -> str | None:
    change_text = describe_change(_user_cells(user_before), _user_cells(user_after))
    if user_before and user_after and user_before.password != user_after.password:
        return f"{change_text}, new password" if change_text else "new password"
    return change_text


def _user_cells(broker_user: User | None) -> dict[str, object] | None:
    return (
        None
        if broker_user is None
        else {"userType": broker_user.user_type, "userStatus": broker_user.user_status}
    )


def _user_row(broker_target: BrokerTarget, broker_user: User) -> ResultRow:
    return {
        **identity_cells(broker_target),
        "username": broker_user.username,
        **(_user_cells(broker_user) or {}),
    }


def _user_notes(user_results: Sequence[ServerResult[tuple[User, ...]]]) -> list[str]:
    """A note for each broker that failed, and for each user that differs between the other brokers."""
    failure_notes = [
        f"broker {users_result.addr}: {error_text(users_result.error)}"
        for users_result in user_results
        if users_result.error
    ]
    users_by_addr = {
        users_result.addr: {broker_user.username: broker_user for broker_user in users_result.result or ()}
        for users_result in user_results
        if not users_result.error
    }
    difference_notes = []
    for name in sorted({name for users_by_name in users_by_addr.values() for name in users_by_name}):
        holders = {
            broker_addr: users_by_name[name]
            for broker_addr, users_by_name in users_by_addr.items()
            if name in users_by_name
        }
        addrs_without_user = [
            broker_addr
            for broker_addr in users_by_addr
            if name not in holders and name not in users_by_addr[broker_addr]
        ]
        if addrs_without_user:
            difference_notes.append(f"user {name}: not on {', '.join(addrs_without_user)}")
        elif len(set(holders.values())) > 1:
            difference_notes.append(
                f"user {name}: differs between {', '.join(holders)}{_password_hint(list(holders.values()))}"
            )
    return [*failure_notes, *difference_notes]


def _password_hint(same_named_users: Sequence[User]) -> str:
    """A hint if the passwords differ: rows do not show them, so the rows may look the same."""
    return " (the password)" if len({broker_user.password for broker_user in same_named_users}) > 1 else ""
