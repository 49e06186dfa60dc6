"""clusterList and brokerStatus."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerStatus
from nsadmin.commands.brokers.clusters import LOAD_COLUMNS, TOTALS_COLUMNS, describe_broker
from nsadmin.console.output import Columns, ResultRow, ResultRows
from tests.nsadmin.conftest import Run
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, refuse_with
from tests.support.lab import Lab

# What a 5.5.0 broker reports, as far as it is used.
TABLE = {
    "brokerActive": "true",
    "brokerVersionDesc": "V5_5_0",
    "commitLogDiskRatio": "0.14",
    "earliestMessageTimeStamp": "3600000",
    "getTransferredTps": "2.0 1.0 0.5",
    "msgGetTotalTodayMorning": "5",
    "msgGetTotalTodayNow": "9",
    "msgGetTotalYesterdayMorning": "1",
    "msgPutTotalTodayMorning": "50",
    "msgPutTotalTodayNow": "90",
    "msgPutTotalYesterdayMorning": "10",
    "pageCacheLockTimeMills": "3",
    "putTps": "1.5 1.0 0.5",
    "sendThreadPoolQueueHeadWaitTimeMills": "7",
    "sendThreadPoolQueueSize": "2",
    "timerCongestNum": "1",
    "timerEnqueueTps": "0.5",
}


LOAD = [c.key for c in LOAD_COLUMNS]
TOTALS = [c.key for c in TOTALS_COLUMNS]


def row_of(columns: Columns[Any], table: dict[str, str], now_seconds: float = 0) -> ResultRow:
    status = BrokerStatus("C", "a", 0, "h:1", RuntimeInfo(table), None)
    return ResultRows.from_records(columns, [describe_broker(status, None, now_seconds)]).rows[0]


def test_load_is_taken_from_the_brokers_own_account() -> None:
    row = row_of(LOAD_COLUMNS, TABLE, 7200 + 3600)
    assert {name: value for name, value in row.items() if value is not None} == {
        "clusterName": "C",
        "brokerName": "a",
        "brokerId": 0,
        "brokerAddr": "h:1",
        "version": "V5_5_0",
        "inTps": 1.5,
        "outTps": 2.0,
        "sendThreadPoolQueueSize": 2,
        "sendThreadPoolQueueHeadWaitTimeMills": 7,
        "timerCongestNum": 1,
        "timerEnqueueTps": 0.5,
        "pageCacheLockTimeMills": 3,
        "hour": 2.0,
        "commitLogDiskRatio": 0.14,
        "brokerActive": True,
        "reachable": True,
    }


def test_an_empty_store_has_no_hour() -> None:
    assert row_of(LOAD_COLUMNS, {**TABLE, "earliestMessageTimeStamp": "-1"}, 7200)["hour"] is None


def test_totals_are_differences_of_counters() -> None:
    row = row_of(TOTALS_COLUMNS, TABLE)
    assert [row[name] for name in TOTALS[4:8]] == [40, 4, 40, 4]


def test_under_a_table_are_the_totals_of_each_cluster(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    broker.table |= TABLE
    assert "total of" not in run("clusterList", "-m", "-n", first_server.addr).err
    with FakeBroker() as other:
        other.table |= TABLE
        first_server.clusters = {"C": {"a": {0: broker.addr, 1: dead_addr}, "b": {0: other.addr}}}
        shown = run("clusterList", "-m", "-n", first_server.addr).err
        assert (
            "total of 2 brokers of C: 80 messages in and 8 out yesterday, 80 in and 8 out today, "
            "3.00 in and 4.00 out per second now\n"
        ) in shown
        assert run("clusterList", "-n", first_server.addr).err.splitlines()[-1] in shown
        for words in (("-m", "--json"), ("--columns", "inTps"), ("--filter", "brokerId=0")):
            assert "total of" not in run("clusterList", *words, "-n", first_server.addr).err
        first_server.clusters = {"C": {"a": {0: broker.addr}}, "D": {"b": {0: other.addr}}}
        shown = run("clusterList", "*", "-m", "-n", first_server.addr).err
        figures = (
            "40 messages in and 4 out yesterday, 40 in and 4 out today, 1.50 in and 2.00 out per second now"
        )
        for cluster_name in ("C", "D"):
            assert f"total of 1 broker of {cluster_name}: {figures}\n" in shown


def test_a_broker_that_denies_is_not_called_starting(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.handlers[28] = refuse_with(16, "check signature failed.")
    result = run("clusterList", "-n", first_server.addr, "--json")
    [row] = json.loads(result.out)
    assert (row["reachable"], row["error"]) == (True, "NO_PERMISSION (16): check signature failed.")


def test_a_master_that_refuses_messages_is_told(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table["commitLogDiskRatio"] = "0.94"
    result = run("clusterList", "-n", first_server.addr, "--json")
    refusal = "refuses messages: commitLogDiskRatio is 94 %, above diskSpaceWarningLevelRatio 90 %"
    assert (result.code, result.err) == (0, f"nsadmin: {broker.addr} {refusal}\n")
    assert json.loads(result.out)[0]["error"] == refusal


def test_two_names_of_one_process_are_told(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}}}
    for more in ((), ("-m",)):
        result = run("clusterList", *more, "-n", first_server.addr)
        assert result.err.startswith(
            f"nsadmin: a and b are one process, at {broker.addr}: stopping it stops all"
        )


def test_a_broker_that_is_down_or_starting_is_a_row_without_values(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    with FakeBroker() as starting:
        starting.handlers[28] = refuse_with(1, "NoSuchElementException")
        first_server.clusters = {"C": {"a": {0: broker.addr, 1: dead_addr}, "b": {0: starting.addr}}}
        result = run("clusterList", "-n", first_server.addr, "--json")
    assert (result.code, result.err) == (
        3,
        "nsadmin: 2 of 3 brokers did not report their load: see the column error\n",
    )
    alive, down, not_ready = json.loads(result.out)
    assert list(down) == LOAD
    assert (alive["reachable"], alive["error"], alive["inTps"]) == (True, None, 1.5)
    assert (down["reachable"], down["error"]) == (False, "connection refused, no server listens on this port")
    assert (not_ready["reachable"], not_ready["error"]) == (
        True,
        "not ready: SYSTEM_ERROR (1): NoSuchElementException",
    )
    unknown = set(LOAD) - {
        "clusterName",
        "brokerName",
        "brokerId",
        "brokerAddr",
        "reachable",
        "error",
    }
    assert {down[name] for name in unknown} == {None}


def test_one_cluster_of_several(run: Run, first_server: FakeNameServer, broker: FakeBroker) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}}, "D": {"b": {0: broker.addr}}}
    for form in (["D"], ["-c", "D"], ["--clusterName", "D"]):
        rows = json.loads(run("clusterList", *form, "-n", first_server.addr, "--json", "-m").out)
        assert [(row["clusterName"], list(row)) for row in rows] == [("D", TOTALS)]
    assert run("clusterList", "X", "-n", first_server.addr) == (
        5,
        "",
        'nsadmin: no cluster "X": name servers list C, D\n',
    )


def test_again_and_again_until_ctrl_c(first_server: FakeNameServer) -> None:
    process = subprocess.Popen(
        [*NSADMIN, "clusterList", "-n", first_server.addr, "-i", "0.01"],
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    output = b""
    while output.count(b"clusterName") < 3:
        output += os.read(process.stdout.fileno(), 4096)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 0


@pytest.mark.parametrize("flag", ["-b", "--brokerAddr", None])
def test_one_brokers_account_needs_no_name_server(run: Run, broker: FakeBroker, flag: str | None) -> None:
    words = [broker.addr] if flag is None else [flag, broker.addr]
    result = run("brokerStatus", *words, "--columns", "brokerAddr,key,value")
    assert (result.code, result.err) == (0, "")
    assert [line.split() for line in result.out.splitlines()] == [
        ["brokerAddr", "key", "value"],
        [broker.addr, "brokerVersionDesc", "V5_5_0"],
        [broker.addr, "commitLogDiskRatio", "0.1"],
        [broker.addr, "putTps", "1.5", "2", "3"],
    ]


def test_a_clusters_accounts_come_from_all_that_answer(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr, 1: dead_addr}}}
    result = run("brokerStatus", "-c", "C", "-n", first_server.addr, "--json")
    assert (result.code, result.err) == (
        3,
        f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n",
    )
    of_a = {"brokerName": "a", "brokerId": 0, "brokerAddr": broker.addr}
    assert json.loads(result.out) == [
        {**of_a, "key": "brokerVersionDesc", "value": "V5_5_0"},
        {**of_a, "key": "commitLogDiskRatio", "value": "0.1"},
        {**of_a, "key": "putTps", "value": "1.5 2 3"},
    ]
    assert json.loads(run("brokerStatus", "-n", first_server.addr, "--json").out) == json.loads(result.out)
    assert run("brokerStatus", dead_addr).code == 4


def test_a_table_shows_times_as_dates_and_json_as_the_broker_sent_them(run: Run, broker: FakeBroker) -> None:
    broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = lambda asked: answer_json(
        asked, {"table": {"bootTimestamp": "1763733600000", "earliestMessageTimeStamp": "-1"}}
    )
    lines = [line.split()[3:] for line in run("brokerStatus", broker.addr).out.splitlines()[1:]]
    assert lines == [["bootTimestamp", "2025-11-21T14:00:00.000Z"], ["earliestMessageTimeStamp", "-1"]]
    for output_format in ("json", "yaml", "csv", "value"):
        assert "1763733600000" in run("brokerStatus", broker.addr, "--output", output_format).out


def test_counts_of_a_cluster(run_on_lab: Run, running_lab: Lab, run: Run) -> None:
    result = run_on_lab("clusterList", "--counts")
    assert (result.code, result.err) == (0, "")
    [counts] = result.json
    topics = run_on_lab("topicList", "--no-system").json
    queues = run_on_lab("topicRoute", ",".join(row["topic"] for row in topics)).json
    assert counts == {
        "clusterName": "cluster-a",
        "masterCount": 2,
        "slaveCount": 2,
        "topicCount": len(topics),
        "readQueueCount": sum(row["readQueueNums"] for row in queues),
        "writeQueueCount": sum(row["writeQueueNums"] for row in queues),
        "groupCount": len(run_on_lab("consumerProgress").json),
        "clientCount": len(run_on_lab("client", "list").json),
    }
    assert min(value for value in counts.values() if isinstance(value, int)) > 0
    refused = run("clusterList", "--counts", "--output", "mqadmin", "-n", running_lab.namesrv_addr)
    assert (refused.code, "leave out --output mqadmin" in refused.err) == (2, True)
    assert run_on_lab("clusterList", "--counts", "-m").code == 2


def test_counts_are_too_low_without_a_broker(ask: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    result = ask("clusterList", "--counts", "--json")
    assert (result.code, result.json[0]["masterCount"], result.json[0]["topicCount"]) == (3, 1, 0)
    assert f"nsadmin: the counts may be too low: {dead_addr}: " in result.err
