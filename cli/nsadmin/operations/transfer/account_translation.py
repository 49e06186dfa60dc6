"""Turns the accounts of 4.x brokers (ACL 1) into users and ACL entries of 5.x (ACL 2). Pure.

Clients keep their access key and secret key: a broker of 5.x takes them as username and password.
"""

from typing import NamedTuple

from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import SUPER_USER, User

USER_SUBJECT_PREFIX = "User:"
_CONSUMER_ACTIONS = ("Sub", "Get")
"""Consumers of 5.x also read offsets, for which 4.x needs no permission (GetMaxOffsetRequestHeader)."""


class TranslatedAccount(NamedTuple):
    """An account as a user.

    Attributes:
        user: The user, with the secret key as its password.
        entries: Its permissions; () for an administrator, who needs none.
        losses: One text for each rule that 5.x cannot express.
    """

    user: User
    entries: tuple[AclEntry, ...]
    losses: tuple[str, ...]


def translate_account(account: PlainAccount) -> TranslatedAccount:
    """Return the user and the permissions for an account."""
    user_type = SUPER_USER if account.is_admin else "Normal"
    user = User(account.access_key, account.secret_key, user_type, "enable")
    losses = []
    if account.white_remote_address:
        losses.append(
            f"requests from {account.white_remote_address} need no signature in 4.x, and need one in 5.x"
        )
    if account.is_admin:
        return TranslatedAccount(user, (), tuple(losses))
    entries = [
        entry
        for kind, perm, perms in (
            ("Topic", account.default_topic_perm, account.topic_perms),
            ("Group", account.default_group_perm, account.group_perms),
        )
        for entry in _translate_perms(kind, perm, perms or ())
    ]
    return TranslatedAccount(user, tuple(entries), tuple(losses))


def _translate_perms(kind: str, default_perm: str | None, perms: tuple[str, ...]) -> list[AclEntry]:
    entries = []
    named_perms = [text.rpartition("=")[::2] for text in perms]
    for name, perm in (("*", default_perm or "DENY"), *named_perms):
        actions = _translate_perm(perm)
        if actions:
            entries.append(AclEntry(f"{kind}:{name}", actions, "Allow"))
        elif name != "*":
            # Without an entry, the rule for all names would count.
            entries.append(AclEntry(f"{kind}:{name}", ("Pub", *_CONSUMER_ACTIONS), "Deny"))
    return entries


def _translate_perm(perm: str) -> tuple[str, ...]:
    """The actions of a permission such as "PUB|SUB"; () for DENY."""
    permission_words = {word.strip().upper() for word in perm.split("|")}
    may_do_all = "ANY" in permission_words
    return (
        *(("Pub",) if may_do_all or "PUB" in permission_words else ()),
        *(_CONSUMER_ACTIONS if may_do_all or "SUB" in permission_words else ()),
    )
