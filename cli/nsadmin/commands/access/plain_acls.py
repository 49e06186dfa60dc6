"""Owns the commands for the ACL accounts and global white addresses of 4.x brokers.

Each broker, also each slave, has its own file. No command shows a secret key.
"""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.access.plain_acls import PERM_NAMES, AccountChange, PlainAccount
from nsadmin.client.brokers.targets import BrokerTarget
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
    identity_cells,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.access import password_input
from nsadmin.commands.columns.changes import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    change_cells,
    describe_change,
)
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

_ACCOUNT_SETTINGS = (
    "admin",
    "whiteRemoteAddress",
    "defaultTopicPerm",
    "defaultGroupPerm",
    "topicPerms",
    "groupPerms",
)
ACCOUNT_COLUMNS = (*IDENTITY_COLUMNS, "accessKey", *_ACCOUNT_SETTINGS, "globalWhiteAddrs")
ACL_FILE_COLUMNS = (*IDENTITY_COLUMNS, "aclFile", "counter", "lastUpdated")
ACCOUNT_CHANGE_COLUMNS = (*IDENTITY_COLUMNS, "accessKey", *CHANGE_RESULT_COLUMNS)
ACCOUNT_CHANGE_TABLE_COLUMNS = (*IDENTITY_COLUMNS, "accessKey", *CHANGE_RESULT_IN_TABLE)
WHITE_ADDR_COLUMNS = (*IDENTITY_COLUMNS, *CHANGE_RESULT_COLUMNS)
MIN_KEY_LENGTH = 7

AccessKeyArgument = Annotated[
    str, Argument(metavar="KEY", help="Access key of the account."), Flags("-a", "--accessKey")
]


@command(columns=ACCOUNT_COLUMNS, examples=("old broker", "this ACL is that of 4.x"))
def get_acl_config(
    session: Session, broker_text: BrokerAddrOption = None, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show the accounts of a 4.x broker with aclEnable, or of every broker of a cluster.

    Clients at `globalWhiteAddrs` have all permissions without an account. A broker without accounts has no
    row.

    Examples:
        # Accounts of one broker
        nsadmin getAclConfig -b 127.0.0.1:10911
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    acl_results = match_results(
        broker_targets, session.admin.plain_acls.list_accounts(distinct_addrs(broker_targets))
    )
    account_rows: list[ResultRow] = [
        {
            **identity_cells(broker_target),
            "accessKey": plain_account.access_key,
            **_account_settings(plain_account),
            "globalWhiteAddrs": list(acl_result.result.global_white_addrs),
        }
        for broker_target, acl_result in zip(broker_targets, acl_results, strict=True)
        if acl_result.result
        for plain_account in acl_result.result.accounts
    ]
    failure_notes = [
        f"broker {acl_result.addr}: {error_text(acl_result.error)}"
        for acl_result in acl_results
        if acl_result.error
    ]
    return ResultRows(
        ACCOUNT_COLUMNS, account_rows, [acl_result.error for acl_result in acl_results], failure_notes
    )


@command(columns=ACL_FILE_COLUMNS, examples=("old broker", "this ACL is that of 4.x"))
def cluster_acl_config_version(
    session: Session, broker_text: BrokerAddrOption = None, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show how often the ACL files of 4.x brokers changed, and when they last changed.

    Examples:
        # The files of one broker
        nsadmin clusterAclConfigVersion -b 127.0.0.1:10911
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    file_results = match_results(
        broker_targets, session.admin.plain_acls.list_files(distinct_addrs(broker_targets))
    )
    file_rows: list[ResultRow] = [
        {
            **identity_cells(broker_target),
            "aclFile": acl_file.file_path or None,
            "counter": acl_file.change_count,
            "lastUpdated": format_utc(acl_file.changed_at_ms),
        }
        for broker_target, file_result in zip(broker_targets, file_results, strict=True)
        for acl_file in file_result.result or ()
    ]
    failure_notes = [
        f"broker {file_result.addr}: {error_text(file_result.error)}"
        for file_result in file_results
        if file_result.error
    ]
    return ResultRows(
        ACL_FILE_COLUMNS, file_rows, [file_result.error for file_result in file_results], failure_notes
    )


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
        Option("-t", "--topicPerms", metavar="LIST", help="Permissions by topic: orders=PUB|SUB,other=DENY."),
    ] = None,
    group_perm_list: Annotated[
        str | None, Option("-g", "--groupPerms", metavar="LIST", help="Permissions by group: shop=SUB.")
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
    broker_targets = select_members(session, broker_text, cluster_name)
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
    session.confirm_change(f'Write the account "{access_key}" on {describe_targets(broker_targets)}?')
    planned_changes = session.admin.plain_acls.plan_update(distinct_addrs(broker_targets), wanted_account)
    return _apply_account_plans(session, broker_targets, access_key, planned_changes)


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
    broker_targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f'Delete the account "{access_key}" from {describe_targets(broker_targets)}?')
    planned_changes = session.admin.plain_acls.plan_delete(distinct_addrs(broker_targets), access_key)
    return _apply_account_plans(session, broker_targets, access_key, planned_changes)


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
    broker_targets = select_members(session, broker_text, cluster_name)
    acl_admin = session.admin.plain_acls
    acls_by_addr = {
        addr_result.addr: addr_result
        for addr_result in acl_admin.list_accounts(distinct_addrs(broker_targets))
    }
    session.confirm_change(
        f"Give every client at {', '.join(wanted_addrs)} all permissions on "
        f"{describe_targets(broker_targets)}?"
    )
    change_results: list[ServerResult[tuple[str, ...]]] = (
        [addr_result.then(lambda _: tuple(wanted_addrs)) for addr_result in acls_by_addr.values()]
        if session.is_dry_run
        else acl_admin.set_white_addrs(distinct_addrs(broker_targets), wanted_addrs, acl_file_path)
    )
    change_rows = []
    target_results = match_results(broker_targets, change_results)
    for broker_target, addr_result in zip(broker_targets, target_results, strict=True):
        acl_before = acls_by_addr[addr_result.addr].result if addr_result.addr in acls_by_addr else None
        old_addrs, new_addrs = (
            (list(acl_before.global_white_addrs) if acl_before else None),
            list(addr_result.result or ()),
        )
        difference_cells = (
            change_cells(_join_addresses(old_addrs), _join_addresses(new_addrs))
            | {"before": old_addrs, "after": new_addrs}
            if addr_result.result is not None
            else {}
        )
        change_rows.append(
            {
                **identity_cells(broker_target),
                **difference_cells,
                **outcome_cells(addr_result.error, "dry-run" if session.is_dry_run else "done"),
            }
        )
    return ResultRows(
        WHITE_ADDR_COLUMNS,
        change_rows,
        [addr_result.error for addr_result in target_results],
        (),
        (*IDENTITY_COLUMNS, *CHANGE_RESULT_IN_TABLE),
    )


def _join_addresses(white_addrs: list[str] | None) -> str | None:
    return ",".join(white_addrs) if white_addrs else None


def _apply_account_plans(
    session: Session,
    broker_targets: Sequence[BrokerTarget],
    access_key: str,
    planned_changes: Sequence[ServerResult[AccountChange]],
) -> ResultRows:
    change_table = ChangeTable[AccountChange](
        ACCOUNT_CHANGE_COLUMNS,
        ACCOUNT_CHANGE_TABLE_COLUMNS,
        lambda broker_target, change_result: _account_change_row(
            session, broker_target, access_key, change_result
        ),
    )
    apply_plans = session.admin.plain_acls.apply_plans
    return apply_target_plans(session, broker_targets, planned_changes, apply_plans, change_table)


def _account_change_row(
    session: Session, broker_target: BrokerTarget, access_key: str, change_result: ServerResult[AccountChange]
) -> ResultRow:
    account_before, account_after = change_result.result or AccountChange(None, None)
    old_settings, new_settings = _present_settings(account_before), _present_settings(account_after)
    change_text = describe_change(old_settings, new_settings)
    if account_before and account_after and account_before.secret_key != account_after.secret_key:
        change_text = f"{change_text}, new secret key" if change_text else "new secret key"
    result_word = (
        "unchanged" if account_before == account_after else "dry-run" if session.is_dry_run else "done"
    )
    difference_cells: ResultRow = (
        {"changes": change_text, "before": old_settings, "after": new_settings}
        if change_result.result
        else {}
    )
    return {
        **identity_cells(broker_target),
        "accessKey": access_key,
        **difference_cells,
        **outcome_cells(change_result.error, result_word),
    }


def _present_settings(plain_account: PlainAccount | None) -> dict[str, object] | None:
    """The settings that are set; a list is joined to one text: "orders=PUB|SUB,other=DENY"."""
    if plain_account is None:
        return None
    return {
        setting_name: ",".join(setting_value) if isinstance(setting_value, list) else setting_value
        for setting_name, setting_value in _account_settings(plain_account).items()
        if setting_value is not None
    }


def _account_settings(plain_account: PlainAccount) -> dict[str, object]:
    setting_values = (
        list(setting_value) if isinstance(setting_value, tuple) else setting_value
        for setting_value in plain_account[2:]
    )
    return dict(zip(_ACCOUNT_SETTINGS, setting_values, strict=True))


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
