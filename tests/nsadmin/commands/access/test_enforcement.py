"""What is said about brokers that do not check users or ACLs."""

from collections.abc import Iterator
from functools import partial

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from nsadmin.operations.security.rules import CREDENTIALS_FIRST
from tests.nsadmin.conftest import Run
from tests.support.access_brokers import AccessBroker
from tests.support.plain_acl_brokers import PlainAclBroker

ACL = ("createAcl", "operator-1", "-r", "Topic:t", "-a", "Pub", "-d", "Allow")
USER = ("updateUser", "operator-1", "-s", "disable")
USERS_EFFECT = "where clients need no password"
ACLS_EFFECT = "where everyone may do everything"


@pytest.fixture
def master() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.mark.parametrize(
    ("config", "command", "lack"),
    [
        ("", USER, "authenticationEnabled=true"),
        ("", ACL, "authenticationEnabled=true and authorizationEnabled=true"),
        ("authenticationEnabled=true", USER, None),
        ("authenticationEnabled=true", ACL, "authorizationEnabled=true"),
        ("authenticationEnabled=TRUE\nauthorizationEnabled=true", ACL, None),
    ],
)
def test_a_broker_that_checks_nothing_is_named(
    run: Run, master: AccessBroker, config: str, command: tuple[str, ...], lack: str | None
) -> None:
    master.handlers[RequestCode.GET_BROKER_CONFIG] = partial(build_reply, body=config.encode())
    result = run(*command, "-b", master.addr, "--dry-run")
    things, effect = ("users", USERS_EFFECT) if command is USER else ("ACLs", ACLS_EFFECT)
    setting = f"{CREDENTIALS_FIRST} set {lack} in broker.conf, and restart the broker"
    remark = f"nsadmin: {things} have no effect on {master.addr}, {effect}: {setting}\n"
    reason = "it may do everything, because brokers check no ACL for it"
    bypass = f"nsadmin: User:operator-1 is Super on {master.addr}: {reason}\n"
    remarks = (remark if lack else "") + (bypass if command is ACL else "")
    assert (result.code, result.err) == (0, remarks)


def test_nothing_is_said_about_a_broker_that_does_not_tell_its_settings_or_has_no_users(
    run: Run, master: AccessBroker
) -> None:
    assert run(*USER, "-b", master.addr, "--dry-run").err == ""
    master.handlers[RequestCode.GET_BROKER_CONFIG] = partial(build_reply, body=b"brokerName=a")
    assert "have no effect" not in run("updateUser", "nobody", *USER[2:], "-b", master.addr).err


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        (("listUser",), f"users have no effect on {{}}, {USERS_EFFECT}"),
        (("getUser", "operator-1"), f"users have no effect on {{}}, {USERS_EFFECT}"),
        (("listAcl",), f"ACLs have no effect on {{}}, {ACLS_EFFECT}"),
        (("listAcl", "--for", "Topic:payments"), f"ACLs have no effect on {{}}, {ACLS_EFFECT}"),
        (("getAcl", "operator-1"), f"ACLs have no effect on {{}}, {ACLS_EFFECT}"),
    ],
)
def test_a_command_that_shows_users_or_acls_names_a_broker_that_does_not_check_them(
    run: Run, master: AccessBroker, command: tuple[str, ...], warning: str
) -> None:
    master.handlers[RequestCode.GET_BROKER_CONFIG] = partial(build_reply, body=b"")
    assert warning.format(master.addr) in run(*command, "-b", master.addr).err
    checked = b"authenticationEnabled=true\nauthorizationEnabled=true"
    master.handlers[RequestCode.GET_BROKER_CONFIG] = partial(build_reply, body=checked)
    assert "no effect" not in run(*command, "-b", master.addr).err


@pytest.mark.parametrize(
    ("command", "things"), [(("listUser",), "users"), (("listAcl",), "ACLs"), (("getAcl", "shop"), "ACLs")]
)
def test_a_broker_of_4_leads_to_its_accounts(run: Run, command: tuple[str, ...], things: str) -> None:
    with PlainAclBroker() as old:
        result = run(*command, "-b", old.addr)
    remark = f"{old.addr}: brokers of 4.x have accounts instead of {things}; to see them, run "
    assert f"nsadmin: {remark}nsadmin getAclConfig\n" in result.err
    assert "Super users of" not in result.err
