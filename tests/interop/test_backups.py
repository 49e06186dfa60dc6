"""Backups of real brokers: a store configuration that was lost, and a move to another release."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line, jars, lite, wire
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, acl_config
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import examples

pytestmark = pytest.mark.interop

GROUP = "warehouse"
COMMITTED = 3
LITE_GROUP = "chat-readers"


class Cluster(NamedTuple):
    """A 5.5.0 broker of cluster-a, and a 4.9.7 broker of cluster-b.

    `server` knows both, and each of the others knows one of them.
    """

    server: OurNameServer
    new_server: OurNameServer
    old_server: OurNameServer
    broker: JavaBroker
    old_broker: JavaBroker

    def run(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def count_brokers(self) -> int:
        return len(self.run("clusterList").rows)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("backups")
    with ExitStack() as parts:
        server, new_server, old_server = (
            parts.enter_context(OurNameServer(home / name))
            for name in ("namesrv", "new-namesrv", "old-namesrv")
        )
        broker = JavaBroker(
            home / "broker",
            [server.address, new_server.address],
            cluster="cluster-a",
            # The broker keeps users and ACLs, and asks for none.
            config=lite.CONFIG
            | {name: value for name, value in acl_config("any", "any").items() if name.endswith("Provider")},
        )
        acl_file = home / "old" / "conf" / "plain_acl.yml"
        acl_file.parent.mkdir(parents=True)
        # This host needs no account, so that the other tests need none.
        acl_file.write_text("globalWhiteRemoteAddresses:\n- 127.0.0.1\naccounts: []\n")
        old_broker = JavaBroker(
            home / "old",
            [server.address, old_server.address],
            "broker-old",
            cluster="cluster-b",
            version=jars.OLD,
            config={"aclEnable": "true"},
        )
        with ThreadPoolExecutor() as threads:
            list(threads.map(JavaBroker.start, (broker, old_broker)))
        parts.callback(broker.kill)
        parts.callback(old_broker.kill)
        cluster = Cluster(server, new_server, old_server, broker, old_broker)
        wait_for("both brokers", lambda: cluster.count_brokers() == 2)
        fill(cluster)
        yield cluster


def fill(cluster: Cluster) -> None:
    """Create an item of each kind, and let a group consume a part of a topic."""
    for words in (
        ("updateTopic", "orders", "-b", cluster.broker.address, "-r", "2", "-w", "2"),
        ("updateTopic", "typed", "-b", cluster.broker.address, "-a", "+message.type=FIFO"),
        ("updateSubGroup", GROUP, "-b", cluster.broker.address, "-r", "5"),
        ("updateOrderConf", "-t", "orders", "-m", "put", "-v", "broker-a:2"),
        ("updateKvConfig", "DEPLOYMENT", "region", "eu"),
    ):
        assert cluster.run(*words, "--yes").code == 0, words
    for number in range(10):
        sent = cluster.run("sendMessage", "-t", "orders", "-p", f"m{number}", "-b", "broker-a", "-i", "0")
        assert sent.code == 0, sent.err
    lite.create(cluster.broker.port, "chats", LITE_GROUP)
    for lite_topic, offset in (("alice", 2), ("bob", 0)):
        for _ in range(3):
            lite.send(cluster.broker.port, "chats", lite_topic)
        lite.commit(cluster.broker.port, "chats", lite_topic, LITE_GROUP, offset)
    place = {"consumerGroup": GROUP, "topic": "orders", "queueId": "0", "commitOffset": str(COMMITTED)}
    assert wire.ask(cluster.broker.port, 15, place).code == 0
    assert (
        cluster.run(
            "setConsumeMode", "-t", "orders", "-g", GROUP, "-m", "POP", "-b", cluster.broker.address, "--yes"
        ).code
        == 0
    )


def lose_configuration(broker: JavaBroker) -> None:
    """Stop a broker, and delete its tables, but not its messages."""
    broker.kill()
    shutil.rmtree(broker.home / "store" / "config")
    broker.start()


def committed_offset(broker: JavaBroker) -> int:
    table = json.loads(
        wire.ask(broker.port, 14, {"consumerGroup": GROUP, "topic": "orders", "queueId": "0"}).body or b"{}"
    )
    return int(table.get("offset", -1))


def test_a_backup_is_restored_after_the_tables_were_lost(cluster: Cluster, tmp_path: Path) -> None:
    file = str(tmp_path / "a.nsbackup.zip")
    created = cluster.run("backup", "create", "cluster-a", "--file", file, "-s", "DEPLOYMENT")
    assert created.code == 0, created.err
    [row] = created.rows
    assert (row["brokers"], row["topics"], row["groups"], row["missing"]) == (1, 3, 2, 0)
    assert cluster.run("backup", "diff", file, "--offsets").code == 0
    assert cluster.run("check", "backup", file).code == 0

    lose_configuration(cluster.broker)
    assert cluster.run("deleteKvConfig", "DEPLOYMENT", "region", "--yes").code == 0
    wait_for("both brokers", lambda: cluster.count_brokers() == 2)
    lost = cluster.run("backup", "diff", file, "--offsets")
    assert lost.code == 1
    assert {(row["section"], row["name"]) for row in lost.rows} >= {
        ("topics", "orders"),
        ("topics", "typed"),
        ("topics", "chats"),
        ("groups", GROUP),
        ("groups", LITE_GROUP),
        ("offsets", f"orders {GROUP}"),
        ("offsets", f"{lite.queue('chats', 'alice')} {LITE_GROUP}"),
        ("offsets", f"{lite.queue('chats', 'bob')} {LITE_GROUP}"),
        ("kv", "DEPLOYMENT region"),
    }
    planned = cluster.run("backup", "restore", file, "--dry-run")
    assert (planned.code, {row["result"] for row in planned.rows}) == (0, {"dry-run"}), planned.err
    assert cluster.run("backup", "diff", file, "--offsets").rows == lost.rows

    restored = cluster.run("backup", "restore", file, "--yes")
    assert restored.code == 0, (restored.rows, restored.err)
    [offsets] = [
        row for row in restored.rows if row["section"] == "offsets" and row["name"] == f"orders {GROUP}"
    ]
    assert (offsets["result"], offsets["reason"], offsets["after"]) == ("done", "position", {"0": COMMITTED})
    [chat] = cluster.run("getLiteTopicInfo", "chats", "alice").rows
    assert (chat["minOffset"], chat["maxOffset"]) == (0, 3)
    [left] = cluster.run("getLiteGroupInfo", "chats", LITE_GROUP, "-l", "alice").rows
    assert (left["consumerOffset"], left["lag"]) == (2, 1)
    equal = cluster.run("backup", "diff", file, "--offsets")
    assert (equal.code, equal.rows) == (0, [])
    again = cluster.run("backup", "restore", file, "--yes")
    assert (again.code, [row for row in again.rows if row["result"] not in ("kept", "unchanged")]) == (0, [])


def test_a_backup_moves_to_a_broker_of_another_release_and_offsets_follow_the_time(
    cluster: Cluster, tmp_path: Path
) -> None:
    file = str(tmp_path / "b.nsbackup.zip")
    assert cluster.run("backup", "create", "cluster-a", "--file", file).code == 0
    unmapped = cluster.run("backup", "restore", file, "-c", "cluster-b", "--dry-run")
    assert unmapped.code != 0
    assert 'the cluster has no broker "broker-a"' in unmapped.rows[0]["error"]
    words = ("backup", "restore", file, "-c", "cluster-b", "--map", "broker-a=broker-old", "-t", "orders")
    moved = cluster.run(*words, "--yes")
    rows = {(row["section"], row["name"]): row for row in moved.rows}
    assert rows["topics", "orders"]["result"] == "done"
    offsets = rows["offsets", f"orders {GROUP}"]
    # The queue there is empty, so the group begins at its end: it misses nothing that comes.
    assert (offsets["result"], offsets["reason"], offsets["after"]) == ("done", "time", {"0": 0})


@pytest.mark.parametrize("retry_offset", [0, 2])
def test_a_group_that_was_deleted_by_mistake_comes_back(
    cluster: Cluster, tmp_path: Path, retry_offset: int
) -> None:
    """Its retry topic was deleted with its messages, so there is nothing to continue at."""
    group, file = f"mistake-{retry_offset}", str(tmp_path / "g.nsbackup.zip")
    retry_topic = f"%RETRY%{group}"
    assert cluster.run("updateSubGroup", group, "-b", cluster.broker.address, "--yes").code == 0
    assert (
        cluster.run("updateTopic", retry_topic, "-b", cluster.broker.address, "-r", "1", "-w", "1").code == 0
    )
    wait_for("the route", lambda: cluster.run("topicRoute", retry_topic).code == 0)
    for number in range(2):
        assert cluster.run("sendMessage", retry_topic, f"r{number}", "-b", "broker-a", "-i", "0").code == 0
    for topic, offset in ((retry_topic, retry_offset), ("orders", 4)):
        place = {"consumerGroup": group, "topic": topic, "queueId": "0", "commitOffset": str(offset)}
        assert wire.ask(cluster.broker.port, 15, place).code == 0
    assert cluster.run("backup", "create", "cluster-a", "--file", file).code == 0

    deleted = cluster.run("deleteSubGroup", group, "-c", "cluster-a", "-r", "true", "--yes")
    assert deleted.code == 0, deleted
    restored = cluster.run("backup", "restore", file, "-g", group, "--yes")
    assert restored.code == 0, restored
    results = {row["name"]: (row["result"], row["reason"]) for row in restored.rows}
    assert results == {
        group: ("done", None),
        f"orders {group}": ("done", "position"),
        f"{retry_topic} {group}": ("kept", f"{retry_topic} does not exist: offset not restored"),
    }
    assert cluster.run("deleteSubGroup", group, "-c", "cluster-a", "-r", "true", "--yes").code == 0
    assert {row["result"] for row in cluster.run("backup", "restore", file, "--yes").rows} <= {"done", "kept"}


def test_the_accounts_of_a_4_9_7_broker_come_back(cluster: Cluster, tmp_path: Path) -> None:
    file, passphrase = str(tmp_path / "c.nsbackup.zip"), tmp_path / "passphrase"
    passphrase.write_text("right\n")
    passphrase.chmod(0o600)
    old = ("-b", cluster.old_broker.address)
    perms = ("--topicPerms", "orders=PUB|SUB", "--groupPerms", f"{GROUP}=SUB", "--defaultTopicPerm", "DENY")
    key = ("--secretKey", "12345678", "--passwordVisible")
    created = cluster.run("updateAclConfig", "ci-account", *key, *perms, *old, "--yes")
    assert created.code == 0, created.err
    secrets = ("--with-secrets", "--passphrase-file", str(passphrase))
    saved = cluster.run("backup", "create", "cluster-b", "--file", file, *secrets)
    assert saved.code == 0, saved.err
    before = cluster.run("getAclConfig", *old).rows
    assert cluster.run("deleteAclConfig", "-a", "ci-account", *old, "--yes").code == 0
    words = (
        "backup",
        "restore",
        file,
        "--section",
        "accounts",
        "--passphrase-file",
        str(passphrase),
        "--yes",
    )
    restored = cluster.run(*words)
    assert restored.code == 0, restored.err
    assert [(row["name"], row["result"]) for row in restored.rows] == [("ci-account", "done")]
    assert cluster.run("getAclConfig", *old).rows == before
    assert cluster.run(*words).rows == []


def test_damaged_changed_and_foreign_files_are_refused_with_one_line(
    cluster: Cluster, tmp_path: Path
) -> None:
    whole = tmp_path / "whole.nsbackup.zip"
    assert cluster.run("backup", "create", "cluster-a", "--file", str(whole)).code == 0
    content = whole.read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    (tmp_path / "foreign.zip").write_bytes(b"not a zip")
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for member in archive.namelist():
            changed.writestr(member, archive.read(member).replace(b'"readQueueNums":2', b'"readQueueNums":9'))
    for name, words in (
        ("cut.zip", "is damaged"),
        ("foreign.zip", "is damaged, or is not a backup"),
        ("changed.zip", "was changed"),
    ):
        refused = cluster.run("backup", "restore", str(tmp_path / name), "--yes")
        assert (refused.code, refused.rows, refused.err.count("\n")) == (2, None, 1), refused.err
        assert words in refused.err


def failures_of(result: CommandResult) -> list[str]:
    return [row["error"] for row in result.rows or () if row["error"]]


def fill_old_cluster(cluster: Cluster) -> None:
    """Topics, a group and an account on the 4.9.7 broker. Its topics are not ordered."""
    assert cluster.run("updateOrderConf", "-t", "orders", "-m", "delete", "--yes").code == 0
    key = ("--secretKey", "12345678", "--passwordVisible", "--whiteRemoteAddress", "10.0.0.1")
    perms = ("--topicPerms", "payments=PUB", "--groupPerms", "payments-consumer=SUB")
    for words in (
        ("updateTopic", "orders", "-r", "3", "-w", "2"),
        ("updateTopic", "payments", "-r", "3", "-w", "2"),
        ("updateSubGroup", "payments-consumer", "-r", "7"),
        ("updateAclConfig", "moved-account", *key, *perms),
    ):
        result = cluster.run(*words, "-b", cluster.old_broker.address, "--yes")
        assert result.code == 0, result.err


def test_topics_groups_and_accounts_of_4_9_7_move_to_5_5_0(cluster: Cluster, tmp_path: Path) -> None:
    environment = {"NSADMIN_CONFIG": str(tmp_path / "contexts.yml")}
    servers = {
        "prod": cluster.old_server, "old": cluster.old_server,
        "dr": cluster.new_server, "new": cluster.new_server, "all": cluster.server,
    }  # fmt: skip
    for name, server in servers.items():
        line = ("context", "set", name, "-n", server.address)
        assert command_line.nsadmin(server.address, *line, env=environment).code == 0
    fill_old_cluster(cluster)
    conf = ("updateOrderConf", "orders", "put", "broker-old:2;elsewhere:2")
    assert command_line.nsadmin(cluster.old_server.address, *conf).code == 0

    def transfer(*line: str) -> CommandResult:
        return command_line.nsadmin(cluster.server.address, "transfer", *line, env=environment)

    for case in examples.list_cases_elsewhere("transferTopics", "transferGroups", "transferAcl"):
        for example in case.examples:
            # An example may be for clusters whose brokers have the same names.
            more = () if "--all-brokers" in example.command_line else ("--all-brokers",)
            result = transfer(*examples.split_example(example)[1:], *more)
            assert result.code == example.exit_code, (example.command_line, result.err, failures_of(result))
    ends = ("--from", "old", "--to", "new", "--map", "broker-old=broker-a")
    access = transfer("acl", *ends, "--yes")
    assert access.code == 0, access.err
    effect = f"ACLs have no effect on {cluster.broker.address}, where everyone may do everything"
    assert f"{effect}: first give clients, slaves and proxies credentials " in access.err
    assert {(row["section"], row["name"], row["result"]) for row in access.rows} >= {
        ("users", "moved-account", "done"),
        ("acls", "User:moved-account", "done"),
        ("accounts", "moved-account", "left out"),
        ("accounts", "127.0.0.1", "left out"),
    }
    new = ("-b", cluster.broker.address)
    route = command_line.nsadmin(cluster.new_server.address, "topicRoute", "payments")
    assert route.code == 0, route.err
    [topic] = route.rows
    assert (topic["readQueueNums"], topic["writeQueueNums"]) == (3, 2)
    [moved_conf] = command_line.nsadmin(cluster.new_server.address, "updateOrderConf", "orders", "get").rows
    assert moved_conf["orderConf"] == "broker-a:2"
    [user] = cluster.run("getUser", "moved-account", *new).rows
    assert (user["userType"], user["userStatus"]) == ("Normal", "enable")
    entries = cluster.run("getAcl", "User:moved-account", *new).rows
    assert {row["resource"] for row in entries} == {"Topic:payments", "Group:payments-consumer"}
    for noun in ("topics", "groups", "acl"):
        again = transfer(noun, *ends, "--yes")
        assert again.code == 0, again.err
        assert {row["result"] for row in again.rows or ()} <= {"left out"}
