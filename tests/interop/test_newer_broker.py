"""A 5.5.1 broker, of which the registry lacks the name server and the client: what only it can do."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin.client.bundles.bundle_file import LOG_FOLDER, SupportBundle
from tests.interop import command_line, jars
from tests.interop.cluster import NameServer, create_topic, send, wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.daily import commit
from tests.interop.java_parts import JavaBroker
from tests.interop.processes import wait_for

CLUSTER = "newer-cluster"


class Newer(NamedTuple):
    server: NameServer
    broker: JavaBroker

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    @property
    def log(self) -> str:
        return (self.broker.home / "logs" / "rocketmqlogs" / "broker.log").read_text()


@pytest.fixture(scope="module")
def newer(name_servers: list[NameServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newer]:
    home: Path = tmp_path_factory.mktemp("newer")
    addrs = [server.address for server in name_servers]
    with JavaBroker(home, addrs, "broker-newer", CLUSTER, version=jars.BROKER_ONLY) as broker:
        wait_for_broker(name_servers, broker.name)
        topics = ("newer-a", "newer-b", "newer-kept")
        for topic in topics:
            create_topic(broker.port, topic, 2)
        for topic in topics:
            wait_for_topic(name_servers, topic)
        yield Newer(name_servers[0], broker)


def test_lists_of_topics_and_groups_are_deleted_with_one_request(newer: Newer) -> None:
    deleted = newer("deleteTopic", "newer-a,newer-b", CLUSTER, "--yes")
    assert (deleted.code, {row["result"] for row in deleted.rows}) == (0, {"done"}), deleted.err
    assert "delete topics=[newer-a, newer-b]" in newer.log
    for group in ("newer-g1", "newer-g2"):
        assert newer("updateSubGroup", group, "-c", CLUSTER).code == 0
    deleted = newer("deleteSubGroup", "newer-g*", "-c", CLUSTER, "--yes")
    assert (deleted.code, {row["result"] for row in deleted.rows}) == (0, {"done"}), deleted.err
    assert "groupNames=[newer-g1, newer-g2]" in newer.log


def test_its_new_settings_have_known_defaults(newer: Newer) -> None:
    compared = newer("configDiff", "--default", "--filter", "kind=broker")
    changed = {
        row["key"] for row in compared.rows if any("broker-newer" in server for server in row["values"])
    }
    assert {"mappedFileSizeCommitLog"} <= changed
    assert not changed & {
        "batchDeleteTopicMaxRate",
        "popRocksdbBlockCacheSize",
        "metricsExportOtelMemoryMode",
    }
    assert "defaults of 5.5.0 are used" not in compared.err


def test_times_of_a_lag(newer: Newer) -> None:
    """The second message is unread, and nothing is in the other queue."""
    send(newer.broker.port, "newer-kept", 0, 2)
    commit(newer.broker, "newer-readers", "newer-kept", {0: 1})
    wait_for("the queue", lambda: newer("topicStatus", "newer-kept").rows[0]["maxOffset"] == 2)
    first, second = newer("topicStatus", "newer-kept", "--times").rows
    assert (first["group"], first["unreadAgeMs"] < 60_000, first["expiresInMs"] > 71 * 3_600_000) == (
        "newer-readers", True, True,
    )  # fmt: skip
    assert first["oldest"] <= first["lastConsumed"] <= first["newest"]
    assert (second["newest"], second["unreadAgeMs"]) == (None, None)


def test_the_end_of_its_logs_is_in_a_bundle(newer: Newer, tmp_path: Path) -> None:
    bundle = tmp_path / "a.nsbundle.zip"
    logs = newer.broker.home / "logs" / "rocketmqlogs"
    created = newer("bundle", "create", str(bundle), "--logs", str(logs))
    assert created.code == 0, created.err
    with closing(SupportBundle(bundle)) as opened:
        names = {name.rpartition("/")[2] for name in opened.list_files(LOG_FOLDER)}
    assert {"broker.log", "store.log"} <= names
