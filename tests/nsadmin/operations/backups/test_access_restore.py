"""Accounts of 4.x brokers in a restore. Users and ACLs are tested with the restore of a cluster."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.operations.backups.access_restore import AccessRestore
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from tests.support.access_brokers import AccessBroker
from tests.support.cluster_backups import BROKER
from tests.support.fake_servers import FakeNameServer, Server
from tests.support.plain_acl_brokers import PlainAclBroker

BACKUP = BROKER._replace(
    accounts=[
        PlainAccount("ci", "12345678", False, None, "DENY", "SUB", ("orders=PUB|SUB",), None),
        PlainAccount("operator-1", None, True),
    ],
    white_addrs=["10.1.*.*"],
)


@pytest.fixture
def admin(first_server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


def restore(admin: AdminClient, broker: Server, *, dry: bool = False) -> list[RestoreOutcome]:
    return list(AccessRestore(admin, is_dry_run=dry).restore_accounts(broker.addr, BACKUP))


def test_accounts_and_trusted_addresses_come_back_once(admin: AdminClient) -> None:
    with PlainAclBroker() as broker:
        broker.white = ["10.2.*.*"]
        assert [outcome.result for outcome in restore(admin, broker, dry=True)] == [
            "dry-run", "unchanged", "dry-run",
        ]  # fmt: skip
        assert (broker.counter, broker.white) == (0, ["10.2.*.*"])
        assert [(outcome.item_name, outcome.result) for outcome in restore(admin, broker)] == [
            ("ci", "done"), ("operator-1", "unchanged"), ("globalWhiteAddrs", "done"),
        ]  # fmt: skip
        assert broker.accounts["ci"]["secretKey"] == "12345678"
        assert broker.accounts["ci"]["topicPerms"] == ["orders=PUB|SUB"]
        assert broker.white == ["10.2.*.*", "10.1.*.*"]
        assert {outcome.result for outcome in restore(admin, broker)} == {"unchanged"}


def test_a_new_account_without_its_secret_key_is_a_failure(admin: AdminClient) -> None:
    with PlainAclBroker() as broker:
        broker.accounts.clear()
        [_, outcome, _] = restore(admin, broker)
    assert outcome.result == "failed"
    assert str(outcome.error).startswith(
        "its secret key is unknown: pass --passphrase-file with a backup made with"
    )


def test_a_broker_without_accounts_names_the_command_that_translates_them(admin: AdminClient) -> None:
    with Server() as broker:
        outcomes = restore(admin, broker)
    assert {outcome.result for outcome in outcomes} == {"failed"}
    assert "`nsadmin transfer acl --help` shows how to turn accounts into users" in str(outcomes[0].error)


def test_a_dry_run_shows_the_acl_of_a_user_that_does_not_exist_yet(admin: AdminClient) -> None:
    with AccessBroker() as broker:
        restore_run = AccessRestore(admin, is_dry_run=True)
        users = list(restore_run.restore_users(broker.addr, BROKER))
        acls = list(restore_run.restore_acls(broker.addr, BROKER))
        assert [outcome.result for outcome in (*users, *acls)] == ["dry-run", "dry-run"]
        without_user = list(restore_run.restore_acls(broker.addr, BROKER._replace(users=[])))
        assert [outcome.result for outcome in without_user] == ["failed"]
        restore_run = AccessRestore(admin, is_dry_run=False)
        assert [outcome.result for outcome in restore_run.restore_users(broker.addr, BROKER)] == ["done"]
        assert [outcome.result for outcome in restore_run.restore_acls(broker.addr, BROKER)] == ["done"]
        assert [outcome.result for outcome in restore_run.restore_acls(broker.addr, BROKER)] == ["unchanged"]
        [(subject, [entry])] = BROKER.acls.items()
        denied = BROKER._replace(acls={subject: (entry._replace(decision="Deny"),)})
        keeping = AccessRestore(admin, is_dry_run=False, only_missing=True)
        assert [outcome.result for outcome in keeping.restore_acls(broker.addr, denied)] == ["kept"]
        [outcome] = restore_run.restore_acls(broker.addr, denied)
        assert (outcome.result, outcome.before[entry.resource]["decision"]) == ("done", "Allow")
