"""Users and ACLs of simulated brokers, as a released 5.5.0 answered."""

import pytest

from namesrv_core.errors import NoPermission, RequestError
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import fastjson

WHO = {"subject": "User:operator-1"}


def acl(resource: str, policy: str | None = None, actions: tuple[str, ...] = ("Pub",)) -> bytes:
    entry = {"resource": resource, "actions": list(actions), "decision": "Allow"}
    return fastjson.encode_json({**WHO, "policies": [{"policyType": policy, "entries": [entry]}]})


def resources(table: UserTable) -> list[tuple[str, str, tuple[str, ...]]]:
    acl = table.get_acl(WHO)
    return [
        (policy["policyType"], entry["resource"], tuple(entry["actions"]))
        for policy in (fastjson.decode_json(acl)["policies"] if acl else ())
        for entry in policy["entries"]
    ]


def test_a_user_comes_changes_and_goes() -> None:
    table, ext = UserTable(), {"username": "shop"}
    table.create_user(ext, b'{"password":"p","userType":"Odd"}')
    assert fastjson.decode_json(table.get_user(ext)) == {
        "password": "p",
        "userStatus": "enable",
        "userType": "Normal",
        "username": "shop",
    }
    table.update_user(ext, b'{"userStatus":"disable"}')
    assert fastjson.decode_json(table.list_users({"filter": "sho"}))[0]["userStatus"] == "disable"
    table.delete_user(ext)
    table.delete_user(ext)
    assert (table.get_user(ext), table.list_users({"filter": "sho"})) == (b"", b"")


@pytest.mark.parametrize(
    ("ext", "body", "remark"),
    [
        ({"username": "operator-1"}, b'{"password":"p"}', "The user is existed"),
        ({"username": "shop"}, b"{}", "password can not be blank"),
        ({}, b'{"password":"p"}', "The username is blank"),
    ],
)
def test_what_makes_no_user(ext: dict[str, str], body: bytes, remark: str) -> None:
    with pytest.raises(RequestError, match=remark):
        UserTable().create_user(ext, body)


def test_who_is_not_there_cannot_be_changed_nor_allowed_anything() -> None:
    table = UserTable()
    with pytest.raises(NoPermission, match="The user is not exist"):
        table.update_user({"username": "nobody"}, b"{}")
    with pytest.raises(NoPermission, match="The subject of User:nobody is not exist"):
        table.put_acl(b'{"subject":"User:nobody"}')
    with pytest.raises(NoPermission, match="The subject is not exist"):
        table.get_acl({"subject": "User:nobody"})
    with pytest.raises(NoPermission, match="The subject is null"):
        table.get_acl({"subject": "operator-1"})


def test_entries_for_the_same_resource_give_way() -> None:
    table = UserTable()
    table.put_acl(acl("Topic:orders", actions=("Sub",)))
    table.put_acl(acl("Topic:x"))
    table.put_acl(acl("Topic:orders", "Default"))
    assert resources(table) == [
        ("Custom", "Topic:orders", ("Sub",)),
        ("Custom", "Topic:x", ("Pub",)),
        ("Default", "Topic:orders", ("Pub",)),
    ]
    assert len(fastjson.decode_json(table.list_acls({"resourceFilter": "Topic:x"}))) == 1
    assert table.list_acls({"subjectFilter": "zz"}) == b""


def test_without_a_type_of_policy_what_is_custom_goes() -> None:
    table = UserTable()
    table.put_acl(acl("Topic:orders", "Default"))
    table.delete_acl({**WHO, "resource": "Topic:orders"})
    assert resources(table) == [("Default", "Topic:orders", ("Pub",))]
    table.delete_acl({**WHO, "resource": "Topic:orders", "policyType": "Default"})
    assert resources(table) == []
    with pytest.raises(NoPermission, match="The acl is not exist"):
        table.delete_acl(WHO)


def test_an_acl_goes_with_its_user_or_all_at_once() -> None:
    table = UserTable()
    table.delete_acl(WHO)
    assert resources(table) == []
    table.put_acl(acl("Topic:x"))
    table.delete_user({"username": "operator-1"})
    assert table.list_acls({}) == b""
