"""What a 5.5.0 broker keeps in RocksDB, read off its files while it runs, beside mqadmin's answer."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from namesrv_core.protocol import fastjson
from nsadmin.operations.exports import rocksdb
from tests.interop import command_line, wire
from tests.interop.cluster import create_topic, wait_for_broker
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import list_cases_elsewhere, split_example

IN_ROCKSDB = {"storeType": "defaultRocksDB"}
KINDS = ("topics", "subscriptionGroups", "consumerOffsets")
MADE = dict(zip(KINDS, ("orders", "warehouse", "orders@warehouse"), strict=True))
FILES = ("topics.json", "subscriptionGroup.json", "consumerOffset.json")


class Cluster(NamedTuple):
    """One broker with a store for each kind, one with a store for all."""

    server: OurNameServer
    separate: JavaBroker
    shared: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)


def has_offsets(broker: JavaBroker) -> bool:
    return (
        MADE["consumerOffsets"]
        in rocksdb.read_rocksdb_document(config(broker), "consumerOffsets")["offsetTable"]
    )


def config(broker: JavaBroker) -> Path:
    return broker.home / "store" / "config"


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("rocksdb")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        addrs = [server.address]
        shared_store_settings = {**IN_ROCKSDB, "useSingleRocksDBForAllConfigs": "true"}
        separate = JavaBroker(home / "separate", addrs, "separate", config=IN_ROCKSDB)
        shared = JavaBroker(home / "shared", addrs, "shared", config=shared_store_settings)
        mqadmin = MqAdmin(home / "mqadmin", addrs)
        for part in pool.map(lambda part: part.__enter__(), (separate, shared, mqadmin)):
            ends.push(part)
        there = Cluster(server, separate, shared, mqadmin)
        for broker in (separate, shared):
            wait_for_broker([server], broker.name)
            create_topic(broker.port, "orders")
        assert there("updateSubGroup", "warehouse", "-c", "DefaultCluster", "--yes").code == 0
        place = {"consumerGroup": "warehouse", "topic": "orders", "queueId": "0", "commitOffset": "7"}
        for broker in (separate, shared):
            assert wire.ask(broker.port, 15, place).code == 0
        # A broker puts offsets into its store every few seconds.
        for broker in (separate, shared):
            wait_for(f"offsets of {broker.name}", partial(has_offsets, broker))
        yield there


def of_mqadmin(said: str) -> Any:
    """The JSON in what it prints, whose keys may be numbers."""
    return fastjson.decode_json(said[said.index("{") :].strip().encode())


def text_keys(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("kind", KINDS)
def test_stores_of_a_running_broker_hold_what_mqadmin_reads(cluster: Cluster, kind: str) -> None:
    where = ("-p", str(config(cluster.separate)), "-t", kind)
    theirs = text_keys(of_mqadmin(cluster.mqadmin("rocksDBConfigToJson", *where)))
    ours = cluster("rocksDBConfigToJson", *where)
    assert (ours.code, ours.rows) == (0, theirs)
    [table] = [value for name, value in theirs.items() if name.endswith("Table")]
    assert MADE[kind] in table
    assert list(config(cluster.separate).rglob("rocksdict*")) == []
    if kind != "consumerOffsets":
        mqadmin_output = cluster.mqadmin("exportMetadataInRocksDB", *where, "-j", "true")
        result = cluster("exportMetadataInRocksDB", *where, "-j", "true")
        assert result.rows == of_mqadmin(mqadmin_output)
        assert {row["key"] for row in cluster("exportMetadataInRocksDB", *where).rows} == set(table)


def test_one_store_for_all_which_mqadmin_does_not_find_is_read_too(cluster: Cluster) -> None:
    where = ("-p", str(config(cluster.shared)))
    for kind in KINDS:
        result = cluster("rocksDBConfigToJson", *where, "-t", kind)
        assert result.code == 0
        assert re.search("orders|warehouse", json.dumps(result.rows))
    result = cluster("rocksDBConfigToJson", "-p", str(cluster.shared.home / "store"), "-t", "topics")
    assert (result.code, "no RocksDB topics" in result.err) == (2, True)


def test_brokers_write_files_that_hold_what_is_read(cluster: Cluster) -> None:
    brokers = {broker.name: broker for broker in (cluster.separate, cluster.shared)}
    kept = [config(broker) / file for broker in (cluster.separate, cluster.shared) for file in FILES]
    planned = cluster("rocksDBConfigToJson", "-c", "DefaultCluster", "--dry-run")
    assert not [file for file in kept if file.exists()]
    result = cluster("rocksDBConfigToJson", "-c", "DefaultCluster", "--yes")
    assert (planned.code, result.code) == (0, 0)
    results = {row["brokerName"]: row["result"] for row in result.rows}
    assert results == {"separate": "done", "shared": "done"}
    for name in ("separate", "shared"):
        for kind, file in zip(KINDS, FILES, strict=True):
            written = text_keys(fastjson.decode_json((config(brokers[name]) / file).read_bytes()))
            read = cluster("rocksDBConfigToJson", "-p", str(config(brokers[name])), "-t", kind).rows
            table = next(key for key in read if key.endswith("Table"))
            mine = MADE[kind]
            assert written[table][mine] == read[table][mine]


def test_the_examples_of_both_commands(cluster: Cluster) -> None:
    cases = list_cases_elsewhere("exportMetadataInRocksDB", "rocksDBConfigToJson")
    replaced = {
        "store/config": str(config(cluster.separate)),
        "cluster-a": "DefaultCluster",
        "127.0.0.1:10911": cluster.separate.address,
    }
    for example in [example for case in cases for example in case.examples]:
        result = cluster(*(replaced.get(word, word) for word in split_example(example)))
        assert (result.code, bool(result.rows)) == (0, True), example
