"""Accounts of 4.x brokers: looked at, planned, changed and looked at again."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.access.plain_acls import AccountChange, AclFile, PlainAccount
from tests.support.fake_servers import refuse_with
from tests.support.plain_acl_brokers import PlainAclBroker

OPERATOR = PlainAccount("operator-1", "12345678", True)


@pytest.fixture
def broker() -> Iterator[PlainAclBroker]:
    with PlainAclBroker() as running:
        yield running


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as client:
        yield client


def test_accounts_and_files_are_read(admin: AdminClient, broker: PlainAclBroker) -> None:
    assert admin.plain_acls.list_accounts([broker.addr]) == [(broker.addr, ((), (OPERATOR,)), None)]
    assert admin.plain_acls.list_files([broker.addr])[0].result == (
        AclFile("/conf/plain_acl.yml", 0, 1_767_182_400_000),
    )
    assert "12345678" not in repr(AccountChange(OPERATOR, None))


def test_an_older_broker_tells_a_version_and_no_path(admin: AdminClient, broker: PlainAclBroker) -> None:
    broker.handlers[52] = lambda asked: build_reply(asked, ext={"version": '{"counter":3,"timestamp":5}'})
    assert admin.plain_acls.list_files([broker.addr])[0].result == (AclFile("", 3, 5),)


def test_what_is_not_named_is_sent_as_it_is(admin: AdminClient, broker: PlainAclBroker) -> None:
    plans = admin.plain_acls.plan_update(
        [broker.addr], PlainAccount("operator-1", topic_perms=("a=SUB", "b=DENY"))
    )
    [done] = admin.plain_acls.apply_plans(plans)
    assert done.result == AccountChange(OPERATOR, OPERATOR._replace(topic_perms=("a=SUB", "b=DENY")))
    assert broker.accounts["operator-1"]["admin"] is True
    again = admin.plain_acls.plan_update([broker.addr], PlainAccount("operator-1", is_admin=True))
    assert admin.plain_acls.apply_plans(again) == again
    assert broker.counter == 1


def test_a_new_account_needs_a_secret_key(admin: AdminClient, broker: PlainAclBroker) -> None:
    [plan] = admin.plain_acls.plan_update([broker.addr], PlainAccount("shopkeeper", is_admin=False))
    assert isinstance(plan.error, NotFound)
    plans = admin.plain_acls.plan_update([broker.addr], PlainAccount("shopkeeper", "abcdefgh"))
    [done] = admin.plain_acls.apply_plans(plans)
    assert done.result == AccountChange(None, PlainAccount("shopkeeper", "abcdefgh", False))


def test_a_refusal_that_quotes_the_secret_key_does_not(admin: AdminClient, broker: PlainAclBroker) -> None:
    [outcome] = admin.plain_acls.apply_plans(
        admin.plain_acls.plan_update([broker.addr], PlainAccount("shopkeeper", "hush"))
    )
    assert "secretKey=*** cannot be null" in str(outcome.error)
    broker.handlers[50] = refuse_with(209, "no")
    [outcome] = admin.plain_acls.apply_plans(
        admin.plain_acls.plan_update([broker.addr], PlainAccount("shopkeeper", "hush"))
    )
    assert str(outcome.error) == "POLLING_FULL (209): no"


def test_an_account_is_deleted(admin: AdminClient, broker: PlainAclBroker) -> None:
    [done] = admin.plain_acls.apply_plans(admin.plain_acls.plan_delete([broker.addr], "operator-1"))
    assert done.result == AccountChange(OPERATOR, None)
    [plan] = admin.plain_acls.plan_delete([broker.addr], "operator-1")
    assert isinstance(plan.error, NotFound)


def test_a_broker_that_shows_something_else_has_ignored_it(
    admin: AdminClient, broker: PlainAclBroker
) -> None:
    broker.handlers[51] = build_reply
    [outcome] = admin.plain_acls.apply_plans(admin.plain_acls.plan_delete([broker.addr], "operator-1"))
    assert isinstance(outcome.error, NotApplied)
    broker.handlers[53] = build_reply
    [white] = admin.plain_acls.set_white_addrs([broker.addr], ["10.0.0.*"])
    assert str(white.error) == (
        f"{broker.addr} reported success, but 10.0.0.* is missing from the addresses: it ignored the change, "
        f"or somebody changed it again; see `nsadmin getAclConfig -b {broker.addr}`, then run the command "
        "again"
    )


def test_who_has_changed_his_own_key_cannot_look(admin: AdminClient, broker: PlainAclBroker) -> None:
    plans = admin.plain_acls.plan_update([broker.addr], PlainAccount("operator-1", "abcdefgh"))
    broker.handlers[54] = refuse_with(
        1, "org.apache.rocketmq.acl.common.AclException: Check signature failed"
    )
    assert admin.plain_acls.apply_plans(plans) == plans


def test_addresses_are_replaced(admin: AdminClient, broker: PlainAclBroker) -> None:
    with PlainAclBroker() as other:
        other.handlers[53] = refuse_with(1, "no")
        done = admin.plain_acls.set_white_addrs(
            [broker.addr, other.addr], ["10.0.0.*", "10.1.*.*"], "/conf/a.yml"
        )
    assert (done[0].result, done[1].result) == (("10.0.0.*", "10.1.*.*"), None)
    assert (broker.asked[0].ext or {})["aclFileFullPath"] == "/conf/a.yml"
