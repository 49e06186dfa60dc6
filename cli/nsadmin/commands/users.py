"""Owns listUser, getUser, createUser, updateUser, copyUser and deleteUser, for brokers 5.3 and later.

Each broker has users of its own, slaves too. No password is ever shown.
"""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target, at
from nsadmin.client.users import USER_STATUSES, USER_TYPES, User, UserChange
from nsadmin.commands import passwords, values
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

COLUMNS = (*IDENTITY, "username", "userType", "userStatus")
CHANGE_COLUMNS = (*IDENTITY, "username", *CHANGE)
IN_TABLE = (*IDENTITY, "username", *CHANGE_IN_TABLE)

Name = Annotated[str, Word(("-u", "--username"), "NAME", "Name of the user.")]
Type = Annotated[
    str | None,
    Option("-t", "--userType", metavar="Normal|Super", help="What ACLs allow, or everything."),
]
Password = Annotated[
    str | None,
    Option("-p", "--password", metavar="TEXT", help="The password; needs --passwordVisible."),
]


@shows(COLUMNS)
def list_user(
    session: Session,
    broker: AddrOption = None,
    cluster: MembersOption = None,
    text: Annotated[
        str | None, Option("-f", metavar="TEXT", help="Only users with this in their names.")
    ] = None,
) -> Rows:
    """Show the users of a broker, or of every broker of a cluster; where brokers differ is said.

    Examples:
        # Users of every broker of a cluster
        nsadmin listUser -c cluster-a
        # Those of one broker whose names have a text in them
        nsadmin listUser -b 127.0.0.1:10911 -f operator
    """
    targets = members_at(session, "listUser", broker, cluster)
    results = matched(targets, session.admin.users.each(addrs(targets), text))
    rows = [
        _row(target, user)
        for target, found in zip(targets, results, strict=True)
        for user in found.result or ()
    ]
    return Rows(COLUMNS, rows, [found.error for found in results], _notes(results))


@shows(COLUMNS)
def get_user(
    session: Session, username: Name, broker: AddrOption = None, cluster: MembersOption = None
) -> Rows:
    """Show one user, as each broker knows him.

    Examples:
        # A user on every broker of a cluster
        nsadmin getUser operator-1 -c cluster-a
    """
    targets = members_at(session, "getUser", broker, cluster)
    results = matched(targets, session.admin.users.get(addrs(targets), username))
    rows = [
        _row(target, found.result) for target, found in zip(targets, results, strict=True) if found.result
    ]
    of_each: list[ServerResult[tuple[User, ...]]] = [found.then(lambda user: (user,)) for found in results]
    return Rows(COLUMNS, rows, [found.error for found in results], _notes(of_each))


@shows(CHANGE_COLUMNS)
def create_user(
    session: Session,
    username: Name,
    user_type: Type = None,
    password: Password = None,
    password_file: passwords.FileOption = None,
    password_stdin: passwords.StdinOption = False,
    password_visible: passwords.VisibleOption = False,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Make a user on a broker, or on every broker of a cluster. The password is asked for.

    Where there is a user of that name nothing is done, and the other brokers are told all the same.

    Examples:
        # What would be done, the password piped in
        nsadmin createUser shop -c cluster-a --passwordStdin --dry-run
        # A user who may do what ACLs allow; the password comes from a file
        nsadmin createUser shop -c cluster-a --passwordFile shop.password --yes
    """
    kind = values.one_of("createUser", "-t", user_type, USER_TYPES) or "Normal"
    targets = members_at(session, "createUser", broker, cluster)
    secret = passwords.given(
        session, "createUser", password, password_file, password_stdin, password_visible, wanted=True
    )
    session.confirm(f"Make the {kind} user {username!r} on {places(targets)}?")
    plans = session.admin.users.plan_create(addrs(targets), User(username, secret, kind))
    return _carried_out(session, targets, username, plans)


@shows(CHANGE_COLUMNS)
def update_user(
    session: Session,
    username: Name,
    user_type: Type = None,
    user_status: Annotated[
        str | None, Option("-s", "--userStatus", metavar="enable|disable", help="Whether he may sign.")
    ] = None,
    password: Password = None,
    password_prompt: Annotated[
        bool, Option("--passwordPrompt", help="A new password, asked for on the terminal.")
    ] = False,
    password_file: passwords.FileOption = None,
    password_stdin: passwords.StdinOption = False,
    password_visible: passwords.VisibleOption = False,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Change a user's password, type or status, on a broker or on every broker of a cluster.

    What is not named stays.

    Examples:
        # Nobody may sign as this user any more
        nsadmin updateUser operator-1 -s disable -c cluster-a --yes
        # Another password, from a file
        nsadmin updateUser operator-1 --passwordFile shop.password -c cluster-a --yes
    """
    kind = values.one_of("updateUser", "-t", user_type, USER_TYPES)
    status = values.one_of("updateUser", "-s", user_status, USER_STATUSES)
    targets = members_at(session, "updateUser", broker, cluster)
    secret = passwords.given(
        session,
        "updateUser",
        password,
        password_file,
        password_stdin,
        password_visible,
        wanted=password_prompt,
    )
    if (secret, kind, status) == (None, None, None):
        raise UsageError("updateUser: nothing to change: give -t, -s, --passwordPrompt or --passwordFile")
    session.confirm(f"Change the user {username!r} on {places(targets)}?")
    plans = session.admin.users.plan_update(addrs(targets), User(username, secret, kind, status))
    return _carried_out(session, targets, username, plans)


@shows(CHANGE_COLUMNS)
def delete_user(
    session: Session, username: Name, broker: AddrOption = None, cluster: MembersOption = None
) -> Rows:
    """Delete a user with his ACL from a broker, or from every broker of a cluster.

    Examples:
        # Where he would be deleted
        nsadmin deleteUser operator-1 -c cluster-a --dry-run
        # On one broker
        nsadmin deleteUser operator-1 -b 127.0.0.1:10911 --yes
    """
    targets = members_at(session, "deleteUser", broker, cluster)
    session.confirm(f"Delete the user {username!r} with his ACL from {places(targets)}?")
    plans = session.admin.users.plan_delete(addrs(targets), username)
    return _carried_out(session, targets, username, plans)


@shows(CHANGE_COLUMNS)
def copy_user(
    session: Session,
    source: Annotated[
        str, Word(("-f", "--fromBroker"), "FROM", "The broker that has them: address or name.")
    ],
    target: Annotated[str, Word(("-t", "--toBroker"), "TO", "The broker that gets them: address or name.")],
    usernames: Annotated[
        str | None, Option("-u", "--usernames", metavar="A,B", help="Only these users.")
    ] = None,
) -> Rows:
    """Copy users from one broker to another, with their passwords; users that are there are overwritten.

    Examples:
        # What the copy would change
        nsadmin copyUser 127.0.0.1:10911 127.0.0.1:10921 --dry-run
        # Copy one user
        nsadmin copyUser 127.0.0.1:10911 127.0.0.1:10921 -u operator-1 --yes
    """
    origin, goal = broker_addr(session, source), broker_addr(session, target)
    [found] = session.admin.users.each([origin])
    if found.error is not None:
        raise found.error
    there = {user.username: user for user in found.result or ()}
    names = values.names("copyUser", "-u", usernames) or [*there]
    missing = {name: NotFound(f"{origin} has no user {name!r}") for name in names if name not in there}
    users = [there[name] for name in names if name in there]
    session.confirm(f"Copy {len(users)} users from {origin} to {goal}?")
    plans = session.admin.users.plan_copy(goal, users)
    done = plans if session.dry_run else session.admin.users.carry_out(plans)
    copied = dict(zip((user.username for user in users), done, strict=True))
    results = [copied.get(name) or ServerResult(goal, None, missing.get(name)) for name in names]
    rows = [_changed(session, at(goal), name, result) for name, result in zip(names, results, strict=True)]
    return Rows(CHANGE_COLUMNS, rows, [result.error for result in results], (), IN_TABLE)


def _carried_out(
    session: Session, targets: Sequence[Target], username: str, plans: Sequence[ServerResult[UserChange]]
) -> Rows:
    done = carried_out(session, targets, plans, session.admin.users.carry_out)
    rows = [_changed(session, target, username, result) for target, result in done]
    return Rows(CHANGE_COLUMNS, rows, [result.error for _, result in done], (), IN_TABLE)


def _changed(session: Session, target: Target, username: str, found: ServerResult[UserChange]) -> Row:
    before, after = found.result or UserChange(None, None)
    word = "unchanged" if before == after else "dry-run" if session.dry_run else "done"
    shown: Row = {"before": _shown(before), "after": _shown(after), "changes": _words(before, after)}
    return {
        **identity(target),
        "username": username,
        **(shown if found.result else {}),
        **outcome(found.error, word),
    }


def _words(before: User | None, after: User | None) -> str | None:
    text = words(_shown(before), _shown(after))
    if before and after and before.password != after.password:
        return f"{text}, new password" if text else "new password"
    return text


def _shown(user: User | None) -> dict[str, object] | None:
    return None if user is None else {"userType": user.user_type, "userStatus": user.user_status}


def _row(target: Target, user: User) -> Row:
    return {**identity(target), "username": user.username, **(_shown(user) or {})}


def _notes(results: Sequence[ServerResult[tuple[User, ...]]]) -> list[str]:
    """A note for each broker that failed, and for each user that differs between the other brokers."""
    failed = [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]
    told = {
        found.addr: {user.username: user for user in found.result or ()}
        for found in results
        if not found.error
    }
    notes = []
    for name in sorted({name for users in told.values() for name in users}):
        having = {addr: users[name] for addr, users in told.items() if name in users}
        missing = [addr for addr in told if name not in having and name not in told[addr]]
        if missing:
            notes.append(f"user {name}: not on {', '.join(missing)}")
        elif len(set(having.values())) > 1:
            notes.append(f"user {name}: not the same on {', '.join(having)}{_why(list(having.values()))}")
    return [*failed, *notes]


def _why(users: Sequence[User]) -> str:
    """A hint if the passwords differ: rows do not show them, so the rows may look the same."""
    return " (the password)" if len({user.password for user in users}) > 1 else ""
