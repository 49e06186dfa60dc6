"""Plain ACLs: the accounts of 4.x brokers with aclEnable, in a file of each broker; changed after a plan.

A broker wants the whole identity of an account with each change, and takes an account for no admin that is
not called one: what is not named is read first and sent as it is.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object, texts
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_denied
from nsadmin.client.retry import decoded

PERMS = ("DENY", "PUB", "SUB", "PUB|SUB")


class Account(NamedTuple):
    """One account; a representation never shows the secret key, which brokers tell in clear."""

    access_key: str
    secret_key: str | None = None
    admin: bool | None = None
    white_remote_address: str | None = None
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: tuple[str, ...] | None = None
    group_perms: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"Account({self.access_key!r}, ..., admin={self.admin})"


class PlainAcl(NamedTuple):
    """What a broker's file says; the addresses may do everything, unsigned."""

    global_white_addrs: tuple[str, ...]
    accounts: tuple[Account, ...]


class AclFile(NamedTuple):
    """A file of a broker: how often it was changed, and when last, in ms since 1970."""

    path: str
    counter: int | None
    timestamp: int | None


class AccountChange(NamedTuple):
    """What is there and what would be, or is: None for nothing."""

    before: Account | None
    after: Account | None


class PlainAcls:
    """`admin.plain_acls`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, addrs: Iterable[str]) -> list[ServerResult[PlainAcl]]:
        """The accounts and addresses of these brokers."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG)
        return [decoded(answer, _plain_acl) for answer in answers]

    def files(self, addrs: Iterable[str]) -> list[ServerResult[tuple[AclFile, ...]]]:
        """The files of these brokers, in the order of paths."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CLUSTER_ACL_INFO)
        return [decoded(answer, _files) for answer in answers]

    def plan_update(self, addrs: Iterable[str], wanted: Account) -> list[ServerResult[AccountChange]]:
        """A new account, or another one in what is not None in `wanted`; NotFound for one without a key.

        A list of permissions takes the place of the one that is there.
        """

        def plan(found: PlainAcl) -> AccountChange:
            before = _account(found, wanted.access_key)
            if before is None and wanted.secret_key is None:
                raise NotFound(f"no account {wanted.access_key!r}: a new one needs a secret key")
            old = before or Account(wanted.access_key, admin=False)
            named = {name: value for name, value in wanted._asdict().items() if value is not None}
            return AccountChange(before, old._replace(**named))

        return [found.then(plan) for found in self.each(addrs)]

    def plan_delete(self, addrs: Iterable[str], access_key: str) -> list[ServerResult[AccountChange]]:
        """No such account any more; NotFound where there is none."""

        def plan(found: PlainAcl) -> AccountChange:
            before = _account(found, access_key)
            if before is None:
                raise NotFound(f"no account {access_key!r}")
            return AccountChange(before, None)

        return [found.then(plan) for found in self.each(addrs)]

    def carry_out(self, plans: Sequence[ServerResult[AccountChange]]) -> list[ServerResult[AccountChange]]:
        """Tell each broker what differs, and read it back; NotApplied where it shows something else.

        Who has changed his own key cannot look: then the broker's word counts.
        """
        due = [plan for plan in plans if plan.result and plan.result.before != plan.result.after]
        told = self._caller.ask([(plan.addr, _order(plan.result)) for plan in due if plan.result])
        done = {plan.addr: _discreet(answer, plan.result) for plan, answer in zip(due, told, strict=True)}
        there = {
            found.addr: found for found in self.each([addr for addr in done if done[addr].error is None])
        }
        return [
            _checked(plan, done[plan.addr], there.get(plan.addr)) if plan.addr in done else plan
            for plan in plans
        ]

    def set_white(
        self, addrs: Iterable[str], white: Sequence[str], file: str | None = None
    ) -> list[ServerResult[tuple[str, ...]]]:
        """Write the addresses that may do everything, in the place of those there are, and read them back.

        Into the broker's `file` of that path, or its usual one.
        """
        ext = {"globalWhiteAddrs": ",".join(white), **({"aclFileFullPath": file} if file else {})}
        told = self._caller.ask_each(addrs, RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, ext)
        there = {found.addr: found for found in self.each([item.addr for item in told if item.error is None])}

        def check(found: PlainAcl) -> tuple[str, ...]:
            missing = set(white) - set(found.global_white_addrs)
            if missing:
                raise NotApplied(f"ignored: {', '.join(sorted(missing))} is not among the addresses")
            return found.global_white_addrs

        return [
            there[answer.addr].then(check)
            if answer.addr in there
            else ServerResult(answer.addr, None, answer.error)
            for answer in told
        ]


def _checked(
    plan: ServerResult[AccountChange], told: ServerResult[Command], there: ServerResult[PlainAcl] | None
) -> ServerResult[AccountChange]:
    if told.error is not None or plan.result is None or there is None:
        return ServerResult(plan.addr, None, told.error)
    if is_denied(there.error):
        return plan
    before, after = plan.result

    def check(found: PlainAcl) -> AccountChange:
        now = _account(found, _key(plan.result))
        if now != after:
            raise NotApplied("ignored: the broker shows another account; see getAclConfig")
        return AccountChange(before, now)

    return there.then(check)


def _discreet(told: ServerResult[Command], change: AccountChange | None) -> ServerResult[Command]:
    """A broker's refusal may quote the secret key."""
    secret = change.after.secret_key if change and change.after else None
    error = told.error
    if secret and isinstance(error, RequestError) and secret in (error.remark or ""):
        hidden = RequestError((error.remark or "").replace(secret, "***"), error.code)
        hidden.addr = error.addr
        return ServerResult(told.addr, None, hidden)
    return told


def _key(change: AccountChange | None) -> str:
    account = change and (change.after or change.before)
    return account.access_key if account else ""


def _account(found: PlainAcl, access_key: str) -> Account | None:
    return next((account for account in found.accounts if account.access_key == access_key), None)


def _order(change: AccountChange) -> Command:
    after = change.after
    if after is None:
        return request(RequestCode.DELETE_ACL_CONFIG, {"accessKey": _key(change)})
    values = {
        "accessKey": after.access_key,
        "secretKey": after.secret_key,
        "admin": str(bool(after.admin)).lower(),
        "whiteRemoteAddress": after.white_remote_address,
        "defaultTopicPerm": after.default_topic_perm,
        "defaultGroupPerm": after.default_group_perm,
        "topicPerms": _listed(after.topic_perms),
        "groupPerms": _listed(after.group_perms),
    }
    ext = {name: value for name, value in values.items() if value is not None}
    return request(RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, ext)


def _listed(perms: tuple[str, ...] | None) -> str | None:
    return None if perms is None else ",".join(perms)


def _plain_acl(command: Command) -> PlainAcl:
    found = json_object(command)
    accounts = (_read(item) for item in found.get("plainAccessConfigs") or () if isinstance(item, dict))
    return PlainAcl(tuple(texts(found.get("globalWhiteAddrs"))), tuple(sorted(accounts)))


def _read(item: dict[str, Any]) -> Account:
    lists = (item.get(key) for key in ("topicPerms", "groupPerms"))
    return Account(
        str(item.get("accessKey")),
        item.get("secretKey"),
        bool(item.get("admin")),
        item.get("whiteRemoteAddress"),
        item.get("defaultTopicPerm"),
        item.get("defaultGroupPerm"),
        *(None if perms is None else tuple(texts(perms)) for perms in lists),
    )


def _files(command: Command) -> tuple[AclFile, ...]:
    """Brokers before 4.9.2 tell a version without the file's path."""
    ext = command.ext or {}
    table = fastjson.loads((ext.get("allAclFileVersion") or "null").encode())
    if not isinstance(table, dict):
        table = {"": fastjson.loads((ext.get("version") or "{}").encode())}
    return tuple(
        AclFile(path, version.get("counter"), version.get("timestamp"))
        for path, version in sorted(table.items())
    )
