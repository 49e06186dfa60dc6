"""Owns listUser, getUser, createUser, updateUser, copyUser and deleteUser, for brokers 5.3 and later.

Each broker, also each slave, has its own users. No command shows a password.
"""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.access.users import USER_STATUSES, USER_TYPES, AlreadyExists, User, UserChange
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
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
from nsadmin.commands.access import password_input
from nsadmin.commands.access.broker_agreement import (
    BROKERS,
    PASSWORD,
    describe_differences,
    list_holders,
)
from nsadmin.commands.access.enforcement import warn_of_no_effect
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import (
    ServerChange,
    broker_change_columns,
    broker_change_rows,
    describe_change,
    forgive_not_found,
)
from nsadmin.commands.columns.servers import drop_absences, result_notes
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun, failed_on
from nsadmin.console.session import Session

USERNAME: AnyColumn = Column("username", "name of the user", lambda r: r[2])
USER_TYPE: AnyColumn = Column(
    "userType", "Super (all permissions) or Normal (permissions from ACLs)", lambda r: r[1].user_type
)
USER_STATUS: AnyColumn = Column(
    "userStatus", "enable, or disable: the user cannot sign requests", lambda r: r[1].user_status
)
_SETTINGS_COLUMNS: tuple[AnyColumn, ...] = (
    USERNAME.of(lambda r: r[1].username),
    USER_TYPE,
    USER_STATUS,
)
USER_COLUMNS: Columns[tuple[BrokerTarget, User]] = (*TARGET_COLUMNS, *_SETTINGS_COLUMNS)
USER_LIST_COLUMNS: Columns[tuple[list[str], User]] = (*_SETTINGS_COLUMNS, BROKERS)
USER_CHANGE_COLUMNS = broker_change_columns(USERNAME)
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


@command(columns=USER_LIST_COLUMNS, nothing="no users")
def list_user(
    session: Session,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMembersOption = None,
    name_filter: Annotated[
        str | None, Option("-f", metavar="TEXT", help="Only users whose names contain this text.")
    ] = None,
) -> ResultRows:
    """List the users of a broker, or of every broker of a cluster.

    A user has one row, or one for each group of brokers where it is the same. A line on stderr names each
    user that differs between brokers of a cluster, and how: also in its password. Another names the brokers
    that keep users but do not check them.

    Examples:
        # List of all users (accounts), their type and whether they are enabled or disabled (locked)
        nsadmin listUser
        # Do all brokers of a cluster have the same users: stderr names each difference
        nsadmin listUser -c cluster-a
        # Administrators: the Super users, who may do everything without an ACL
        nsadmin listUser --filter userType=Super
        # Users of one broker whose names contain a text
        nsadmin listUser -b 127.0.0.1:10911 -f operator
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.users.list_users(distinct_addrs(targets), name_filter))
    warn_of_no_effect(session, "users", results)
    holders = list_holders(targets, [r.result or () for r in results])
    users = [(brokers, user) for user, brokers in holders.items()]
    return ResultRows.from_records(
        USER_LIST_COLUMNS,
        sorted(users, key=lambda item: item[1].username),
        drop_absences(r.error for r in results),
        [*result_notes(results), *_describe_user_differences(session, targets, results)],
    )


@command(columns=USER_COLUMNS)
def get_user(
    session: Session,
    username: UsernameArgument,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Show one user on a broker, or on every broker of a cluster.

    A line on stderr names brokers that do not have the user.

    Examples:
        # A user on every broker of a cluster
        nsadmin getUser operator-1 -c cluster-a
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.users.get_user(distinct_addrs(targets), username))
    warn_of_no_effect(session, "users", results)
    users = [(target, r.result) for target, r in zip(targets, results, strict=True) if r.result is not None]
    differences = _describe_user_differences(
        session, targets, [r.then(lambda user: (user,)) for r in results]
    )
    notes = [*result_notes(results), *differences]
    return ResultRows.from_records(USER_COLUMNS, users, drop_absences(r.error for r in results), notes)


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

    A broker that already has the user does not change. The other brokers still get it. A line on stderr names
    brokers that keep users but do not check them.

    Examples:
        # Preview the creation, with the password from standard input
        nsadmin createUser shop -c cluster-a --passwordStdin --dry-run
        # Create a user (account) with rights from ACLs, such as read only; its password file needs chmod 600
        nsadmin createUser shop -c cluster-a --passwordFile shop.password --yes
    """
    type_name = argument_values.parse_choice("-t", user_type, USER_TYPES) or "Normal"
    targets = select_members(session, broker_text, cluster_name)
    new_password = password_input.read_password(
        session,
        password,
        password_file,
        password_stdin,
        password_visible,
        prompt_if_missing=True,
    )
    plans = session.admin.users.plan_create(distinct_addrs(targets), User(username, new_password, type_name))
    warn_of_no_effect(session, "users", plans)
    session.confirm_change(f'Create the {type_name} user "{username}" on {describe_targets(targets)}?')
    if type_name == "Normal" and any(plan.error is None for plan in plans):
        where = ("-c", cluster_name) if cluster_name else ("-b", broker_text or "")
        send, consume = (
            quote_command("createAcl", username, "-r", resources, "-a", actions, "-d", "Allow", *where)
            for resources, actions in (("Topic:NAME", "Pub"), ("Topic:NAME,Group:NAME", "Sub,Get"))
        )
        session.write_remark(f"a Normal user needs an ACL, to send to a topic: {send}")
        session.write_remark(f"to consume a topic with a group (with Pub,Sub,Get also to send): {consume}")
    rows = _apply_plans(session, targets, username, plans)
    if not any(isinstance(error, AlreadyExists) for error in rows.errors):
        return rows
    note = f"{quote_command('updateUser', '--help')} shows how to change a user that exists"
    return rows.with_notes(note)


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

    Settings that you do not pass stay. A broker without the user reports "not found". That is an error only
    if no broker has it.

    Brokers do not tell with which user a client signs. getAcl shows the topics of a user, and `client list
    --topic` and `producer --topic` show the clients of a topic.

    Examples:
        # Lock, block a user at once in all clusters: disable it; -s enable unlocks the user again
        nsadmin updateUser operator-1 -s disable -c '*' --yes
        # Make a user an administrator, who may do everything: type Super; Normal takes it back
        nsadmin updateUser operator-1 -t Super -c cluster-a --yes
        # Change, reset the password of a user, with the new one in a file
        nsadmin updateUser operator-1 --passwordFile shop.password -c cluster-a --yes
    """
    type_name = argument_values.parse_choice("-t", user_type, USER_TYPES)
    status_name = argument_values.parse_choice("-s", user_status, USER_STATUSES)
    targets = select_members(session, broker_text, cluster_name)
    new_password = password_input.read_password(
        session,
        password,
        password_file,
        password_stdin,
        password_visible,
        prompt_if_missing=password_prompt,
    )
    if (new_password, type_name, status_name) == (None, None, None):
        raise UsageError(
            "nothing to change: pass --userType, --userStatus, --passwordPrompt or --passwordFile"
        )
    plans = session.admin.users.plan_update(
        distinct_addrs(targets), User(username, new_password, type_name, status_name)
    )
    warn_of_no_effect(session, "users", plans)
    session.confirm_change(f'Change the user "{username}" on {describe_targets(targets)}?')
    return _apply_plans(session, targets, username, plans)


@command(columns=USER_CHANGE_COLUMNS)
def delete_user(
    session: Session,
    username: UsernameArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Delete a user and its ACL from a broker, or from every broker of a cluster.

    A broker without the user reports "not found". That is an error only if no broker has it.

    Examples:
        # Preview the deletion
        nsadmin deleteUser operator-1 -c cluster-a --dry-run
        # An employee left: delete the user and revoke all its permissions, on all brokers of all clusters
        nsadmin deleteUser operator-1 -c '*' --yes
    """
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f'Delete the user "{username}" and its ACL from {describe_targets(targets)}?')
    plans = session.admin.users.plan_delete(distinct_addrs(targets), username)
    return _apply_plans(session, targets, username, plans)


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
        str | None, Option("-u", "--usernames", metavar="USERS", help="Only these users.")
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
    source_addr = find_broker_addr(session, source_broker)
    target_addr = find_broker_addr(session, target_broker)
    [source_result] = session.admin.users.list_users([source_addr])
    source_users = {user.username: user for user in source_result.value()}
    wanted_names = argument_values.parse_name_list("-u", username_list) or [*source_users]
    copied = [source_users[name] for name in wanted_names if name in source_users]
    results = session.admin.users.plan_copy(target_addr, copied)
    warn_of_no_effect(session, "users", results)
    session.confirm_change(f"Copy {count_noun(len(copied), 'user')} from {source_addr} to {target_addr}?")
    if not session.is_dry_run:
        results = session.admin.users.apply_plans(results)
    results_by_name = {user.username: result for user, result in zip(copied, results, strict=True)}
    changes = [
        _describe_change(session, results_by_name[name])
        if name in results_by_name
        else ServerChange(target_addr, None, None, NotFound(f'{source_addr} has no user "{name}"'))
        for name in wanted_names
    ]
    errors = [change.error for change in changes]
    target = target_at_addr(target_addr)
    return ResultRows.from_records(
        USER_CHANGE_COLUMNS,
        [(target, change, name) for change, name in zip(changes, wanted_names, strict=True)],
        errors,
        failed_on(errors, "user"),
    )


def _apply_plans(
    session: Session,
    targets: Sequence[BrokerTarget],
    username: str,
    plans: Sequence[ServerResult[UserChange]],
) -> ResultRows:
    results = plans if session.is_dry_run else session.admin.users.apply_plans(plans)
    changes = [_describe_change(session, r) for r in match_results(targets, results)]
    rows = broker_change_rows(USER_CHANGE_COLUMNS, targets, changes, {USERNAME: username})
    return rows._replace(errors=forgive_not_found(rows.errors))


def _describe_change(session: Session, result: ServerResult[UserChange]) -> ServerChange:
    if result.result is None:
        return ServerChange(result.addr, None, None, result.error)
    before, after = result.result
    old, new = _visible_settings(before), _visible_settings(after)
    words = describe_change(old, new)
    if before and after and before.password != after.password:
        words = f"{words}, new password" if words else "new password"
    done = "unchanged" if before == after else "dry-run" if session.is_dry_run else "done"
    return ServerChange(result.addr, old, new, None, done, words=words)


def _visible_settings(user: User | None) -> dict[str, object] | None:
    return None if user is None else {"userType": user.user_type, "userStatus": user.user_status}


def _describe_user_differences(
    session: Session, targets: Sequence[BrokerTarget], results: Sequence[ServerResult[tuple[User, ...]]]
) -> list[str]:
    users = [
        None
        if r.result is None
        else {
            f"user {user.username}": {
                "userType": user.user_type,
                "userStatus": user.user_status,
                PASSWORD: user.password,
            }
            for user in r.result
        }
        for r in results
    ]
    return describe_differences(session, targets, users)
