"""exportMetadataInRocksDB and rocksDBConfigToJson."""

import json
import sys
from pathlib import Path

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin.client.extras import describe_missing
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.rocksdb_stores import VERSION, separate_stores
from tests.support.topic_brokers import TopicBroker

WRITE, CONFIG = 355, 26


@pytest.fixture
def config(tmp_path: Path) -> str:
    return str(separate_stores(tmp_path / "store" / "config"))


def test_topics_and_groups_are_rows_or_what_mqadmin_prints(run: Run, config: str) -> None:
    result = run("exportMetadataInRocksDB", config, "topics", "--json")
    assert (result.code, [row["key"] for row in json.loads(result.out)]) == (0, ["bills", "orders"])
    result = run("exportMetadataInRocksDB", "-p", config, "-t", "subscriptionGroups", "-j", "true")
    assert json.loads(result.out) == {"subscriptionGroupTable": {"warehouse": {"groupName": "warehouse"}}}
    assert run("exportMetadataInRocksDB", config, "consumerOffsets").code == 2


def test_files_are_read_as_json_as_rows_or_into_a_file(run: Run, config: str, tmp_path: Path) -> None:
    result = run("rocksDBConfigToJson", "-p", config, "-t", "topics")
    assert json.loads(result.out)["dataVersion"] == VERSION
    result = run("rocksDBConfigToJson", "-p", config, "-t", "consumerOffsets", "-j", "false", "--json")
    assert json.loads(result.out) == [{"key": "orders@warehouse", "value": {"0": 7}}]
    file = tmp_path / "offsets.json"
    assert run("rocksDBConfigToJson", "-p", config, "-t", "consumerOffsets", "-e", str(file)).code == 0
    assert json.loads(file.read_text()) == {"offsetTable": {"orders@warehouse": {"0": 7}}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("-p", "DIR"),
            "missing table: with -p, pass -t topics or -t subscriptionGroups or -t consumerOffsets",
        ),
        (
            ("-p", "DIR", "-t", "topics", "-b", "127.0.0.1:1"),
            "-p excludes -b, -c and --dry-run: it reads files on this machine",
        ),
        (("-p", "DIR", "-t", "queues"), 'invalid table "queues" for -t: use topics or'),
        (("-b", "127.0.0.1:1", "-e", "x.json"), "-e and -j need -p DIR: they apply to files on this machine"),
        (("-p", "DIR/topics", "-t", "topics"), "use the parent folder"),
    ],
)
def test_mistakes_are_said_in_a_line(run: Run, config: str, words: tuple[str, ...], said: str) -> None:
    result = run("rocksDBConfigToJson", *(word.replace("DIR", config) for word in words))
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert said in result.err


def test_without_the_package_one_line_says_what_to_install(
    run: Run, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    result = run("exportMetadataInRocksDB", config, "topics")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert describe_missing("rocksdict", "rocksdb") in result.err


def test_only_who_can_is_told_to_write(run: Run, dead_addr: str) -> None:
    with TopicBroker() as broker, TopicBroker() as other:
        broker.items |= {"storeType": "defaultRocksDB", "storePathRootDir": "/data"}
        broker.handlers[WRITE] = build_reply
        with FakeNameServer({"C": {"a": {0: broker.addr, 1: other.addr, 2: dead_addr}}}) as server:
            where = ("-c", "C", "-n", server.addr, "--json")
            planned = run("rocksDBConfigToJson", *where, "--dry-run")
            assert broker.asked_codes() == [CONFIG]
            result = run("rocksDBConfigToJson", *where, "-t", "topics", "-y")
        assert (broker.asked_codes(), other.asked_codes()) == ([CONFIG, CONFIG, WRITE], [CONFIG, CONFIG])
    assert [row["result"] for row in json.loads(planned.out)] == ["dry-run", "unchanged", "failed"]
    rows = json.loads(result.out)
    assert (result.code, [row["result"] for row in rows]) == (3, ["done", "unchanged", "failed"])
    assert rows[0]["changes"] == "writes topics.json in /data/config"
    assert rows[1]["changes"] == "nothing: the broker keeps JSON files anyway (storeType=default)"
