"""check topic: as the client of any name server meets it."""

import re
import time

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from nsadmin.operations.checks import topic
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.masters import LOOKED_AT
from tests.support.checks import run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.topic_brokers import keyed_by_queue


def found(*addrs: str, name: str = "T") -> CheckFinding:
    return run_check(topic.CHECK, *addrs, scope=CheckScope(topic=name))


def values(finding: CheckFinding) -> list[float | None]:
    """unwritable, writable, readable, writeQueues."""
    return [sample.value for sample in finding.samples]


def test_all_is_well(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    finding = found(first_server.addr, second_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "1 of 1 brokers of T accept messages " + LOOKED_AT,
    )
    assert (finding.about, finding.details) == ("T", ())
    assert values(finding) == [0, 1, 1, 8]


def test_a_broker_that_was_wiped_is_a_warning_and_the_last_one_critical(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    first_server.routes = {"T": {"broker-a": 4, "broker-b": 6}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details == ("broker-a: no write permission",)
    assert values(finding) == [1, 1, 2, 8]
    first_server.routes = {"T": {"broker-a": 4, "broker-b": 4}}
    assert found(first_server.addr).state is CheckState.CRITICAL


def test_the_name_server_that_knows_least_counts(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.details == (f"name server {second_server.addr}: broker-a: no write permission",)
    second_server.routes = {}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == (
        "1 of 1 brokers of T accept messages, "
        f"of which clients of name server {second_server.addr} find 0 {LOOKED_AT}"
    )
    assert finding.details == (f"name server {second_server.addr} does not have the topic",)


def test_a_master_that_does_not_answer_or_is_not_there(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr, 1: broker.addr}}}
    finding = found(first_server.addr)
    assert finding.details == (
        f"broker-a: its master {dead_addr}: connection refused, no server listens on this port",
    )
    # Its slave can be read, unless it refuses.
    broker.handlers[26] = lambda asked: build_reply(asked, body=b"slaveReadEnable=true\n")
    assert values(found(first_server.addr)) == [1, 0, 1, 0]
    broker.handlers[26] = lambda asked: build_reply(asked, body=b"slaveReadEnable=false\n")
    assert values(found(first_server.addr)) == [1, 0, 0, 0]
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    assert found(first_server.addr).details == ("broker-a: no master",)


def test_a_master_with_a_full_disk_refuses_messages_and_can_be_read(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table["commitLogDiskRatio"] = "0.94"
    finding = found(first_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.details == (
        f"broker-a: its master {broker.addr} refuses messages: commitLogDiskRatio is 94 %, above "
        "diskSpaceWarningLevelRatio 90 %",
    )
    assert values(finding) == [1, 0, 1, 0]
    del broker.table["commitLogDiskRatio"]
    assert found(first_server.addr).state is CheckState.WARNING


def test_what_nobody_knows(first_server: FakeNameServer, dead_addr: str) -> None:
    missing = found(first_server.addr, name="X")
    assert (missing.state, missing.summary) == (
        CheckState.CRITICAL,
        "no name server has the topic X; `nsadmin topicList` lists the topics",
    )
    first_server.routes["orders"] = {"broker-a": 6}
    assert found(first_server.addr, name="ordrs").summary == (
        'no name server has the topic ordrs; did you mean "orders"?'
    )
    partly = found(first_server.addr, dead_addr)
    assert partly.state is CheckState.WARNING
    assert partly.details == (f"name server {dead_addr}: connection refused, no server listens on this port",)
    assert found(dead_addr).state is CheckState.UNKNOWN


def store_at(broker: FakeBroker, *times_ms: int) -> None:
    """Let the broker report these times of the last messages of its queues of T."""
    items = {
        at: {"minOffset": 0, "maxOffset": 9, "lastUpdateTimestamp": ms} for at, ms in enumerate(times_ms)
    }
    broker.handlers[RequestCode.GET_TOPIC_STATS_INFO] = lambda asked: build_reply(
        asked, body=b"{" + keyed_by_queue("T", "broker-a", items) + b"}"
    )


def find_idle(addr: str, *limits: float) -> CheckFinding:
    warning = limits[0] if len(limits) == 2 else None
    return run_check(topic.CHECK, addr, scope=CheckScope(topic="T", idle_limits=(warning, limits[-1])))


def test_a_topic_that_nobody_writes_to_is_idle(first_server: FakeNameServer, broker: FakeBroker) -> None:
    now_ms = int(time.time() * 1000)
    store_at(broker, now_ms - 3_600_000, now_ms - 900_000)
    assert find_idle(first_server.addr, 1800).state is CheckState.OK
    assert find_idle(first_server.addr, 600, 1800).state is CheckState.WARNING
    late = find_idle(first_server.addr, 600)
    assert late.state is CheckState.CRITICAL
    assert re.search(r"; no message for 90\d s: its newest message arrived at 20\S+Z$", late.summary)
    assert 900 <= (values(late)[-1] or 0) < 910
    assert "idle" not in {sample.measure.name for sample in found(first_server.addr).samples}


def test_a_topic_without_messages_is_idle_unless_a_master_is_silent(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    store_at(broker, 0)
    empty = find_idle(first_server.addr, 600)
    assert (empty.state, empty.summary.endswith("; it has no message")) == (CheckState.CRITICAL, True)
    broker.handlers[RequestCode.GET_TOPIC_STATS_INFO] = lambda asked: build_reply(asked, 1, remark="busy")
    refused = find_idle(first_server.addr, 600)
    assert refused.state is CheckState.UNKNOWN
    assert refused.summary.endswith("; it has no message, without 1 master that did not answer")
    assert any("busy" in line for line in refused.details)
