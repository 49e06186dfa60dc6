"""Owns the commands for the ACL accounts and global white addresses of 4.x brokers.

Each broker has a file of its own, slaves too. No secret key is ever shown.
"""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.plain_acls import PERMS, Account, AccountChange
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands import passwords, values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change, words
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    MembersOption,
    addrs,
    carried_out,
    identity,
    matched,
    members_at,
    places,
)
from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

_SETTINGS = (
    "admin",
    "whiteRemoteAddress",
    "defaultTopicPerm",
    "defaultGroupPerm",
    "topicPerms",
    "groupPerms",
)
COLUMNS = (*IDENTITY, "accessKey", *_SETTINGS, "globalWhiteAddrs")
VERSION_COLUMNS = (*IDENTITY, "aclFile", "counter", "lastUpdated")
CHANGE_COLUMNS = (*IDENTITY, "accessKey", *CHANGE)
IN_TABLE = (*IDENTITY, "accessKey", *CHANGE_IN_TABLE)
WHITE_COLUMNS = (*IDENTITY, *CHANGE)
SHORTEST = 7

Key = Annotated[str, Word(("-a", "--accessKey"), "KEY", "Access key of the account.")]


@shows(COLUMNS)
def get_acl_config(session: Session, broker: AddrOption = None, cluster: MembersOption = None) -> Rows:
    """Show the accounts of a 4.x broker with aclEnable, or of every broker of a cluster.

    `globalWhiteAddrs` may do everything without an account. A broker without accounts has no row.

    Examples:
        # Accounts of one broker
        nsadmin getAclConfig -b 127.0.0.1:10911
    """
    targets = members_at(session, "getAclConfig", broker, cluster)
    results = matched(targets, session.admin.plain_acls.each(addrs(targets)))
    rows: list[Row] = [
        {
            **identity(target),
            "accessKey": account.access_key,
            **_settings(account),
            "globalWhiteAddrs": list(found.result.global_white_addrs),
        }
        for target, found in zip(targets, results, strict=True)
        if found.result
        for account in found.result.accounts
    ]
    failed = [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]
    return Rows(COLUMNS, rows, [found.error for found in results], failed)


@shows(VERSION_COLUMNS)
def cluster_acl_config_version(
    session: Session, broker: AddrOption = None, cluster: MembersOption = None
) -> Rows:
    """Show how often the ACL files of 4.x brokers were changed, and when last.

    Examples:
        # The files of one broker
        nsadmin clusterAclConfigVersion -b 127.0.0.1:10911
    """
    targets = members_at(session, "clusterAclConfigVersion", broker, cluster)
    results = matched(targets, session.admin.plain_acls.files(addrs(targets)))
    rows: list[Row] = [
        {
            **identity(target),
            "aclFile": file.path or None,
            "counter": file.counter,
            "lastUpdated": utc(file.timestamp),
        }
        for target, found in zip(targets, results, strict=True)
        for file in found.result or ()
    ]
    failed = [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]
    return Rows(VERSION_COLUMNS, rows, [found.error for found in results], failed)


@shows(CHANGE_COLUMNS)
def update_acl_config(
    session: Session,
    access_key: Key,
    secret_key: Annotated[
        str | None,
        Option("-s", "--secretKey", metavar="TEXT", help="The secret key; needs --passwordVisible."),
    ] = None,
    admin: Annotated[
        str | None,
        Option("-m", "--admin", metavar="true|false", help="Whether it may do everything."),
    ] = None,
    white: Annotated[
        str | None,
        Option("-w", "--whiteRemoteAddress", metavar="ADDRS", help="From where it need not sign: 10.0.0.*."),
    ] = None,
    topic_perm: Annotated[
        str | None,
        Option(
            "-i", "--defaultTopicPerm", metavar="PERM", help="Of topics not named: DENY, PUB, SUB, PUB|SUB."
        ),
    ] = None,
    group_perm: Annotated[
        str | None,
        Option("-u", "--defaultGroupPerm", metavar="PERM", help="Of groups not named."),
    ] = None,
    topic_perms: Annotated[
        str | None,
        Option("-t", "--topicPerms", metavar="LIST", help="Of topics: orders=PUB|SUB,other=DENY."),
    ] = None,
    group_perms: Annotated[
        str | None, Option("-g", "--groupPerms", metavar="LIST", help="Of groups: shop=SUB.")
    ] = None,
    secret_prompt: Annotated[
        bool, Option("--secretKeyPrompt", help="A secret key, asked for on the terminal.")
    ] = False,
    secret_file: passwords.FileOption = None,
    secret_stdin: passwords.StdinOption = False,
    visible: passwords.VisibleOption = False,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Make or change an account of a 4.x broker with aclEnable, or of every broker of a cluster.

    A new account needs a secret key. What is not named stays; a list of permissions replaces the one there.

    Examples:
        # An account may read one topic
        nsadmin updateAclConfig shopkeeper -t orders=SUB -b 127.0.0.1:10911 --yes
    """
    command = "updateAclConfig"
    targets = members_at(session, command, broker, cluster)
    secret = passwords.given(
        session,
        command,
        secret_key,
        secret_file,
        secret_stdin,
        visible,
        wanted=secret_prompt,
        what="secret key",
        flag="-s",
    )
    _require_long(command, access_key, secret)
    wanted = Account(
        access_key,
        secret,
        values.flag(command, "-m", admin),
        white,
        values.one_of(command, "-i", topic_perm, PERMS),
        values.one_of(command, "-u", group_perm, PERMS),
        _perms(command, "-t", topic_perms),
        _perms(command, "-g", group_perms),
    )
    if wanted == Account(access_key):
        raise UsageError(f"{command}: nothing to change: give -m, -w, -i, -u, -t, -g or --secretKeyPrompt")
    session.confirm(f"Write the account {access_key!r} on {places(targets)}?")
    plans = session.admin.plain_acls.plan_update(addrs(targets), wanted)
    return _carried_out(session, targets, access_key, plans)


@shows(CHANGE_COLUMNS)
def delete_acl_config(
    session: Session, access_key: Key, broker: AddrOption = None, cluster: MembersOption = None
) -> Rows:
    """Delete an account of a 4.x broker with aclEnable, or of every broker of a cluster.

    Examples:
        # What would go
        nsadmin deleteAclConfig shopkeeper -b 127.0.0.1:10911 --dry-run
    """
    targets = members_at(session, "deleteAclConfig", broker, cluster)
    session.confirm(f"Delete the account {access_key!r} from {places(targets)}?")
    plans = session.admin.plain_acls.plan_delete(addrs(targets), access_key)
    return _carried_out(session, targets, access_key, plans)


@shows(WHITE_COLUMNS)
def update_global_white_addr(
    session: Session,
    white: Annotated[
        str, Word(("-g", "--globalWhiteRemoteAddresses"), "ADDRS", "Addresses such as 10.0.0.*,10.1.*.*.")
    ],
    file: Annotated[
        str | None, Option("-p", "--aclFileFullPath", metavar="PATH", help="Into this file of the broker.")
    ] = None,
    broker: AddrOption = None,
    cluster: MembersOption = None,
) -> Rows:
    """Set from where everybody may do everything without signing, on 4.x brokers with aclEnable.

    The list takes the place of the one that is there.

    Examples:
        # What would change
        nsadmin updateGlobalWhiteAddr 10.0.0.* -b 127.0.0.1:10911 --dry-run
    """
    wanted = values.names("updateGlobalWhiteAddr", "-g", white)
    targets = members_at(session, "updateGlobalWhiteAddr", broker, cluster)
    acls = session.admin.plain_acls
    before = {found.addr: found for found in acls.each(addrs(targets))}
    session.confirm(f"Let everybody at {', '.join(wanted)} do everything on {places(targets)}?")
    done: list[ServerResult[tuple[str, ...]]] = (
        [found.then(lambda _: tuple(wanted)) for found in before.values()]
        if session.dry_run
        else acls.set_white(addrs(targets), wanted, file)
    )
    rows = []
    results = matched(targets, done)
    for target, found in zip(targets, results, strict=True):
        was = before[found.addr].result if found.addr in before else None
        old, new = (list(was.global_white_addrs) if was else None), list(found.result or ())
        shown = (
            change(_line(old), _line(new)) | {"before": old, "after": new} if found.result is not None else {}
        )
        rows.append(
            {**identity(target), **shown, **outcome(found.error, "dry-run" if session.dry_run else "done")}
        )
    return Rows(WHITE_COLUMNS, rows, [found.error for found in results], (), (*IDENTITY, *CHANGE_IN_TABLE))


def _line(addresses: list[str] | None) -> str | None:
    return ",".join(addresses) if addresses else None


def _carried_out(
    session: Session, targets: Sequence[Target], access_key: str, plans: Sequence[ServerResult[AccountChange]]
) -> Rows:
    done = carried_out(session, targets, plans, session.admin.plain_acls.carry_out)
    rows = [_changed(session, target, access_key, found) for target, found in done]
    return Rows(CHANGE_COLUMNS, rows, [found.error for _, found in done], (), IN_TABLE)


def _changed(session: Session, target: Target, access_key: str, found: ServerResult[AccountChange]) -> Row:
    before, after = found.result or AccountChange(None, None)
    old, new = _present(before), _present(after)
    text = words(old, new)
    if before and after and before.secret_key != after.secret_key:
        text = f"{text}, new secret key" if text else "new secret key"
    word = "unchanged" if before == after else "dry-run" if session.dry_run else "done"
    shown: Row = {"changes": text, "before": old, "after": new} if found.result else {}
    return {**identity(target), "accessKey": access_key, **shown, **outcome(found.error, word)}


def _present(account: Account | None) -> dict[str, object] | None:
    """The settings that are set; a list is joined to one text: "orders=PUB|SUB,other=DENY"."""
    if account is None:
        return None
    return {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in _settings(account).items()
        if value is not None
    }


def _settings(account: Account) -> dict[str, object]:
    found = (list(value) if isinstance(value, tuple) else value for value in account[2:])
    return dict(zip(_SETTINGS, found, strict=True))


def _perms(command: str, option: str, text: str | None) -> tuple[str, ...] | None:
    """Parse NAME=PERM pairs strictly: brokers read an unknown permission as DENY and report no error."""
    if text is None:
        return None
    found = []
    for item in values.names(command, option, text):
        name, _, perm = item.partition("=")
        if not name or not perm:
            raise UsageError(f"{command}: {option} {item} cannot be: give NAME=PERM, such as orders=PUB|SUB")
        found.append(f"{name}={values.one_of(command, f'{option} {name}', perm, PERMS)}")
    return tuple(found)


def _require_long(command: str, access_key: str, secret: str | None) -> None:
    """Refuse short keys here: a broker refuses them too, but quotes the secret key in its answer and log."""
    for what, text in (("access key", access_key), ("secret key", secret)):
        if text is not None and len(text) < SHORTEST:
            raise UsageError(f"{command}: the {what} is too short: 4.x wants at least {SHORTEST} characters")
