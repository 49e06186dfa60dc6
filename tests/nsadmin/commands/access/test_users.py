"""listUser, getUser, createUser, updateUser, copyUser and deleteUser."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.access_brokers import AccessBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def master() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.fixture
def slave() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.fixture
def cluster(master: AccessBroker, slave: AccessBroker) -> Iterator[tuple[str, ...]]:
    with FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as running:
        yield ("-c", "C", "-n", running.addr)


def make(broker: AccessBroker, name: str, password: str = "p") -> None:
    broker.users.create_user({"username": name}, json.dumps({"password": password}).encode())


def test_masters_and_slaves_are_asked_and_no_password_is_shown(run: Run, cluster: tuple[str, ...]) -> None:
    result = run("listUser", *cluster, "--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == [
        {
            "username": "operator-1",
            "userType": "Super",
            "userStatus": "enable",
            "brokers": ["broker-a", "broker-a:1"],
        }
    ]
    assert "s3cret" not in run("getUser", "operator-1", *cluster, "--debug").out


def test_where_brokers_differ_is_said(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, slave: AccessBroker
) -> None:
    make(master, "shop")
    result = run("listUser", *cluster, "--json")
    assert (result.code, result.err) == (0, "nsadmin: user shop: not on broker-a:1\n")
    assert [row["brokers"] for row in result.json] == [["broker-a", "broker-a:1"], ["broker-a"]]
    assert run("listUser", "-b", slave.addr, "--json").json[0]["brokers"] == [slave.addr]
    shown = run("getUser", "shop", *cluster)
    assert (shown.code, shown.err) == (0, f'nsadmin: broker {slave.addr}: no user "shop"\n')
    slave.close()
    assert run("getUser", "shop", *cluster).code == 3


def test_where_a_user_differs_is_said(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, slave: AccessBroker
) -> None:
    make(master, "shop")
    make(slave, "shop", "q")
    rows = run("listUser", *cluster, "--json").json
    assert [(row["username"], row["brokers"]) for row in rows[1:]] == [
        ("shop", ["broker-a"]),
        ("shop", ["broker-a:1"]),
    ]
    result = run("getUser", "shop", *cluster)
    assert result.err == "nsadmin: user shop: the password differs between broker-a and broker-a:1\n"


def test_brokers_are_compared_within_their_cluster(run: Run) -> None:
    with ExitStack() as stack:
        brokers = [stack.enter_context(AccessBroker()) for _ in range(6)]
        groups = {f"broker-{'abcde'[i]}": {0: broker.addr} for i, broker in enumerate(brokers[:5])}
        names = stack.enter_context(FakeNameServer({"C": groups, "D": {"broker-x": {0: brokers[5].addr}}}))
        for broker in brokers[:5]:
            make(broker, "shop")
        brokers[1].users.update_user({"username": "shop"}, b'{"userStatus":"disable"}')
        where = ("-n", names.addr)
        difference = "userStatus disable on broker-b, enable on 4 others"
        # No broker of D has the user: that is no difference.
        assert run("listUser", *where).err == f"nsadmin: user shop in C: {difference}\n"
        assert run("listUser", "-c", "C", *where).err == f"nsadmin: user shop: {difference}\n"


def test_a_dead_broker_hides_no_other(
    run: Run, cluster: tuple[str, ...], slave: AccessBroker, master: AccessBroker
) -> None:
    slave.close()
    result = run("listUser", *cluster, "--json")
    assert (result.code, len(json.loads(result.out))) == (3, 1)
    assert (
        result.err.splitlines()[0]
        == f"nsadmin: broker {slave.addr}: connection refused, no server listens on this port"
    )
    assert run("getUser", "nobody", "-b", master.addr).code == 5


def test_where_there_is_such_a_user_the_others_are_told_all_the_same(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(master, "shop")
    monkeypatch.setattr(sys, "stdin", StringIO("a secret\n"))
    result = run("createUser", "shop", "-t", "super", *cluster, "--passwordStdin", "--json")
    assert result.code == 3
    first, second = json.loads(result.out)
    assert first["error"] == 'the user "shop" exists'
    assert result.err.count("nsadmin updateUser --help shows how to change a user that exists") == 1
    assert (second["result"], second["before"], second["after"]) == (
        "done",
        None,
        {"userType": "Super", "userStatus": "enable"},
    )
    assert "a secret" not in result.out + result.err
    assert "needs an ACL" not in result.err


def test_a_dry_run_sends_nothing(run: Run, master: AccessBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("a secret\n"))
    result = run("createUser", "shop", "-b", master.addr, "--passwordStdin", "--dry-run", "--json")
    assert (result.code, result.json[0]["result"], set(master.asked_codes())) == (0, "dry-run", {3004, 26})
    send = f"nsadmin createAcl shop -r Topic:NAME -a Pub -d Allow -b {master.addr}"
    consume = f"nsadmin createAcl shop -r Topic:NAME,Group:NAME -a Sub,Get -d Allow -b {master.addr}"
    assert f"a Normal user needs an ACL, to send to a topic: {send}\n" in result.err
    assert f"to consume a topic with a group (with Pub,Sub,Get also to send): {consume}\n" in result.err


def test_several_things_are_changed_at_once(run: Run, master: AccessBroker, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("another\n")
    file.chmod(0o600)
    words = ("updateUser", "operator-1", "-t", "Normal", "--passwordFile", str(file), "-b", master.addr)
    result = run(*words, "--json")
    assert result.code == 0
    assert json.loads(result.out)[0]["changes"] == "userType Super -> Normal, new password"
    assert json.loads(master.users.get_user({"username": "operator-1"}))["password"] == "another"
    assert json.loads(run(*words, "--json").out)[0]["result"] == "unchanged"


def test_nothing_to_change_is_a_mistake(run: Run, master: AccessBroker) -> None:
    result = run("updateUser", "operator-1", "-b", master.addr)
    assert (result.code, result.err) == (
        2,
        "nsadmin: nothing to change: pass --userType, --userStatus, --passwordPrompt or --passwordFile\n",
    )
    result = run("updateUser", "operator-1", "-s", "off", "-b", master.addr)
    assert result.err == 'nsadmin: invalid value "off" for -s: expected enable or disable\n'


def test_a_new_password_alone_is_a_change(run: Run, master: AccessBroker) -> None:
    words = ("updateUser", "operator-1", "-p", "hunter2", "--passwordVisible", "-b", master.addr)
    assert json.loads(run(*words, "--json").out)[0]["changes"] == "new password"


def test_no_password_is_in_the_audit(run: Run, master: AccessBroker, tmp_path: Path) -> None:
    words = ("createUser", "shop", "--password=hunter2", "--passwordVisible", "-b", master.addr)
    assert run(*words).code == 0
    audit = (tmp_path / "audit.jsonl").read_text()
    assert "AUTH_CREATE_USER" in audit
    assert "hunter2" not in audit


def test_who_is_there_is_deleted_and_who_is_not_is_told(
    run: Run, cluster: tuple[str, ...], master: AccessBroker
) -> None:
    make(master, "shop")
    for words in (("updateUser", "shop", "-s", "disable"), ("deleteUser", "shop", "--yes")):
        result = run(*words, *cluster, "--json")
        assert (result.code, [row["result"] for row in result.json]) == (0, ["done", "not found"])
        assert run(words[0], "nobody", *words[2:], *cluster).code == 5


def test_users_are_copied_and_missing_ones_are_named(
    run: Run, master: AccessBroker, slave: AccessBroker
) -> None:
    make(master, "shop")
    result = run("copyUser", master.addr, slave.addr, "-u", "shop,nobody,operator-1", "--json")
    assert result.code == 3
    assert [(row["username"], row["result"]) for row in json.loads(result.out)] == [
        ("shop", "done"),
        ("nobody", "not found"),
        ("operator-1", "unchanged"),
    ]
    make(master, "other")
    result = run("copyUser", "-f", master.addr, "-t", slave.addr, "--dry-run", "--json")
    assert [(row["username"], row["result"]) for row in json.loads(result.out)] == [
        ("operator-1", "unchanged"),
        ("other", "dry-run"),
        ("shop", "unchanged"),
    ]
    assert slave.users.get_user({"username": "other"}) == b""
    slave.close()
    assert run("copyUser", slave.addr, master.addr).code == 4


def test_an_unknown_type_is_refused_before_anything_is_asked(run: Run) -> None:
    result = run("createUser", "shop", "-t", "Odd", "-b", "h:1", "--passwordStdin")
    assert (result.code, result.err) == (2, 'nsadmin: invalid value "Odd" for -t: expected Super or Normal\n')
