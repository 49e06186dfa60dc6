"""`admin.plain_acls`: the accounts of 4.x brokers with aclEnable, read and changed by plans.

A broker needs the complete account in each change; without the admin flag, the account loses its admin role.
So a plan reads the account first, and sends the unchanged values too.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_json_object, read_ext_fields
from nsadmin.client.results import NotFound, ServerResult, confirm_plans, ignored_change, read_after

PERM_NAMES = ("DENY", "PUB", "SUB", "PUB|SUB")


class PlainAccount(NamedTuple):
    """An account. Its repr never shows the secret key, which brokers report in clear text.

    Attributes:
        access_key: The access key.
        secret_key: The secret key; None if not reported, or to keep it in an update, like the next ones.
        is_admin: Whether the account may change brokers.
        white_remote_address: The addresses from which the account needs no signature.
        default_topic_perm: The permission for other topics, from PERM_NAMES.
        default_group_perm: The permission for other groups, from PERM_NAMES.
        topic_perms: Permissions "topic=PUB|SUB".
        group_perms: Permissions "group=SUB".
    """

    access_key: str
    secret_key: str | None = None
    is_admin: bool | None = None
    white_remote_address: str | None = None
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: tuple[str, ...] | None = None
    group_perms: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"Account({self.access_key!r}, ..., admin={self.is_admin})"


class PlainAcl(NamedTuple):
    """The plain ACL of a broker.

    Attributes:
        global_white_addrs: Addresses that may do everything without a signature.
        accounts: The accounts in the order of access keys.
    """

    global_white_addrs: tuple[str, ...]
    accounts: tuple[PlainAccount, ...]


class AclFile(NamedTuple):
    """An ACL file of a broker.

    Attributes:
        file_path: The path on the broker's machine; "" if not reported (before 4.9.2).
        change_count: The number of changes; None if not reported.
        changed_at_ms: The last change in ms since 1970; None if not reported.
    """

    file_path: str
    change_count: int | None
    changed_at_ms: int | None


class AccountChange(NamedTuple):
    """An account before and after a change; None if there is no such account."""

    account_before: PlainAccount | None
    account_after: PlainAccount | None


class PlainAclAdmin:
    """`admin.plain_acls`: the accounts of 4.x brokers.

    Each method returns one ServerResult per address or plan, in order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list_accounts(self, broker_addrs: Iterable[str]) -> list[ServerResult[PlainAcl]]:
        """Return the accounts and the white addresses of brokers (GET_BROKER_CLUSTER_ACL_CONFIG, 54).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._caller.read_each(
            broker_addrs, _parse_plain_acl, RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG
        )

    def list_files(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[AclFile, ...]]]:
        """Return the ACL files of brokers, in the order of paths (GET_BROKER_CLUSTER_ACL_INFO, 52).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._caller.read_each(broker_addrs, _parse_acl_files, RequestCode.GET_BROKER_CLUSTER_ACL_INFO)

    def plan_update(
        self, broker_addrs: Iterable[str], wanted_account: PlainAccount
    ) -> list[ServerResult[AccountChange]]:
        """Plan to create or update an account.

        Args:
            broker_addrs: The broker addresses.
            wanted_account: The new values; None keeps a value. A list of permissions replaces the old list.

        Returns:
            One ServerResult per address, in order: the planned change. The error is NotFound for a new
            account without a secret key.
        """

        def plan_change(plain_acl: PlainAcl) -> AccountChange:
            account_before = _find_account(plain_acl, wanted_account.access_key)
            if account_before is None and wanted_account.secret_key is None:
                raise NotFound(f'no account "{wanted_account.access_key}": pass a secret key to create it')
            base_account = account_before or PlainAccount(wanted_account.access_key, is_admin=False)
            given_fields = {name: v for name, v in wanted_account._asdict().items() if v is not None}
            return AccountChange(account_before, base_account._replace(**given_fields))

        return [acl_result.then(plan_change) for acl_result in self.list_accounts(broker_addrs)]

    def plan_delete(self, broker_addrs: Iterable[str], access_key: str) -> list[ServerResult[AccountChange]]:
        """Plan to delete an account; the error is NotFound for an unknown account.

        Args:
            broker_addrs: The broker addresses.
            access_key: The access key of the account.

        Returns:
            One ServerResult per address, in order: the planned change.
        """

        def plan_change(plain_acl: PlainAcl) -> AccountChange:
            account_before = _find_account(plain_acl, access_key)
            if account_before is None:
                raise NotFound(f'no account "{access_key}"')
            return AccountChange(account_before, None)

        return [acl_result.then(plan_change) for acl_result in self.list_accounts(broker_addrs)]

    def apply_plans(
        self, planned_changes: Sequence[ServerResult[AccountChange]]
    ) -> list[ServerResult[AccountChange]]:
        """Apply plans, and read the accounts back.

        Sends UPDATE_AND_CREATE_ACL_CONFIG (50) or DELETE_ACL_CONFIG (51) for each plan with a change. A
        client that changes its own key cannot read the result back: then the broker's success counts.

        Args:
            planned_changes: The plans, at most one per broker. A plan with an error is not sent and keeps its
                error.

        Returns:
            One ServerResult per plan, in order. The error is NotApplied if the broker has other values.
        """
        plans = [p for p in planned_changes if p.result and p.result.account_before != p.result.account_after]
        answers = self._caller.send_requests((p.addr, _build_request(p.value())) for p in plans)
        answers = [_hide_secret(answer, p.value()) for p, answer in zip(plans, answers, strict=True)]
        return confirm_plans(
            planned_changes, answers, self.list_accounts, _confirm_change, trusts_denial=True
        )

    def set_white_addrs(
        self, broker_addrs: Iterable[str], white_addrs: Sequence[str], file_path: str | None = None
    ) -> list[ServerResult[tuple[str, ...]]]:
        """Replace the global white addresses, and read them back (UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, 53).

        Args:
            broker_addrs: The broker addresses.
            white_addrs: The addresses that may do everything without a signature.
            file_path: The ACL file on the broker's machine. Default: the broker's default file.

        Returns:
            One ServerResult per address, in order: the addresses read back. The error is NotApplied if one is
            missing.
        """
        ext_fields = {
            "globalWhiteAddrs": ",".join(white_addrs),
            **({"aclFileFullPath": file_path} if file_path else {}),
        }
        answers = self._caller.send_to_each(
            broker_addrs, RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, ext_fields
        )

        def verify_addrs(addr: str, plain_acl: PlainAcl) -> tuple[str, ...]:
            missing_addrs = set(white_addrs) - set(plain_acl.global_white_addrs)
            if missing_addrs:
                finding = f"{', '.join(sorted(missing_addrs))} is missing from the addresses"
                raise ignored_change(addr, finding, "getAclConfig", "-b", addr)
            return plain_acl.global_white_addrs

        return [r.then(partial(verify_addrs, r.addr)) for r in read_after(answers, self.list_accounts)]


def _confirm_change(addr: str, change: AccountChange, plain_acl: PlainAcl) -> AccountChange:
    current_account = _find_account(plain_acl, _changed_access_key(change))
    if current_account != change.account_after:
        raise ignored_change(
            addr, "the settings of the account are not as requested", "getAclConfig", "-b", addr
        )
    return change._replace(account_after=current_account)


def _hide_secret(
    answer: ServerResult[RemotingCommand], change: AccountChange
) -> ServerResult[RemotingCommand]:
    """Replace the secret key in an error, because the refusal of a broker may quote it."""
    key = change.account_after.secret_key if change.account_after else None
    error = answer.error
    if key and isinstance(error, RequestError) and key in (error.remark or ""):
        hidden_error = RequestError((error.remark or "").replace(key, "***"), error.code)
        hidden_error.addr = error.addr
        return ServerResult(answer.addr, None, hidden_error)
    return answer


def _changed_access_key(change: AccountChange) -> str:
    account = change.account_after or change.account_before
    return account.access_key if account else ""


def _find_account(plain_acl: PlainAcl, access_key: str) -> PlainAccount | None:
    return next((account for account in plain_acl.accounts if account.access_key == access_key), None)


def _build_request(change: AccountChange) -> RemotingCommand:
    account_after = change.account_after
    if account_after is None:
        return make_request(RequestCode.DELETE_ACL_CONFIG, {"accessKey": _changed_access_key(change)})
    field_values = {
        "accessKey": account_after.access_key,
        "secretKey": account_after.secret_key,
        "admin": str(bool(account_after.is_admin)).lower(),
        "whiteRemoteAddress": account_after.white_remote_address,
        "defaultTopicPerm": account_after.default_topic_perm,
        "defaultGroupPerm": account_after.default_group_perm,
        "topicPerms": _join_perms(account_after.topic_perms),
        "groupPerms": _join_perms(account_after.group_perms),
    }
    ext_fields = {field_name: value for field_name, value in field_values.items() if value is not None}
    return make_request(RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, ext_fields)


def _join_perms(perms: tuple[str, ...] | None) -> str | None:
    return None if perms is None else ",".join(perms)


def _parse_plain_acl(response: RemotingCommand) -> PlainAcl:
    acl = parse_json_object(response)
    accounts = map(_parse_account, acl.children("plainAccessConfigs"))
    return PlainAcl(tuple(acl.texts("globalWhiteAddrs")), tuple(sorted(accounts, key=lambda a: a.access_key)))


def _parse_account(account: JsonObject) -> PlainAccount:
    perm_lists = ("topicPerms", "groupPerms")
    return PlainAccount(
        account.text("accessKey"),
        account.text("secretKey", None),
        account.flag("admin"),
        account.text("whiteRemoteAddress", None),
        account.text("defaultTopicPerm", None),
        account.text("defaultGroupPerm", None),
        *(tuple(account.texts(perms)) if perms in account else None for perms in perm_lists),
    )


def _parse_acl_files(response: RemotingCommand) -> tuple[AclFile, ...]:
    """Parse the versions of ACL files. Brokers before 4.9.2 report one version without a path."""
    ext_fields = read_ext_fields(response)
    versions = fastjson.decode_json((ext_fields.text("allAclFileVersion", "") or "null").encode())
    if not isinstance(versions, dict):
        versions = {"": fastjson.decode_json((ext_fields.text("version", "") or "{}").encode())}
    return tuple(
        AclFile(file_path, version.integer("counter", None), version.integer("timestamp", None))
        for file_path, version in JsonObject(versions, "the versions").sorted_children()
    )
