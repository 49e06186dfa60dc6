"""Users, ACL entries and accounts of brokers that keep some.

A broker of 5.x without authentication fails at these requests, and writes a stack trace to its log. One of
4.x without ACL never answers. So they are not asked.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from namesrv_core.errors import NotSupported
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.acls import AclEntries
from nsadmin.client.access.plain_acls import PlainAcl
from nsadmin.client.access.users import User

T = TypeVar("T")


def list_users(admin: AdminClient, broker_addrs: Sequence[str]) -> list[ServerResult[tuple[User, ...]]]:
    """The users of each broker; NotSupported where none are kept."""
    return _ask_keepers(admin, broker_addrs, "authenticationMetadataProvider", admin.users.list_users)


def list_acl_entries(
    admin: AdminClient, broker_addrs: Sequence[str]
) -> list[ServerResult[dict[str, AclEntries]]]:
    """The ACL entries of each broker by subject; NotSupported where none are kept."""
    return _ask_keepers(admin, broker_addrs, "authorizationMetadataProvider", admin.acls.list_entries)


def list_accounts(admin: AdminClient, broker_addrs: Sequence[str]) -> list[ServerResult[PlainAcl]]:
    """The accounts of each broker of 4.x; NotSupported where none are kept."""
    return _ask_keepers(admin, broker_addrs, "aclEnable", admin.plain_acls.list_accounts)


def _ask_keepers(
    admin: AdminClient,
    broker_addrs: Sequence[str],
    setting: str,
    list_each: Callable[[list[str]], list[ServerResult[T]]],
) -> list[ServerResult[T]]:
    without_setting = {
        result.addr
        for result in admin.broker_configs.get_each(broker_addrs)
        # Brokers name each setting of their broker.conf. It can be set nowhere else.
        if result.result is not None and result.result.get(setting) in (None, "", "false")
    }
    results = {
        result.addr: result
        for result in list_each([addr for addr in broker_addrs if addr not in without_setting])
    }
    return [
        results[addr] if addr in results else ServerResult(addr, None, NotSupported(f"{setting} is not set"))
        for addr in broker_addrs
    ]
