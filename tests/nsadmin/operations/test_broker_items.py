"""Users, ACL entries and consume modes as named items."""

from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.users import User
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode
from nsadmin.operations.broker_items import list_acl_items, list_mode_items, user_fields


def test_a_user_has_no_password() -> None:
    assert user_fields(User("alice", "s3cret", "Super", "enable")) == {
        "userType": "Super",
        "userStatus": "enable",
    }


def test_two_policies_of_a_resource_are_two_items() -> None:
    entries = (
        AclEntry("Topic:orders", ("Pub", "Sub"), "Allow", ("10.0.0.1", "::1")),
        AclEntry("Topic:orders", ("Pub",), "Deny", (), "Default"),
    )
    assert list_acl_items({"User:alice": entries}) == {
        "User:alice Topic:orders": {"actions": "Pub,Sub", "decision": "Allow", "sourceIps": "10.0.0.1,::1"},
        "User:alice Topic:orders Default": {"actions": "Pub", "decision": "Deny", "sourceIps": ""},
    }


def test_a_mode_is_named_by_topic_and_group() -> None:
    assert list_mode_items([AssignedMode("orders", "warehouse", ConsumeMode("POP", 4))]) == {
        "orders warehouse": {"mode": "POP", "pop_share_queue_num": 4}
    }
