"""Restores the users, ACLs and 4.x accounts of a broker, and reads every change back."""

from collections.abc import Iterator
from functools import partial

from namesrv_core.errors import NotSupported, RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.access.acls import AclChange
from nsadmin.client.access.plain_acls import AccountChange, PlainAccount
from nsadmin.client.access.users import User, UserChange
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_not_found
from nsadmin.operations.backups.records import WHITE_ADDRS_ITEM, BrokerBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome, judge_change
from nsadmin.operations.broker_items import account_fields, user_fields


class AccessRestore:
    """Restores the sections of one broker. Nothing is deleted."""

    def __init__(self, admin: AdminClient, *, is_dry_run: bool) -> None:
        self._admin, self._is_dry_run = admin, is_dry_run
        self._judge_change = partial(judge_change, is_dry_run=is_dry_run)

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
        is_equal = before is not None and user_fields(before) == user_fields(user)
        if error is None and not is_equal and not self._is_dry_run:
            [result] = self._admin.users.apply_plans([plan])
            error = result.error
        return self._judge_change(
            Section.USERS,
            broker,
            user.username,
            (None if before is None else user_fields(before), user_fields(user)),
            error,
        )

    def restore_acls(self, addr: str, broker: BrokerBackup) -> Iterator[RestoreOutcome]:
        """Add and change ACL entries."""
        new_subjects = {f"User:{user.username}" for user in broker.users} if self._is_dry_run else set()
        for subject, entries in broker.acls.items():
            [plan] = self._admin.acls.plan_merge([addr], subject, entries)
            change: AclChange | None = plan.result
            before, after = (
                ([], []) if change is None else (list(change.entries_before), list(change.entries_after))
            )
            error = plan.error
            if subject in new_subjects and is_not_found(error):
                # The restore creates the user first.
                before, after, error = [], list(entries), None
            if error is None and set(before) != set(after) and not self._is_dry_run:
                error = self._admin.acls.apply_plans([plan])[0].error
            yield self._judge_change(
                Section.ACLS,
                broker.broker_name,
                subject,
                (sorted(entry.resource for entry in before), sorted(entry.resource for entry in after))
                if set(before) != set(after)
                else (True, True),
                error,
            )

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
        error = _explain_account_error(plan.error)
        if error is None and before != after and not self._is_dry_run:
            [result] = self._admin.plain_acls.apply_plans([plan])
            error = result.error
        return self._judge_change(Section.ACCOUNTS, broker, account.access_key, (before, after), error)

    def _restore_white_addrs(self, addr: str, broker: BrokerBackup) -> RestoreOutcome:
        [acl_result] = self._admin.plain_acls.list_accounts([addr])
        before = [] if acl_result.result is None else [*acl_result.result.global_white_addrs]
        after = list(dict.fromkeys([*before, *broker.white_addrs]))
        error = _explain_account_error(acl_result.error)
        if error is None and before != after and not self._is_dry_run:
            [result] = self._admin.plain_acls.set_white_addrs([addr], after)
            error = result.error
        return self._judge_change(
            Section.ACCOUNTS, broker.broker_name, WHITE_ADDRS_ITEM, (before, after), error
        )


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
