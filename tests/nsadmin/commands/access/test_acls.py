"""listAcl, getAcl, createAcl, updateAcl, copyAcl and deleteAcl."""

import json
from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.access_brokers import AccessBroker
from tests.support.fake_servers import FakeNameServer, refuse_with


@pytest.fixture
def master() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.fixture
def slave() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        running.users.create_user({"username": "shop"}, b'{"password":"p"}')
        yield running


@pytest.fixture
def cluster(master: AccessBroker, slave: AccessBroker) -> Iterator[tuple[str, ...]]:
    with FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as running:
        yield ("-c", "C", "-n", running.addr)


def test_a_row_for_each_resource_with_its_brokers(run: Run, cluster: tuple[str, ...]) -> None:
    for words in (("listAcl",), ("getAcl", "operator-1"), ("getAcl", "-s", "user:operator-1")):
        result = run(*words, *cluster, "--json")
        assert (result.code, "it may do everything" in result.err) == (0, words[0] == "getAcl")
        first, *others = json.loads(result.out)
        assert first == {
            "subject": "User:operator-1",
            "userType": "Super",
            "userStatus": "enable",
            "policyType": "Custom",
            "resource": "Topic:orders",
            "actions": ["All"],
            "sourceIps": [],
            "decision": "Allow",
            "brokers": ["broker-a", "broker-a:1"],
        }
        # Only the slave has this user, who has no ACL.
        idle = [(row["subject"], row["userType"], row["resource"], row["brokers"]) for row in others]
        listed = [("User:shop", "Normal", None, ["broker-a:1"])]
        assert idle == (listed if words[0] == "listAcl" else [])
    assert json.loads(run("listAcl", *cluster, "-r", "Group", "--json").out) == []


def test_who_may_use_a_topic(run: Run, master: AccessBroker) -> None:
    where = ("-b", master.addr, "--json")
    for name, resource in (
        ("pay", "Topic:*"),
        ("ord", "Topic:ord*"),
        ("all", "*"),
        ("old", "Topic:orders-old"),
    ):
        master.users.create_user({"username": name}, b'{"password":"p"}')
        assert run("createAcl", name, "-r", resource, "-a", "Pub", "-d", "Allow", *where, "--yes").code == 0
    master.users.create_user({"username": "boss"}, b'{"password":"p","userType":"Super"}')
    result = run("listAcl", "--for", "topic:orders", *where)
    found = [row["subject"] for row in json.loads(result.out)]
    assert found == ["User:all", "User:operator-1", "User:ord", "User:pay"]
    assert result.err == "nsadmin: Super users may do everything: boss, operator-1\n"
    master.users.create_user({"username": "idle"}, b'{"password":"p"}')
    for words, is_listed in (
        ((), True),
        (("-s", "idl"), True),
        (("-s", "pay"), False),
        (("-r", "Topic"), False),
        (("--for", "Topic:orders"), False),
    ):
        listed = {row["subject"]: row["resource"] for row in run("listAcl", *words, *where).json}
        assert listed.get("User:idle", "not listed") == (None if is_listed else "not listed")
    assert 'invalid resource "orders" for --for: ' in run("listAcl", "--for", "orders", *where).err
    master.handlers[RequestCode.AUTH_LIST_USER] = refuse_with(1, "busy")
    silent = run("listAcl", "--for", "Topic:orders", *where)
    assert (silent.code, silent.err) == (0, f"nsadmin: the Super users of {master.addr} are unknown\n")


def test_where_brokers_have_other_entries_is_said(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, slave: AccessBroker
) -> None:
    master.users.create_user({"username": "shop"}, b'{"password":"p"}')
    create = ("createAcl", "shop", "-d", "Allow", "--yes", "-r")
    assert run(*create, "Topic:orders", "-a", "Pub,Sub", *cluster).code == 0
    assert run("listAcl", *cluster).err == "nsadmin: Super users may do everything: operator-1\n"
    assert run(*create, "Topic:orders", "-a", "Pub", "-b", slave.addr).code == 0
    assert run(*create, "Group:g", "-a", "Sub", "-b", slave.addr).code == 0
    notes = [
        "nsadmin: ACL of User:shop, Group:g: not on broker-a",
        "nsadmin: ACL of User:shop, Topic:orders: Allow Pub,Sub on broker-a, Allow Pub on broker-a:1",
    ]
    shown = run("getAcl", "shop", *cluster)
    assert (shown.code, shown.err.splitlines()) == (0, notes)
    assert run("listAcl", *cluster).err.splitlines()[1:] == notes
    assert run("listAcl", "--for", "Topic:orders", *cluster).err.splitlines()[1:] == notes[1:]
    entry = {"resource": "Topic:orders", "actions": ["Pub"], "decision": "Deny"}
    policy = {"policyType": "Default", "entries": [entry]}
    master.users.put_acl(json.dumps({"subject": "User:shop", "policies": [policy]}).encode())
    note = "nsadmin: ACL of User:shop, Topic:orders (Default): not on broker-a:1"
    assert note in run("getAcl", "shop", *cluster).err.splitlines()


def test_an_acl_that_some_brokers_lack_is_found(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, slave: AccessBroker
) -> None:
    create = ("createAcl", "shop", "-r", "Topic:orders", "-a", "Pub", "-d", "Allow", "--yes")
    assert run(*create, "-b", slave.addr, *cluster[2:]).code == 0
    shown = run("getAcl", "shop", *cluster)
    assert (shown.code, f'broker {master.addr}: no user "shop"' in shown.err) == (0, True)
    unknown = run(*create[:1], "nobody", *create[2:], *cluster)
    assert "nsadmin: create the user first: nsadmin createUser nobody -c " in unknown.err


def test_a_disabled_user_is_named_beside_its_acl(
    run: Run, cluster: tuple[str, ...], master: AccessBroker, slave: AccessBroker
) -> None:
    for broker in (master, slave):
        broker.users.create_user({"username": "auditor"}, b'{"password":"p"}')
    assert (
        run("createAcl", "auditor", "-r", "Topic:orders", "-a", "Sub", "-d", "Allow", *cluster, "--yes").code
        == 0
    )
    who = ("listAcl", "--for", "Topic:orders", *cluster)
    assert "disabled" not in run("getAcl", "auditor", *cluster).err + run(*who).err
    master.users.update_user({"username": "auditor"}, b'{"userStatus":"disable"}')
    assert (
        f"nsadmin: User:auditor is disabled on {master.addr}: it may do nothing there\n"
        in run("getAcl", "auditor", *cluster).err
    )
    assert "nsadmin: disabled users may do nothing: auditor (on 1 of 2 brokers)\n" in run(*who).err
    slave.users.update_user({"username": "auditor"}, b'{"userStatus":"disable"}')
    assert "nsadmin: disabled users may do nothing: auditor\n" in run(*who).err
    assert "nsadmin: disabled users may do nothing: auditor\n" in run("listAcl", *cluster).err


def test_who_is_not_there_and_who_may_nothing_are_not_found(run: Run, cluster: tuple[str, ...]) -> None:
    result = run("getAcl", "shop", *cluster)
    assert result.code == 5
    assert [line.partition(": ")[2].partition(": ")[2] for line in result.err.splitlines()[:2]] == [
        'no user "shop"',
        "User:shop has no ACL",
    ]
    advice = f"nsadmin: run nsadmin listUser {' '.join(cluster[:2])} to list the users"
    assert advice in result.err.splitlines()


def test_a_list_of_the_acls_of_an_unknown_user_says_that_it_is_unknown(
    run: Run, cluster: tuple[str, ...], master: AccessBroker
) -> None:
    remark = 'nsadmin: no user has "nosuch" in its name: `nsadmin listUser` lists the users\n'
    assert remark in run("listAcl", "-s", "nosuch", *cluster).err
    master.users.create_user({"username": "nosuch"}, b'{"password":"p"}')
    assert "in its name" not in run("listAcl", "-s", "User:nosuch", *cluster).err


def test_what_changes_is_told_resource_by_resource(run: Run, master: AccessBroker) -> None:
    words = ("operator-1", "-r", "topic:orders,Group:g*,*", "-a", "pub,SUB", "-d", "deny", "-b", master.addr)
    result = run("createAcl", *words, "-i", "10.0.0.0/8", "--json", "--dry-run")
    [row] = json.loads(result.out)
    assert row["changes"] == (
        "Topic:orders Allow All -> Deny Pub,Sub from 10.0.0.0/8; new: Group:g* Deny Pub,Sub from 10.0.0.0/8;"
        " new: * Deny Pub,Sub from 10.0.0.0/8"
    )
    assert (row["result"], set(master.asked_codes())) == ("dry-run", {3009, 26, 3004})
    reason = "it may do everything, because brokers check no ACL for it"
    assert result.err == f"nsadmin: User:operator-1 is Super on {master.addr}: {reason}\n"
    result = run("updateAcl", *words, "--json")
    [row] = json.loads(result.out)
    assert (row["result"], [entry["resource"] for entry in row["after"]]) == (
        "done",
        ["Topic:orders", "Group:g*", "*"],
    )
    assert json.loads(run("createAcl", *words, "--json").out)[0]["result"] == "unchanged"


def test_a_broker_without_the_user_does_not_stop_the_others(run: Run, cluster: tuple[str, ...]) -> None:
    result = run("createAcl", "shop", "-r", "Topic:t", "-a", "Pub", "-d", "Allow", *cluster, "--json")
    assert result.code == 3
    assert [row["result"] for row in json.loads(result.out)] == ["not found", "done"]


def test_a_topic_that_does_not_exist_is_said_before_the_change(run: Run, slave: AccessBroker) -> None:
    with FakeNameServer({"C": {"broker-a": {0: slave.addr}}}) as server:
        server.routes = {"orders": {"broker-a": 6}}
        words = ("createAcl", "shop", "-a", "Pub", "-d", "Allow", "-c", "C", "-n", server.addr, "--dry-run")
        hint = 'nsadmin: there is no topic "ordres": did you mean "orders"?\n'
        assert hint in run(*words, "-r", "Topic:ordres").err
        hint = 'nsadmin: there is no topic "new": to create it, run nsadmin updateTopic new -c C\n'
        assert hint in run(*words, "-r", "Topic:new").err
        for known in ("Topic:orders", "Topic:ordr*", "Cluster:ordres", "*"):
            assert "there is no" not in run(*words, "-r", known).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("Group:x", "-r", "Topic:t", "-a", "Pub", "-d", "Allow"),
            'invalid subject "Group:x": write User:NAME',
        ),
        (("User:", "-r", "Topic:t", "-a", "Pub", "-d", "Allow"), 'invalid subject "User:": write User:NAME'),
        (
            ("a", "-r", "Topic:t", "-a", "Any", "-d", "Allow"),
            'invalid value "Any" for -a: expected All, Pub, Sub, Create, Update, Delete, Get or List',
        ),
        (("a", "-r", "Topic:t", "-a", "Pub", "-d", "x"), 'invalid value "x" for -d: expected Allow or Deny'),
        (
            ("a", "-r", "Topic:t,", "-a", "Pub", "-d", "Deny"),
            'invalid list "Topic:t," for -r: write names separated by commas, such as A,B',
        ),
        *(
            (
                ("a", "-r", bad, "-a", "Pub", "-d", "Deny"),
                f'invalid resource "{bad}" for -r: write TYPE:NAME, TYPE:PREFIX* or TYPE:* with a '
                "type of Topic, Group, Cluster, Namespace, or * for all resources",
            )
            for bad in ("Foo:t", "t", "Topic:", "Topic:a*b", "Any:*")
        ),
        (
            ("a", "-r", "*", "-a", "Pub", "-d", "Deny", "-i", "10.0.0.*"),
            'invalid network "10.0.0.*" for -i: write an address, or a network such as 10.0.0.0/8',
        ),
    ],
)
def test_what_brokers_would_misunderstand_is_refused(run: Run, words: tuple[str, ...], said: str) -> None:
    result = run("createAcl", *words, "-b", "h:1")
    assert result.code == 2
    assert result.err.startswith(f"nsadmin: {said}")


def test_what_is_not_there_cannot_be_deleted(run: Run, cluster: tuple[str, ...], slave: AccessBroker) -> None:
    result = run("deleteAcl", "operator-1", "-r", "Topic:orders", "-b", slave.addr, "--yes", "--json")
    assert [(row["changes"], row["after"]) for row in json.loads(result.out)] == [
        ("removed: Topic:orders Allow All", None)
    ]
    result = run("deleteAcl", "operator-1", *cluster, "--yes", "--json")
    assert result.code == 3
    assert [row["result"] for row in json.loads(result.out)] == ["done", "not found"]
    result = run("deleteAcl", "operator-1", "-b", slave.addr, "--policyType", "x", "--yes")
    assert (result.code, result.err) == (
        2,
        'nsadmin: invalid value "x" for --policyType: expected Custom or Default\n',
    )


def test_acls_are_copied_among_those_there_are(run: Run, master: AccessBroker, slave: AccessBroker) -> None:
    acl = {"resource": "Topic:t", "actions": ["Pub"], "decision": "Allow"}
    policy = {"policyType": "Default", "entries": [acl]}
    master.users.put_acl(json.dumps({"subject": "User:operator-1", "policies": [policy]}).encode())
    result = run("copyAcl", master.addr, slave.addr, "-s", "operator-1,shop", "--json")
    assert result.code == 3
    copied, missing = json.loads(result.out)
    assert copied["changes"] == "new: Topic:t Allow Pub (Default)"
    assert missing["error"] == f"{master.addr} has no ACL of User:shop"
    # Both are outcomes of one server.
    assert result.err.startswith(f"nsadmin: failed on 1 of 2 users: {master.addr} has no ACL of User:shop\n")
    result = run("copyAcl", master.addr, slave.addr, "--dry-run", "--json")
    assert [row["result"] for row in json.loads(result.out)] == ["unchanged"]
    master.users.create_user({"username": "new"}, b'{"password":"p"}')
    master.users.put_acl(json.dumps({"subject": "User:new", "policies": [policy]}).encode())
    result = run("copyAcl", master.addr, slave.addr, "-s", "new", "--json")
    reason = f'{slave.addr} has no user "new": run nsadmin copyUser {master.addr} {slave.addr} -u new'
    assert result.json[0]["error"] == reason
    assert result.err == f"nsadmin: failed on 1 of 1 user: {reason}\n"
    slave.close()
    assert run("copyAcl", slave.addr, master.addr).code == 4
