"""Users and ACL entries: which brokers are asked for them."""

import pytest

from namesrv_core.errors import NotSupported
from nsadmin import AdminClient
from nsadmin.operations import access_tables
from tests.support.fake_servers import FakeBroker
from tests.support.replica_brokers import serve_tables

LIST_USER, LIST_ACL, LIST_ACCOUNTS = 3005, 3010, 54
OFF = "authenticationEnabled=false\n"
BOTH = "authenticationMetadataProvider=x\nauthorizationMetadataProvider=x"


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        (OFF, set()),
        (BOTH, {LIST_USER, LIST_ACL}),
        (f"{OFF}authenticationMetadataProvider=\nauthorizationMetadataProvider=x", {LIST_ACL}),
        ("authenticationEnabled=true\nauthenticationMetadataProvider=x", {LIST_USER}),
        ("brokerName=broker-a", set()),
        ("aclEnable=false", set()),
        ("aclEnable=true", {LIST_ACCOUNTS}),
    ],
)
def test_a_broker_that_keeps_none_is_not_asked(broker: FakeBroker, settings: str, asked: set[int]) -> None:
    """Its answer would be a stack trace in its log."""
    serve_tables(broker, {}, settings)
    with AdminClient(timeout=5) as admin:
        [users] = access_tables.list_users(admin, [broker.addr])
        [entries] = access_tables.list_acl_entries(admin, [broker.addr])
        access_tables.list_accounts(admin, [broker.addr])
    assert {LIST_USER, LIST_ACL, LIST_ACCOUNTS}.intersection(broker.asked_codes()) == asked
    assert isinstance(users.error, NotSupported) or LIST_USER in asked
    assert isinstance(entries.error, NotSupported) or LIST_ACL in asked
