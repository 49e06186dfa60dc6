"""Users and ACLs of real brokers: two 5.5.0 masters that check both, and the accounts of a 4.9.7 one, beside
mqadmin that asks the same.
"""

import json
import subprocess
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.bundled import Subjects, find_differences, list_reading_lines
from tests.interop.cluster import wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import (
    QUICK_START,
    WITHOUT_TIMER,
    JavaBroker,
    MqAdmin,
    acl_config,
    client_jvm,
    write_plain_acl,
)
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import ON_OLD_BROKERS, split_example

USER, SECRET = "operator-1", "a secret of ours"
SMALL = (*QUICK_START, "-Xss256k")


def environment(home: Path, user: str, secret: str) -> dict[str, str]:
    return {
        "NSADMIN_CONFIG": str(home / "config.yaml"),
        "NSADMIN_AUDIT": str(home / "audit.jsonl"),
        "ROCKETMQ_HOME": "",
        "NSADMIN_ACCESS_KEY": user,
        "NSADMIN_SECRET_KEY": secret,
    }


def own_tools(home: Path) -> None:
    """mqadmin's credentials."""
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "tools.yml").write_text(json.dumps({"accessKey": USER, "secretKey": SECRET}))


class Access(NamedTuple):
    """Two brokers, whom they know, and where they are registered."""

    server: OurNameServer
    a: JavaBroker
    b: JavaBroker
    mqadmin: MqAdmin
    home: Path

    def __call__(
        self, *args: str, user: str = USER, secret: str = SECRET, typed: str | None = None
    ) -> CommandResult:
        return command_line.nsadmin(
            self.server.address, *args, env=environment(self.home, user, secret), typed=typed
        )

    def table(self, *args: str) -> list[list[str]]:
        """What mqadmin prints below its head, as words."""
        lines = [line.split() for line in self.mqadmin(*args).splitlines()]
        return [words for words in lines if words and not words[0].startswith("#")]

    def acl(self, broker: JavaBroker, subject: str) -> list[tuple[str, str, str, str]]:
        """mqadmin's word on an ACL: type of policy, resource, actions, decision."""
        return [
            (
                words[1],
                words[2],
                "".join(words[3 : words.index("null") if "null" in words else -2]),
                words[-1],
            )
            for words in self.table("getAcl", "-b", broker.address, "-s", subject)
        ]


@pytest.fixture(scope="module")
def access(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    home = tmp_path_factory.mktemp("access")
    config = {**WITHOUT_TIMER, **acl_config(USER, SECRET)}
    with OurNameServer(home / "ours") as ours, ExitStack() as ends, ThreadPoolExecutor() as pool:
        a = JavaBroker(home / "a", [ours.address], "broker-a", config=config, jvm_flags=SMALL)
        b = JavaBroker(home / "b", [ours.address], "broker-b", config=config, jvm_flags=SMALL)
        mqadmin = MqAdmin(home / "mqadmin", [ours.address])
        own_tools(home / "mqadmin")
        for part in pool.map(lambda part: part.__enter__(), (a, b, mqadmin)):
            ends.push(part)
        for broker in (a, b):
            wait_for_broker([ours], broker.name)
        there = Access(ours, a, b, mqadmin, home)
        wait_for("brokers that answer", lambda: there("listUser", "-c", "DefaultCluster").code == 0)
        yield there


def results(result: CommandResult) -> list[tuple[str | None, str]]:
    return [(row["brokerName"] or row["brokerAddr"], row["result"]) for row in result.rows]


def test_a_user_from_making_to_deletion(access: Access) -> None:
    a, b, everywhere = access.a.address, access.b.address, ("-c", "DefaultCluster")
    planned = access("createUser", "shop", *everywhere, "--passwordStdin", "--dry-run", typed="one\n")
    assert results(planned) == [("broker-a", "dry-run"), ("broker-b", "dry-run")]
    assert access("getUser", "shop", *everywhere).code == 5
    access.mqadmin("createUser", "-b", a, "-u", "shop", "-p", "theirs", "-t", "Normal")

    # mqadmin stops at the broker that has him; here the other one is told.
    created = access("createUser", "shop", *everywhere, "--passwordStdin", "--yes", typed="ours\n")
    assert (created.code, results(created)) == (3, [("broker-a", "failed"), ("broker-b", "done")])
    listed_users = access("listUser", *everywhere)
    assert "user shop: the password differs between broker-a and broker-b" in listed_users.err
    assert "ours" not in str(listed_users.rows) + str(created)
    for name, broker in (("broker-a", access.a), ("broker-b", access.b)):
        own = [row for row in listed_users.rows if name in row["brokers"]]
        theirs = access.table("listUser", "-b", broker.address)
        assert [[row["username"], row["userType"], row["userStatus"]] for row in own] == [
            [words[0], *words[-2:]] for words in theirs
        ]

    changed = access(
        "updateUser", "shop", "-t", "Super", "-s", "disable", "--passwordStdin", "-b", a, typed="x\n"
    )
    assert [row["changes"] for row in changed.rows] == [
        "userType Normal -> Super, userStatus enable -> disable, new password"
    ]
    assert access.table("getUser", "-b", a, "-u", "shop") == [["shop", "x", "Super", "disable"]]

    copied = access("copyUser", a, b, "-u", "shop,nobody", "--yes")
    assert [(row["username"], row["result"]) for row in copied.rows] == [
        ("shop", "done"),
        ("nobody", "not found"),
    ]
    assert access.table("getUser", "-b", b, "-u", "shop") == [["shop", "x", "Super", "disable"]]
    gone = access("deleteUser", "shop", *everywhere, "--yes")
    assert (gone.code, results(gone)) == (0, [("broker-a", "done"), ("broker-b", "done")])
    assert access("deleteUser", "shop", *everywhere, "--yes").code == 5


def test_an_acl_from_making_to_deletion(access: Access) -> None:
    a, b, everywhere = access.a.address, access.b.address, ("-c", "DefaultCluster")
    access("createUser", "reader", *everywhere, "--passwordStdin", "--yes", typed="p\n")
    create = ("createAcl", "reader", "-r", "Topic:orders,Group:g*", "-a", "Pub,Sub", "-d", "Allow")
    planned = access(*create, *everywhere, "--dry-run")
    created = access(*create, *everywhere, "--yes")
    assert (created.code, results(created)) == (0, [("broker-a", "done"), ("broker-b", "done")])
    # What the dry run foretold is what the broker shows.
    assert [row["after"] for row in planned.rows] == [row["after"] for row in created.rows]
    assert access.acl(access.a, "User:reader") == [
        ("Custom", "Topic:orders", "[Pub,Sub]", "Allow"),
        ("Custom", "Group:g*", "[Pub,Sub]", "Allow"),
    ]
    update = ("updateAcl", "reader", "-r", "Topic:orders,Topic:new", "-a", "All", "-d", "Deny", "-b", a)
    planned, updated = access(*update, "--dry-run"), access(*update)
    assert updated.rows[0]["after"] == planned.rows[0]["after"]
    assert access.acl(access.a, "User:reader") == [
        ("Custom", "Topic:orders", "[All]", "Deny"),
        ("Custom", "Group:g*", "[Pub,Sub]", "Allow"),
        ("Custom", "Topic:new", "[All]", "Deny"),
    ]
    copied = access("copyAcl", a, b, "-s", "reader", "--yes")
    assert [row["changes"] for row in copied.rows] == [
        "Topic:orders Allow Pub,Sub -> Deny All; new: Topic:new Deny All"
    ]
    assert access.acl(access.b, "User:reader") == access.acl(access.a, "User:reader")
    listed = access("listAcl", *everywhere, "-s", "reader", "-r", "Topic:new")
    assert [(row["brokers"], row["resource"]) for row in listed.rows] == [
        (["broker-a", "broker-b"], "Topic:new")
    ]

    # mqadmin says success for several resources and deletes none of them.
    mqadmin_output = access.mqadmin("deleteAcl", "-b", a, "-s", "User:reader", "-r", "Topic:orders,Topic:new")
    assert "success" in mqadmin_output
    assert len(access.acl(access.a, "User:reader")) == 3
    gone = access("deleteAcl", "reader", "-r", "Topic:orders,Topic:new", "-b", a, "--yes")
    assert [entry["resource"] for entry in gone.rows[0]["after"]] == ["Group:g*"]
    assert [words[1] for words in access.acl(access.a, "User:reader")] == ["Group:g*"]
    gone = access("deleteAcl", "reader", *everywhere, "--yes")
    assert (gone.code, access.acl(access.b, "User:reader")) == (0, [])
    missing = access("getAcl", "reader", *everywhere)
    assert (missing.code, missing.rows) == (5, [])


def test_what_it_is_for_a_user_may_what_his_acl_says(access: Access) -> None:
    everywhere = ("-c", "DefaultCluster")
    access("createUser", "clerk", *everywhere, "--passwordStdin", "--yes", typed="of a clerk\n")
    clerk = {"user": "clerk", "secret": "of a clerk"}
    topic = ("updateTopic", "Clerks", "-b", access.a.address, "--yes")
    refused = access(*topic, **clerk)
    assert "no permission to access Topic:Clerks" in refused.rows[0]["error"]
    access(
        "createAcl", "clerk", "-r", "Topic:Clerks,Cluster:*", "-a", "All", "-d", "Allow", *everywhere, "--yes"
    )
    wait_for("the right", lambda: access(*topic, **clerk).code == 0)
    access("updateUser", "clerk", "-s", "disable", *everywhere, "--yes")
    wait_for("the end of it", lambda: access(*topic, **clerk).code != 0)


def test_get_and_list_let_an_operator_read_and_refuse_most_changes(access: Access) -> None:
    """The table of docs/how-to/manage-users-and-acls.md."""
    everywhere, a = ("-c", "DefaultCluster"), access.a.address
    access("updateTopic", "Watched", "-b", a, "--yes")
    access("createUser", "watch", *everywhere, "--passwordStdin", "--yes", typed="of a watch\n")
    access(
        "createAcl", "watch", "-r", "Topic:*,Group:*", "-a", "Get,List", "-d", "Allow", *everywhere, "--yes"
    )
    watch = {"user": "watch", "secret": "of a watch"}
    wait_for("the right", lambda: access("topicStatus", "Watched", **watch).code == 0)
    for words in (["clusterList"], ["getBrokerConfig", "-b", a], ["consumerProgress"], ["topicList"]):
        assert access(*words, **watch).code == 0, words
    for words in (
        ["consume", "Watched"],
        ["listUser", *everywhere],
        ["updateTopic", "Watched", "-b", a, "-w", "2", "--yes"],
        ["deleteTopic", "Watched", *everywhere, "--yes"],
        ["createUser", "second", *everywhere, "-p", "secret", "--passwordVisible", "--yes"],
    ):
        result = access(*words, **watch)
        assert (result.code, "no permission" in f"{result.err}{result.rows}") == (1, True), words
    # The broker asks for no permission.
    assert access("updateSubGroup", "Watchers", "-b", a, "--yes", **watch).code == 0


def test_who_changes_his_own_password_is_told_that_it_is_done(access: Access) -> None:
    access("createUser", "chief", "-t", "Super", "-b", access.b.address, "--passwordStdin", typed="old\n")
    granting = ("createAcl", "chief", "-r", "Topic:t", "-a", "Sub", "-d", "Allow", "-b", access.b.address)
    assert f"User:chief is Super on {access.b.address}" in access(*granting, "--dry-run").err
    chief = {"user": "chief", "secret": "old"}
    changed = access("updateUser", "chief", "-b", access.b.address, "--passwordStdin", typed="new\n", **chief)
    assert (changed.code, changed.rows[0]["changes"], changed.rows[0]["result"]) == (
        0,
        "new password",
        "done",
    )
    assert access("getUser", "chief", "-b", access.b.address, user="chief", secret="new").code == 0


def test_no_secret_is_kept_or_said(access: Access) -> None:
    result = access(
        "--debug",
        "createUser",
        "seen",
        "-p",
        "in clear",
        "--passwordVisible",
        "-b",
        access.a.address,
        "--yes",
    )
    assert (result.code, "in clear" in result.err) == (0, False)
    assert "in clear" not in (access.home / "audit.jsonl").read_text()


class Old(NamedTuple):
    """A broker of 4.9.7 with a file of accounts."""

    server: OurNameServer
    broker: JavaBroker
    mqadmin: MqAdmin
    home: Path

    def __call__(self, *args: str, typed: str | None = None) -> CommandResult:
        env = environment(self.home, USER, SECRET)
        return command_line.nsadmin(
            self.server.address, *args, "-b", self.broker.address, env=env, typed=typed
        )

    def account(self, access_key: str) -> dict[str, str]:
        """mqadmin's word on an account."""
        mqadmin_output = self.mqadmin("getAclConfig", "-b", self.broker.address)
        for part in mqadmin_output.split("\n\n"):
            pairs = [line.partition(":")[::2] for line in part.splitlines() if " :" in line]
            account_fields = {key.strip(): value.strip() for key, value in pairs}
            if account_fields.get("accessKey") == access_key:
                return account_fields
        return {}


@pytest.fixture(scope="module")
def old(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    home = tmp_path_factory.mktemp("old-access")
    write_plain_acl(home / "old", [{"accessKey": USER, "secretKey": SECRET, "admin": True}])
    own_tools(home / "mqadmin")
    with (
        OurNameServer(home / "ours") as ours,
        JavaBroker(
            home / "old",
            [ours.address],
            "broker-old",
            version=jars.OLD,
            config={"aclEnable": "true"},
            jvm_flags=SMALL,
        ) as broker,
        MqAdmin(home / "mqadmin", [ours.address], jars.OLD) as mqadmin,
    ):
        there = Old(ours, broker, mqadmin, home)
        wait_for("the broker's answer", lambda: there("getAclConfig").code == 0)
        yield there


def test_an_account_of_4_9_from_making_to_deletion(old: Old) -> None:
    words = ("updateAclConfig", "shopkeeper", "-t", "orders=PUB|SUB,x=DENY", "-i", "SUB", "-m", "true")
    planned = old(*words, "--passwordStdin", "--dry-run", typed="12345678\n")
    created = old(*words, "--passwordStdin", "--yes", typed="12345678\n")
    assert (created.code, created.rows[0]["result"]) == (0, "done")
    assert created.rows[0]["after"] == planned.rows[0]["after"]
    theirs = old.account("shopkeeper")
    assert (theirs["secretKey"], theirs["admin"], theirs["defaultTopicPerm"]) == ("12345678", "true", "SUB")
    assert theirs["topicPerms"] == "[orders=PUB|SUB, x=DENY]"
    # mqadmin takes the admin for none, unless it is told again; here he stays one.
    changed = old("updateAclConfig", "shopkeeper", "-g", "shop=SUB", "--yes")
    assert changed.rows[0]["changes"] == "groupPerms none -> shop=SUB"
    assert old.account("shopkeeper")["admin"] == "true"
    [own] = [row for row in old("getAclConfig").rows if row["accessKey"] == "shopkeeper"]
    assert (own["admin"], own["groupPerms"], own["topicPerms"]) == (
        True,
        ["shop=SUB"],
        ["orders=PUB|SUB", "x=DENY"],
    )
    old.mqadmin("updateAclConfig", "-b", old.broker.address, "-a", "shopkeeper", "-s", "12345678")
    assert old.account("shopkeeper")["admin"] == "false"

    version = old("clusterAclConfigVersion").rows[0]
    mqadmin_output = old.mqadmin("clusterAclConfigVersion", "-b", old.broker.address)
    assert f"{version['aclFile']}  {version['counter']} " in mqadmin_output
    gone = old("deleteAclConfig", "shopkeeper", "--yes")
    assert (gone.code, old.account("shopkeeper")) == (0, {})
    assert old("deleteAclConfig", "shopkeeper", "--yes").code == 5


def test_addresses_of_4_9_that_need_no_account(old: Old) -> None:
    result = old("updateGlobalWhiteAddr", "10.10.103.*,192.168.0.*", "--yes")
    assert (result.code, result.rows[0]["changes"]) == (0, "new: 10.10.103.*,192.168.0.*")
    mqadmin_output = old.mqadmin("getAclConfig", "-b", old.broker.address)
    assert "globalWhiteRemoteAddresses: [10.10.103.*, 192.168.0.*]" in mqadmin_output


def test_the_examples_about_4_9_do_what_they_say(old: Old) -> None:
    old("updateAclConfig", "shopkeeper", "--passwordStdin", "--yes", typed="12345678\n")
    for case in ON_OLD_BROKERS:
        for example in case.examples:
            line = [word for word in split_example(example) if word not in ("-b", "127.0.0.1:10911")]
            result = old(*line)
            assert (result.code, bool(result.rows)) == (example.exit_code, True), example.command_line


def test_each_generation_says_that_it_does_not_know_the_other_s(access: Access, old: Old) -> None:
    result = old("listUser")
    assert result.code == 1
    assert "REQUEST_CODE_NOT_SUPPORTED (3)" in result.err
    result = access("getAclConfig", "-b", access.a.address)
    assert result.code == 1
    assert "REQUEST_CODE_NOT_SUPPORTED (3)" in result.err


def test_a_java_client_of_4_9_sends_and_consumes_on_5_5_with_its_transferred_account(
    access: Access, old: Old, tmp_path: Path
) -> None:
    topic, group, password = "Moved", "Moved-java", "12345678"
    perms = ("-t", f"{topic}=PUB|SUB", "-g", f"{group}=SUB", "-i", "DENY", "-u", "DENY")
    created = old(
        "updateAclConfig", "moved-client", *perms, "--passwordStdin", "--yes", typed=f"{password}\n"
    )
    assert created.code == 0, created.err
    for words_of_item in (("updateTopic", topic, "-r", "2", "-w", "2"), ("updateSubGroup", group)):
        assert access(*words_of_item, "-c", "DefaultCluster", "--yes").code == 0
    wait_for_topic([access.server], topic)
    ends = ("--from", old.server.address, "--to", access.server.address, "--all-brokers")
    moved = access("transfer", "acl", *ends, "--yes")
    done = [row for row in moved.rows if row["result"] == "done" and row["name"] == "moved-client"]
    assert {row["server"] for row in done} == {"broker-a", "broker-b"}, moved.err
    arguments = [access.server.address, topic, "20", "moved-client", password]
    client = [*client_jvm(tmp_path / "client"), *jars.program("Clients"), *arguments]
    consumed = subprocess.run(client, capture_output=True, text=True, timeout=90, check=False)
    assert consumed.stdout.splitlines()[-1:] == ["sent 20 received 20"], consumed.stdout


def test_a_bundle_has_no_secret_and_answers_as_the_brokers(access: Access, tmp_path: Path) -> None:
    access(
        "createUser", "planted", "-c", "DefaultCluster", "--passwordStdin", "--yes", typed="pl4nted-word\n"
    )
    access("updateKvConfig", "DEPLOYMENT", "dbPassword", "pl4nted-kv-word", "--yes")
    access("updateKvConfig", "DEPLOYMENT", "note", "copy of pl4nted-kv-word", "--yes")
    access("updateTopic", "bundled", "-c", "DefaultCluster", "--yes")
    access("updateSubGroup", "bundled-group", "-c", "DefaultCluster", "--yes")
    access("updateKvConfig", "PLAIN", "stage", "canary", "--yes")
    path = tmp_path / "real.nsbundle.zip"

    def make_bundle() -> Path:
        path.unlink(missing_ok=True)
        bundle_result = access("bundle", "create", str(path), "-s", "DEPLOYMENT", "-s", "PLAIN")
        assert bundle_result.code == 0, bundle_result.err
        return path

    env = environment(access.home, USER, SECRET)
    subjects = Subjects("bundled", "bundled-group", access.a.address, "PLAIN", "stage")
    lines = list_reading_lines(subjects)
    assert find_differences(lines, access.server.address, make_bundle, env) == []
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (SECRET, "pl4nted-word", "pl4nted-kv-word", "Signature"):
        assert secret.encode() not in content
    assert b"bundled-group" in content


def test_a_bundle_of_4_9_answers_as_its_broker(old: Old, tmp_path: Path) -> None:
    env = environment(old.home, USER, SECRET)

    def run(*args: str) -> CommandResult:
        return command_line.nsadmin(old.server.address, *args, env=env)

    for line in (
        ("updateTopic", "bundled", "-c", "DefaultCluster", "--yes"),
        ("updateSubGroup", "bundled-group", "-c", "DefaultCluster", "--yes"),
        ("updateKvConfig", "PLAIN", "stage", "canary", "--yes"),
    ):
        assert run(*line).code == 0, line

    def make_bundle() -> Path:
        path = tmp_path / "old.nsbundle.zip"
        path.unlink(missing_ok=True)
        bundle_result = run("bundle", "create", str(path), "-s", "PLAIN")
        assert bundle_result.code == 0, bundle_result.err
        return path

    subjects = Subjects("bundled", "bundled-group", old.broker.address, "PLAIN", "stage")
    lines = list_reading_lines(subjects)
    assert find_differences(lines, old.server.address, make_bundle, env) == []


def test_a_broker_without_a_timer_wheel_fails_after_it_deleted_a_topic(access: Access) -> None:
    assert access("updateTopic", "Wheel", "-c", "DefaultCluster", "--yes").code == 0
    deleted = access("deleteTopic", "Wheel", "-c", "DefaultCluster", "--yes")
    assert (deleted.code, {row["result"] for row in deleted.rows}) == (0, {"done"}), [
        row["error"] for row in deleted.rows
    ]
