"""Accounts of 4.x as users and ACL entries of 5.x."""

from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import User
from nsadmin.operations.transfer.account_translation import translate_account


def test_an_admin_is_a_super_user_who_needs_no_entries() -> None:
    translated = translate_account(PlainAccount("root", "12345678", True, None, "DENY", "DENY", ("a=PUB",)))
    assert translated == (User("root", "12345678", "Super", "enable"), (), ())


def test_permissions_are_entries_and_a_denial_wins_over_the_rule_for_all_names() -> None:
    account = PlainAccount(
        "ci", "12345678", False, "", "PUB", "DENY", ("a=PUB|SUB", "b=DENY", "c=SUB"), ("g=SUB", "h=ANY")
    )
    assert translate_account(account).entries == (
        AclEntry("Topic:*", ("Pub",), "Allow"),
        AclEntry("Topic:a", ("Pub", "Sub", "Get"), "Allow"),
        AclEntry("Topic:b", ("Pub", "Sub", "Get"), "Deny"),
        AclEntry("Topic:c", ("Sub", "Get"), "Allow"),
        AclEntry("Group:g", ("Sub", "Get"), "Allow"),
        AclEntry("Group:h", ("Pub", "Sub", "Get"), "Allow"),
    )


def test_a_trusted_address_is_a_loss() -> None:
    translated = translate_account(PlainAccount("ci", None, None, "10.0.0.*"))
    assert translated.user.password is None
    assert translated.losses == ("requests from 10.0.0.* need no signature in 4.x, and need one in 5.x",)
