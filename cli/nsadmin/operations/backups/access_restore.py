"""Restores the users, ACLs and 4.x accounts of a broker, and reads every change back."""

from collections.abc import Iterator
from functools import partial

from namesrv_core.errors import NotSupported, RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.access.acls import AclChange, AclEntries
from nsadmin.client.access.plain_acls import AccountChange, PlainAccount
from nsadmin.client.access.users import User, UserChange
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_not_found
from nsadmin.operations.backups.records import WHITE_ADDRS_ITEM, BrokerBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome, change_item
from nsadmin.operations.broker_items import ItemFields, account_fields, list_acl_items, user_fields


class AccessRestore:
    """Restores the sections of one broker. Nothing is deleted."""

    def __init__(self, admin: AdminClient, *, is_dry_run: bool, only_missing: bool = False) -> None:
        self._admin, self._is_dry_run = admin, is_dry_run
        self._change_item = partial(change_item, is_dry_run=is_dry_run, only_missing=only_missing)

    def restore_users(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        """Create and change users."""
        users = self._admin.users
        plans = users.plan_copy(addr, broker.users) if broker.users else []
        for user, plan in zip(broker.users, plans, strict=True):
            yield self._restore_user(broker.broker_name, user, plan)

    def _restore_user(self, broker: str, user: User, plan: ServerResult[UserChange]) -> RestoreOutcome:
        before = None if plan.result is None else plan.result.user_before
        error = plan.error
        if error is None and before is None and user.password is None:
            error = NotApplied(
                "its password is unknown: pass --passphrase-file with a backup made with --with-secrets, or "
                "create the user: `nsadmin createUser --help`"
            )
        return self._change_item(
            Section.USERS,
            broker,
            user.username,
            (None if before is None else user_fields(before), user_fields(user)),
            error,
            lambda: self._admin.users.apply_plans([plan])[0].error,
        )

    def restore_acls(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        """Add and change ACL entries."""
        new_subjects = {f"User:{user.username}" for user in broker.users} if self._is_dry_run else set()
        for subject, entries in broker.acls.items():
            [plan] = self._admin.acls.plan_merge([addr], subject, entries)
            change: AclChange | None = plan.result
            before, after = ((), ()) if change is None else (change.entries_before, change.entries_after)
            error = plan.error
            if subject in new_subjects and is_not_found(error):
                # The restore creates the user first.
                before, after, error = (), entries, None
            yield self._change_item(
                Section.ACLS,
                broker.broker_name,
                subject,
                (_list_entries(subject, before), _list_entries(subject, after)),
                error,
                partial(self._apply_acl, plan),
            )

    def _apply_acl(self, plan: ServerResult[AclChange]) -> RocketMQError | None:
        return self._admin.acls.apply_plans([plan])[0].error

    def restore_accounts(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        """Create and change the accounts of a 4.x broker, and add trusted addresses."""
        for account in broker.accounts:
            [plan] = self._admin.plain_acls.plan_update([addr], account)
            yield self._restore_account(broker.broker_name, account, plan)
        if broker.white_addrs:
            yield self._restore_white_addrs(addr, broker)

    def _restore_account(
        self, broker: str, account: PlainAccount, plan: ServerResult[AccountChange]
    ) -> RestoreOutcome:
        account_before = None if plan.result is None else plan.result.account_before
        before = None if account_before is None else account_fields(account_before)
        after = account_fields(account)
        return self._change_item(
            Section.ACCOUNTS,
            broker,
            account.access_key,
            (before, after),
            _explain_account_error(plan.error),
            lambda: self._admin.plain_acls.apply_plans([plan])[0].error,
        )

    def _restore_white_addrs(self, addr: str, broker: BrokerBackup) -> RestoreOutcome:
        [acl_result] = self._admin.plain_acls.list_accounts([addr])
        before = [] if acl_result.result is None else [*acl_result.result.global_white_addrs]
        after = list(dict.fromkeys([*before, *broker.white_addrs]))
        return self._change_item(
            Section.ACCOUNTS,
            broker.broker_name,
            WHITE_ADDRS_ITEM,
            (before or None, after),
            _explain_account_error(acl_result.error),
            lambda: self._admin.plain_acls.set_white_addrs([addr], after)[0].error,
        )


def _list_entries(subject: str, entries: AclEntries) -> dict[str, ItemFields] | None:
    """The fields of each entry by its resource; None for a subject without entries."""
    items = list_acl_items({subject: tuple(sorted(entries))})
    return {name.removeprefix(f"{subject} "): fields for name, fields in items.items()} or None


def _explain_account_error(error: RocketMQError | None) -> RocketMQError | None:
    if isinstance(error, NotFound):
        return NotApplied(
            "its secret key is unknown: pass --passphrase-file with a backup made with --with-secrets, or "
            "create the account: `nsadmin updateAclConfig --help`"
        )
    if isinstance(error, NotSupported):
        return NotApplied(
            "this broker has users and ACLs in place of accounts: `nsadmin transfer acl --help` shows how to "
            "turn accounts into users"
        )
    return error
