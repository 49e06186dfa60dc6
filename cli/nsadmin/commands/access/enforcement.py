"""Warns of brokers on which users or ACLs have no effect."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from namesrv_core.errors import RequestError, ResponseCode
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.users import DISABLED, SUPER_USER, User
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import list_master_targets
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session
from nsadmin.operations.backups.records import ClusterBackup
from nsadmin.operations.security.rules import CREDENTIALS_FIRST

Things = Literal["users", "ACLs"]
_UNKNOWN_REQUEST = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
_NEEDED_SETTINGS = {
    "users": ("authenticationEnabled",),
    "ACLs": ("authenticationEnabled", "authorizationEnabled"),
}
_EFFECTS_OF_LACK = {
    "users": "where clients need no password",
    "ACLs": "where everyone may do everything",
}


def warn_of_no_effect(session: Session, things: Things, results: Sequence[ServerResult[Any]]) -> None:
    """Write which brokers of the answers or plans lack a setting, or have accounts instead."""
    if old_addrs := [r.addr for r in results if _is_old(r)]:
        session.write_remark(
            f"{abbreviate_names(old_addrs, 3)}: brokers of 4.x have accounts instead of {things}; to see "
            f"them, run {quote_command('getAclConfig')}"
        )
    _warn(session, session.admin, things, (r.addr for r in results if r.error is None))


def remark_super_users(
    session: Session, results: Sequence[ServerResult[tuple[User, ...]]], missing_text: str | None = None
) -> None:
    """Name the users to whom no ACL applies, the disabled ones, and the brokers that do not tell them.

    `missing_text` is in no subject of an ACL: say if it is in no user either.
    """
    users = [user for result in results for user in result.result or ()]
    disabled = Counter(user.username for user in users if user.user_status == DISABLED)
    if disabled:
        counts = Counter(user.username for user in users)
        shown = [
            name if count == counts[name] else f"{name} (on {count} of {counts[name]} brokers)"
            for name, count in sorted(disabled.items())
        ]
        session.write_remark(f"disabled users may do nothing: {', '.join(shown)}")
    if names := sorted({user.username for user in users if user.user_type == SUPER_USER}):
        session.write_remark(f"Super users may do everything: {', '.join(names)}")
    is_known = any(missing_text in f"User:{user.username}" for user in users) if missing_text else True
    if not is_known and all(r.error is None for r in results):
        session.write_remark(
            f'no user has "{missing_text}" in its name: `{quote_command("listUser")}` lists the users'
        )
    if silent_addrs := [r.addr for r in results if r.error is not None and not _is_old(r)]:
        session.write_remark(f"the Super users of {abbreviate_names(silent_addrs, 3)} are unknown")


def remark_super_user(session: Session, subject: str, users: Sequence[ServerResult[User]]) -> None:
    """Write where the user of an ACL is Super: UserAuthorizationHandler of brokers skips ACLs then.

    Also where it is disabled: UserAuthenticationHandler refuses its requests.
    """
    super_addrs = [addr for addr, user, _ in users if user is not None and user.user_type == SUPER_USER]
    if super_addrs:
        session.write_remark(
            f"{subject} is Super on {abbreviate_names(super_addrs, 3)}: it may do everything, because "
            "brokers check no ACL for it"
        )
    disabled_addrs = [addr for addr, user, _ in users if user is not None and user.user_status == DISABLED]
    if disabled_addrs:
        session.write_remark(
            f"{subject} is disabled on {abbreviate_names(disabled_addrs, 3)}: it may do nothing there"
        )


def warn_of_restored_access(session: Session, admin: AdminClient, backup: ClusterBackup) -> None:
    """Write which masters lack a setting for the users or ACLs that they get of a backup."""
    masters = list_master_targets(admin.clusters.get_info(), backup.cluster_name)
    placed = [
        (m.broker_addr, broker)
        for m in masters
        if m.broker_addr and (broker := backup.brokers.get(str(m.broker_name)))
    ]
    _warn(session, admin, "users", (addr for addr, broker in placed if broker.users))
    _warn(session, admin, "ACLs", (addr for addr, broker in placed if broker.acls))


def _is_old(result: ServerResult[Any]) -> bool:
    return isinstance(result.error, RequestError) and result.error.code == _UNKNOWN_REQUEST


def _warn(session: Session, admin: AdminClient, things: Things, addrs: Iterable[str]) -> None:
    addrs_by_lack: dict[str, list[str]] = {}
    # Brokers list these settings only if broker.conf does.
    for addr, config, _ in admin.broker_configs.get_each(dict.fromkeys(addrs)):
        if config is not None:
            needed = _NEEDED_SETTINGS[things]
            lacks = [f"{key}=true" for key in needed if config.get(key, "").lower() != "true"]
            addrs_by_lack.setdefault(" and ".join(lacks), []).append(addr)
    addrs_by_lack.pop("", None)
    for lack, open_addrs in addrs_by_lack.items():
        session.write_remark(
            f"{things} have no effect on {abbreviate_names(open_addrs, 3)}, {_EFFECTS_OF_LACK[things]}: "
            f"{CREDENTIALS_FIRST} set {lack} in broker.conf, and restart the broker"
        )
