"""ACLs of brokers: looked at, planned, changed and looked at again."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.access.acls import AclChange, AclEntry, merge_entries
from tests.support.access_brokers import AccessBroker
from tests.support.fake_servers import refuse_with

WHO = "User:operator-1"
ORDERS = AclEntry("Topic:orders", ("All",), "Allow")
GROUPS = AclEntry("Group:*", ("Sub",), "Deny", ("10.0.0.0/8",))
DEFAULT = ORDERS._replace(policy_type="Default")


@pytest.fixture
def broker() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as client:
        yield client


def test_a_new_entry_takes_the_place_of_the_one_for_its_resource() -> None:
    other = ORDERS._replace(decision="Deny")
    assert merge_entries((ORDERS, GROUPS), (other,)) == (other, GROUPS)
    assert merge_entries((ORDERS,), (DEFAULT, GROUPS)) == (ORDERS, DEFAULT, GROUPS)
    # A broker that was told a resource twice has it twice, and changes the first.
    assert merge_entries((ORDERS, ORDERS), (other,)) == (other, ORDERS)


def test_entries_are_listed_by_subject(admin: AdminClient, broker: AccessBroker) -> None:
    assert admin.acls.list_entries([broker.addr]) == [(broker.addr, {WHO: (ORDERS,)}, None)]
    assert admin.acls.list_entries([broker.addr], "zz") == [(broker.addr, {}, None)]
    assert admin.acls.list_entries([broker.addr], None, "Group") == [(broker.addr, {}, None)]
    assert admin.acls.get_entries([broker.addr], WHO) == [(broker.addr, (ORDERS,), None)]


def test_an_unknown_user_is_not_found(admin: AdminClient, broker: AccessBroker) -> None:
    [result] = admin.acls.get_entries([broker.addr], "User:nobody")
    assert isinstance(result.error, NotFound)
    assert str(result.error) == 'no user "nobody"'


def test_what_is_new_is_sent_and_the_rest_stays(admin: AdminClient, broker: AccessBroker) -> None:
    [done] = admin.acls.apply_plans(admin.acls.plan_merge([broker.addr], WHO, [ORDERS, GROUPS]))
    assert done.result == AclChange(WHO, (ORDERS,), (ORDERS, GROUPS))
    [sent] = [asked for asked in broker.asked if asked.code == 3007]
    assert fastjson.decode_json(sent.body) == {
        "subject": WHO,
        "policies": [
            {
                "policyType": "Custom",
                "entries": [
                    {
                        "resource": "Group:*",
                        "actions": ["Sub"],
                        "sourceIps": ["10.0.0.0/8"],
                        "decision": "Deny",
                    }
                ],
            }
        ],
    }


def test_what_is_so_already_is_not_sent(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.acls.plan_merge([broker.addr], WHO, [ORDERS])
    assert admin.acls.apply_plans(plans) == plans
    assert broker.asked_codes() == [3009]


def test_both_types_of_policy_lose_a_resource(admin: AdminClient, broker: AccessBroker) -> None:
    admin.acls.apply_plans(admin.acls.plan_merge([broker.addr], WHO, [DEFAULT, GROUPS]))
    [plan] = admin.acls.plan_delete([broker.addr], WHO, ["Topic:orders"], "Default")
    assert plan.result == AclChange(WHO, (ORDERS, GROUPS, DEFAULT), (ORDERS, GROUPS))
    [done] = admin.acls.apply_plans(admin.acls.plan_delete([broker.addr], WHO, ["Topic:orders"]))
    assert done.result == AclChange(WHO, (ORDERS, GROUPS, DEFAULT), (GROUPS,))


def test_one_request_takes_it_all(admin: AdminClient, broker: AccessBroker) -> None:
    admin.acls.apply_plans(admin.acls.plan_merge([broker.addr], WHO, [DEFAULT, GROUPS]))
    [done] = admin.acls.apply_plans(admin.acls.plan_delete([broker.addr], WHO))
    assert (done.result and done.result.entries_after, broker.asked_codes().count(3008)) == ((), 1)
    [none] = admin.acls.plan_delete([broker.addr], WHO)
    assert str(none.error) == f"{WHO} has no ACL entry"
    # Where there was nothing an ACL is made.
    admin.acls.apply_plans(admin.acls.plan_merge([broker.addr], WHO, [GROUPS]))
    assert 3006 in broker.asked_codes()


def test_a_resource_that_is_not_there_is_not_found(admin: AdminClient, broker: AccessBroker) -> None:
    [plan] = admin.acls.plan_delete([broker.addr], WHO, ["Topic:orders", "Topic:x"])
    assert isinstance(plan.error, NotFound)
    assert str(plan.error) == f"{WHO} has no ACL entry for Topic:x"


def test_a_broker_that_shows_something_else_has_ignored_it(admin: AdminClient, broker: AccessBroker) -> None:
    broker.handlers[3007] = build_reply
    [outcome] = admin.acls.apply_plans(admin.acls.plan_merge([broker.addr], WHO, [GROUPS]))
    assert isinstance(outcome.error, NotApplied)


def test_a_refusal_of_one_of_several_requests_is_told(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.acls.plan_merge([broker.addr], WHO, [GROUPS])
    both = [plan.then(lambda change: change._replace(entries_after=(GROUPS,))) for plan in plans]
    broker.handlers[3008] = refuse_with(16, "The acl is not exist.")
    [outcome] = admin.acls.apply_plans(both)
    assert str(outcome.error) == "NO_PERMISSION (16): The acl is not exist."
    # Nothing went out behind the refusal.
    assert [code for code in broker.asked_codes() if code != 3009] == [3008]


def test_who_has_taken_his_own_right_cannot_look(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.acls.plan_delete([broker.addr], WHO)
    broker.handlers[3009] = refuse_with(16, "User:operator-1 has no permission to access Cluster:C")
    assert admin.acls.apply_plans(plans) == plans
