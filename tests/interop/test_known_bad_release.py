"""A 5.4.0 slave, which deletes its topics at each copy of its master's, is named wherever it matters."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.interop import command_line, wire
from tests.interop.cluster import NameServer, create_topic, wait_for_broker, wait_for_runtime_info
from tests.interop.java_parts import JavaBroker
from tests.interop.processes import wait_for

CLUSTER, FAULT = "faulty-cluster", "runs 5.4.0: as a slave, it deletes topics and groups"


@pytest.fixture(scope="module")
def slave(name_servers: list[NameServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaBroker]:
    home = tmp_path_factory.mktemp("faulty")
    addrs = [server.address for server in name_servers]
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        pair = [
            JavaBroker(home / str(i), addrs, "broker-faulty", CLUSTER, broker_id=i, version="5.4.0")
            for i in (0, 1)
        ]
        # A slave makes its first copy after a minute. This one has a topic before, as if it had been copied.
        copied = pair[1].home / "store" / "config" / "topics.json"
        copied.parent.mkdir(parents=True)
        copied.write_text(json.dumps({"topicConfigTable": {"Faulty": {"topicName": "Faulty"}}}))
        for broker in pool.map(JavaBroker.__enter__, pair):
            ends.push(broker)
        for broker in pair:
            wait_for_broker(name_servers, broker.name, broker.broker_id)
            wait_for_runtime_info(broker.port)
        assert wire.ask(pair[1].port, 351, {"topic": "Faulty"}).code == 0
        create_topic(pair[0].port, "Faulty")
        yield pair[1]


def test_a_slave_that_deletes_topics_which_its_master_has(
    name_servers: list[NameServer], slave: JavaBroker
) -> None:
    log = slave.home / "logs" / "rocketmqlogs" / "broker.log"
    deletion = "delete topic config OK, topic: TopicConfig [topicName=Faulty,"
    wait_for("the deletion", lambda: deletion in log.read_text())
    server = name_servers[0].address
    listed = command_line.nsadmin(server, "clusterList", CLUSTER)
    assert (listed.code, FAULT in listed.err) == (0, True)
    checked = command_line.nsadmin(server, "check", "brokers", "--clusterName", CLUSTER)
    assert (checked.code, FAULT in str(checked.rows["details"])) == (1, True)
    restarted = command_line.nsadmin(server, "rollingRestart", CLUSTER, "--dry-run")
    assert FAULT in restarted.err
    audited = command_line.nsadmin(server, "securityAudit")
    [fault] = [row for row in audited.rows["checks"] if row["check"] == "apache/rocketmq#9879"]
    assert "broker-faulty 1" in str(fault["details"])
    assert "broker-faulty 0" not in str(fault["details"])
