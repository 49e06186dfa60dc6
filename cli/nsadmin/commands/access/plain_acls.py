"""Owns the commands for the ACL accounts and global white addresses of 4.x brokers.

Each broker, also each slave, has its own file. No command shows a secret key.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.access.plain_acls import PERM_NAMES, AccountChange, AclFile, PlainAccount, PlainAcl
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    BrokerAddrOption,
    ClusterMembersOption,
    ReadBrokerOption,
    describe_targets,
    distinct_addrs,
    list_members,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.access import password_input
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import (
    ServerChange,
    broker_change_columns,
    broker_change_rows,
    describe_change,
)
from nsadmin.commands.columns.servers import result_notes
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part, read_row
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

ACCESS_KEY: AnyColumn = Column("accessKey", "access key of the account", lambda r: r[2])
SETTING_COLUMNS: Columns[PlainAccount] = (
    Column("admin", "whether the account has all permissions", lambda a: a.is_admin),
    Column(
        "whiteRemoteAddress",
        "addresses from which the account's requests need no signature; null for none",
        lambda a: a.white_remote_address,
    ),
    Column(
        "defaultTopicPerm",
        "permission for topics that are not listed; null for DENY",
        lambda a: a.default_topic_perm,
    ),
    Column(
        "defaultGroupPerm",
        "permission for groups that are not listed; null for DENY",
        lambda a: a.default_group_perm,
    ),
    Column(
        "topicPerms",
        "permissions by topic, as in orders=PUB|SUB; null for none",
        lambda a: None if a.topic_perms is None else list(a.topic_perms),
    ),
    Column(
        "groupPerms",
        "permissions by group, as in shop=SUB; null for none",
        lambda a: None if a.group_perms is None else list(a.group_perms),
    ),
)
ACCOUNT_COLUMNS: Columns[tuple[BrokerTarget, PlainAccount, PlainAcl]] = (
    *TARGET_COLUMNS,
    ACCESS_KEY.of(lambda r: r[1].access_key),
    *of_part(itemgetter(1), SETTING_COLUMNS),
    Column(
        "globalWhiteAddrs",
        "addresses from which every client has all permissions",
        lambda r: list(r[2].global_white_addrs),
    ),
)
ACL_FILE_COLUMNS: Columns[tuple[BrokerTarget, AclFile]] = (
    *TARGET_COLUMNS,
    Column(
        "aclFile",
        "path of the file on the broker; null if the broker does not report it",
        lambda r: r[1].file_path or None,
    ),
    Column("counter", "how often the file changed since the broker started", lambda r: r[1].change_count),
    Column(
        "lastUpdated",
        "when the broker last changed or read the file (UTC)",
        lambda r: format_utc(r[1].changed_at_ms),
    ),
)
ACCOUNT_CHANGE_COLUMNS = broker_change_columns(ACCESS_KEY)
WHITE_ADDR_COLUMNS = broker_change_columns()
MIN_KEY_LENGTH = 7

AccessKeyArgument = Annotated[
    str, Argument(metavar="KEY", help="Access key of the account."), Flags("-a", "--accessKey")
]


@command(columns=ACCOUNT_COLUMNS, examples=("old broker", "this ACL is that of 4.x"))
def get_acl_config(
    session: Session, broker_text: ReadBrokerOption = None, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show the accounts of a 4.x broker with aclEnable, or of every broker of a cluster.

    Clients at `globalWhiteAddrs` have all permissions without an account. A broker without accounts has no
    row.

    Examples:
        # Accounts of one broker
        nsadmin getAclConfig -b 127.0.0.1:10911
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.plain_acls.list_accounts(distinct_addrs(targets)))
    accounts = [
        (target, account, result.result)
        for target, result in zip(targets, results, strict=True)
        if result.result
        for account in result.result.accounts
    ]
    errors = [r.error for r in results]
    return ResultRows.from_records(ACCOUNT_COLUMNS, accounts, errors, result_notes(results))


@command(columns=ACL_FILE_COLUMNS, examples=("old broker", "this ACL is that of 4.x"))
def cluster_acl_config_version(
    session: Session, broker_text: ReadBrokerOption = None, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show how often the ACL files of 4.x brokers changed, and when they last changed.

    Examples:
        # The files of one broker
        nsadmin clusterAclConfigVersion -b 127.0.0.1:10911
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.plain_acls.list_files(distinct_addrs(targets)))
    files = [
        (target, file)
        for target, result in zip(targets, results, strict=True)
        for file in result.result or ()
    ]
    errors = [r.error for r in results]
    return ResultRows.from_records(ACL_FILE_COLUMNS, files, errors, result_notes(results))


@command(
    columns=ACCOUNT_CHANGE_COLUMNS,
    agent_refusal="it needs a secret, which the client would see",
    examples=("old broker", "this ACL is that of 4.x"),
)
def update_acl_config(
    session: Session,
    access_key: AccessKeyArgument,
    secret_key: Annotated[
        str | None,
        Option("-s", "--secretKey", metavar="TEXT", help="The secret key. Needs --passwordVisible."),
    ] = None,
    admin_text: Annotated[
        str | None,
        Option("-m", "--admin", metavar="true|false", help="Whether the account has all permissions."),
    ] = None,
    white_addr: Annotated[
        str | None,
        Option(
            "-w",
            "--whiteRemoteAddress",
            metavar="ADDRS",
            help="Addresses from which requests need no signature: 10.0.0.*.",
        ),
    ] = None,
    default_topic_perm: Annotated[
        str | None,
        Option(
            "-i",
            "--defaultTopicPerm",
            metavar="PERM",
            help="Permission for topics that are not listed: DENY, PUB, SUB, PUB|SUB.",
        ),
    ] = None,
    default_group_perm: Annotated[
        str | None,
        Option("-u", "--defaultGroupPerm", metavar="PERM", help="Permission for groups that are not listed."),
    ] = None,
    topic_perm_list: Annotated[
        str | None,
        Option(
            "-t", "--topicPerms", metavar="PERMS", help="Permissions by topic: orders=PUB|SUB,other=DENY."
        ),
    ] = None,
    group_perm_list: Annotated[
        str | None, Option("-g", "--groupPerms", metavar="PERMS", help="Permissions by group: shop=SUB.")
    ] = None,
    secret_prompt: Annotated[
        bool, Option("--secretKeyPrompt", help="Ask for a secret key on the terminal.")
    ] = False,
    secret_file: password_input.PasswordFileOption = None,
    secret_stdin: password_input.PasswordStdinOption = False,
    secret_visible: password_input.PasswordVisibleOption = False,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Create or change an account of a 4.x broker with aclEnable, or of every broker of a cluster.

    A new account needs a secret key. Settings that you do not pass stay. A list of permissions replaces the
    existing list.

    Examples:
        # Allow an account to read one topic
        nsadmin updateAclConfig shopkeeper -t orders=SUB -b 127.0.0.1:10911 --yes
    """
    targets = select_members(session, broker_text, cluster_name)
    new_secret = password_input.read_password(
        session,
        secret_key,
        secret_file,
        secret_stdin,
        secret_visible,
        prompt_if_missing=secret_prompt,
        kind="secret key",
        text_flag="-s",
    )
    _require_long_keys(access_key, new_secret)
    wanted_account = PlainAccount(
        access_key,
        new_secret,
        argument_values.parse_boolean("-m", admin_text),
        white_addr,
        argument_values.parse_choice("-i", default_topic_perm, PERM_NAMES),
        argument_values.parse_choice("-u", default_group_perm, PERM_NAMES),
        _parse_perms("-t", topic_perm_list),
        _parse_perms("-g", group_perm_list),
    )
    if wanted_account == PlainAccount(access_key):
        raise UsageError("nothing to change: pass -m, -w, -i, -u, -t, -g or --secretKeyPrompt")
    session.confirm_change(f'Write the account "{access_key}" on {describe_targets(targets)}?')
    plans = session.admin.plain_acls.plan_update(distinct_addrs(targets), wanted_account)
    return _apply_plans(session, targets, access_key, plans)


@command(columns=ACCOUNT_CHANGE_COLUMNS, examples=("old broker", "this ACL is that of 4.x"))
def delete_acl_config(
    session: Session,
    access_key: AccessKeyArgument,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Delete an account of a 4.x broker with aclEnable, or of every broker of a cluster.

    Examples:
        # Preview the deletion
        nsadmin deleteAclConfig shopkeeper -b 127.0.0.1:10911 --dry-run
    """
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f'Delete the account "{access_key}" from {describe_targets(targets)}?')
    plans = session.admin.plain_acls.plan_delete(distinct_addrs(targets), access_key)
    return _apply_plans(session, targets, access_key, plans)


@command(
    columns=WHITE_ADDR_COLUMNS,
    agent_refusal="it lets clients in without a signature",
    examples=("old broker", "this ACL is that of 4.x"),
)
def update_global_white_addr(
    session: Session,
    white_addr_list: Annotated[
        str,
        Argument(metavar="ADDRS", help="Addresses such as 10.0.0.*,10.1.*.*."),
        Flags("-g", "--globalWhiteRemoteAddresses"),
    ],
    acl_file_path: Annotated[
        str | None,
        Option("-p", "--aclFileFullPath", metavar="PATH", help="Write to this ACL file of the broker."),
    ] = None,
    broker_text: BrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
) -> ResultRows:
    """Set the addresses from which every client has all permissions, on 4.x brokers with aclEnable.

    Requests from these addresses need no signature. The list replaces the existing list.

    Examples:
        # Preview the change
        nsadmin updateGlobalWhiteAddr 10.0.0.* -b 127.0.0.1:10911 --dry-run
    """
    wanted_addrs = argument_values.parse_name_list("-g", white_addr_list)
    targets = select_members(session, broker_text, cluster_name)
    plain_acls, addrs = session.admin.plain_acls, distinct_addrs(targets)
    acls_by_addr = {r.addr: r for r in plain_acls.list_accounts(addrs)}
    session.confirm_change(
        f"Give every client at {', '.join(wanted_addrs)} all permissions on {describe_targets(targets)}?"
    )
    results: list[ServerResult[tuple[str, ...]]] = (
        [r.then(lambda _: tuple(wanted_addrs)) for r in acls_by_addr.values()]
        if session.is_dry_run
        else plain_acls.set_white_addrs(addrs, wanted_addrs, acl_file_path)
    )
    changes = [
        _describe_white_addrs(session, acls_by_addr.get(r.addr), r) for r in match_results(targets, results)
    ]
    return broker_change_rows(WHITE_ADDR_COLUMNS, targets, changes)


def _describe_white_addrs(
    session: Session, acl: ServerResult[PlainAcl] | None, result: ServerResult[tuple[str, ...]]
) -> ServerChange:
    if result.result is None:
        return ServerChange(result.addr, None, None, result.error)
    before = list(acl.result.global_white_addrs) if acl and acl.result else None
    after = list(result.result)
    words = describe_change(",".join(before or ()) or None, ",".join(after) or None)
    done = "dry-run" if session.is_dry_run else "done"
    return ServerChange(result.addr, before, after, None, done, words=words)


def _apply_plans(
    session: Session,
    targets: Sequence[BrokerTarget],
    access_key: str,
    plans: Sequence[ServerResult[AccountChange]],
) -> ResultRows:
    results = plans if session.is_dry_run else session.admin.plain_acls.apply_plans(plans)
    changes = [_describe_account(session, r) for r in match_results(targets, results)]
    return broker_change_rows(ACCOUNT_CHANGE_COLUMNS, targets, changes, {ACCESS_KEY: access_key})


def _describe_account(session: Session, result: ServerResult[AccountChange]) -> ServerChange:
    if result.result is None:
        return ServerChange(result.addr, None, None, result.error)
    before, after = result.result
    old, new = _present_settings(before), _present_settings(after)
    words = describe_change(old, new)
    if before and after and before.secret_key != after.secret_key:
        words = f"{words}, new secret key" if words else "new secret key"
    done = "unchanged" if before == after else "dry-run" if session.is_dry_run else "done"
    return ServerChange(result.addr, old, new, None, done, words=words)


def _present_settings(account: PlainAccount | None) -> dict[str, object] | None:
    """The settings that are set; a list is joined to one text: "orders=PUB|SUB,other=DENY"."""
    if account is None:
        return None
    return {
        key: ",".join(value) if isinstance(value, list) else value
        for key, value in read_row(SETTING_COLUMNS, account).items()
        if value is not None
    }


def _parse_perms(option_flag: str, perm_list: str | None) -> tuple[str, ...] | None:
    """Parse NAME=PERM pairs strictly: brokers read an unknown permission as DENY and report no error."""
    if perm_list is None:
        return None
    parsed_perms = []
    for list_item in argument_values.parse_name_list(option_flag, perm_list):
        name, _, perm_text = list_item.partition("=")
        if not name or not perm_text:
            raise UsageError(
                f'invalid permission "{list_item}" for {option_flag}: write NAME=PERM, such as orders=PUB|SUB'
            )
        parsed_perms.append(
            f"{name}={argument_values.parse_choice(f'{option_flag} {name}', perm_text, PERM_NAMES)}"
        )
    return tuple(parsed_perms)


def _require_long_keys(access_key: str, secret_key: str | None) -> None:
    """Refuse short keys here: a broker refuses them, too, but writes the secret key to its answer and log."""
    for key_kind, key_text in (("access key", access_key), ("secret key", secret_key)):
        if key_text is not None and len(key_text) < MIN_KEY_LENGTH:
            raise UsageError(
                f"the {key_kind} is too short: 4.x brokers need at least {MIN_KEY_LENGTH} characters"
            )
