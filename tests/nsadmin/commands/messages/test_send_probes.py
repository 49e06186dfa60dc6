"""sendMsgStatus, checkMsgSendRT and clusterRT."""

import json
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from nsadmin.commands.messages.send_probes import cluster_rt
from nsadmin.console.output import ResultRows
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.conftest import Run
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import MessageBroker

OWN = {"broker-a": {"broker-a": 6}}


@pytest.fixture(autouse=True)
def _own_topic(first_server: FakeNameServer, message_broker: MessageBroker) -> None:
    first_server.routes = OWN


@pytest.mark.parametrize(
    "words",
    [
        ("broker-a", "-s", "5", "-c", "3"),
        ("-b", "broker-a", "--messageSize", "5", "--count", "3"),
        ("--brokerName", "broker-a", "-s", "5", "-c", "3"),
    ],
)
def test_a_row_for_each_message(run_json: Run, message_broker: MessageBroker, words: tuple[str, ...]) -> None:
    result = run_json("sendMsgStatus", *words)
    assert (result.code, result.err) == (0, "")
    rows = result.json
    assert [len(sent.body) for sent in message_broker.sent] == [5, 5, 5]
    assert all(row["rt"] > 0 for row in rows)
    assert {(row["brokerName"], row["queueOffset"], row["result"]) for row in rows} == {
        ("broker-a", 7, "done")
    }


def test_nothing_is_written_by_a_dry_run(run_json: Run, message_broker: MessageBroker) -> None:
    for words in (("sendMsgStatus", "broker-a"), ("clusterRT", "-i", "1")):
        [row] = run_json(*words, "--dry-run").json
        assert (row["brokerName"], row["brokerAddr"], row["result"]) == (
            "broker-a",
            message_broker.addr,
            "dry-run",
        )
    assert message_broker.sent == []


def test_what_fails_is_counted(run_json: Run, message_broker: MessageBroker) -> None:
    taken = message_broker.handlers[310]
    answers = iter([taken, refuse_with(2, "busy"), taken] * 2)
    message_broker.handlers[310] = lambda asked: next(answers)(asked)
    result = run_json("sendMsgStatus", "broker-a", "-c", "3")
    assert (result.code, result.err.splitlines()[0]) == (3, "nsadmin: 1 of 3 messages failed")
    [row] = run_json("clusterRT", "-a", "3").json
    assert (row["successCount"], row["failCount"], row["result"]) == (2, 1, "failed")
    assert "SYSTEM_BUSY (2)" in row["error"]
    assert row["rt"] == row["maxRt"] > 0


def test_every_broker_of_a_cluster(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}, "D": {"broker-d": {0: "h:1"}}}
    result = run_json("clusterRT", "--cluster", "C", "--amount", "2", "--size", "9", "-m", "east")
    [row] = result.json
    assert (result.code, len(message_broker.sent)) == (0, 2)
    assert (row["machineRoom"], row["clusterName"], row["successCount"]) == ("east", "C", 2)
    assert row["time"].endswith("Z")
    result = run_json("clusterRT", "-a", "1")
    assert (result.code, [row["result"] for row in result.json]) == (3, ["done", "not found"])
    assert run_json("clusterRT", "-c", "E").code == 5
    first_server.clusters = {"C": {name: {0: message_broker.addr} for name in ("broker-a", "broker-b")}}
    assert [row["brokerName"] for row in run_json("clusterRT", "-a", "1").json] == ["broker-a"]


def test_lines_for_a_log(run: Run, first_server: FakeNameServer) -> None:
    result = run("clusterRT", "-a", "1", "-p", "true", "-m", "east", "-n", first_server.addr)
    time, *middle, rt = result.out.rstrip().split("|")
    assert (time[-1], middle, float(rt) > 0) == ("Z", ["east", "C", "broker-a"], True)


def test_again_and_again(first_server: FakeNameServer, message_broker: MessageBroker) -> None:
    session = Session(SharedOptions(namesrv_addr=(first_server.addr,), yes=True))
    turns = cluster_rt(session, message_count=1, interval_seconds=0.01)
    assert not isinstance(turns, (ResultRows, str))
    probe_rows = list(islice(turns, 3))
    session.close()
    assert [len(rows.rows) for rows in probe_rows if isinstance(rows, ResultRows)] == [1, 1, 1]
    assert len(message_broker.sent) == 3
    [(_, times)] = session.sent_changes.counted_exchanges
    assert times == 3


def test_endless_probes_that_a_signal_ends_are_in_the_audit(
    first_server: FakeNameServer, message_broker: MessageBroker, tmp_path: Path
) -> None:
    audit_file = tmp_path / "audit.jsonl"
    process = subprocess.Popen(
        [*NSADMIN, "clusterRT", "-a", "1", "-i", "0.1", "-n", first_server.addr],
        stdout=subprocess.PIPE,
        env={**ENVIRONMENT, "NSADMIN_AUDIT": str(audit_file)},
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    process.communicate(timeout=10)
    [record] = map(json.loads, audit_file.read_text().splitlines())
    assert record["sent"][0]["request"] == "SEND_MESSAGE_V2"


@pytest.mark.parametrize(
    "words",
    [
        ("sendMsgStatus",),
        ("sendMsgStatus", "broker-a", "-c", "0"),
        ("sendMsgStatus", "broker-a", "-s", "99999999"),
        ("clusterRT", "-a", "0"),
        ("clusterRT", "-i", "0"),
        ("clusterRT", "-p", "perhaps"),
    ],
)
def test_bad_words_are_one_line(run_json: Run, message_broker: MessageBroker, words: tuple[str, ...]) -> None:
    result = run_json(*words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message_broker.sent == []


def test_all_queues_of_a_topic_in_turns(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    first_server.routes = {"T": {"broker-a": 6}}
    planned = run_json("checkMsgSendRT", "-t", "T", "-a", "2", "--dry-run")
    assert ([row["queueId"] for row in planned.json], message_broker.sent) == ([0, 1], [])
    result = run_json("checkMsgSendRT", "-t", "T", "-a", "10", "-s", "5")
    assert [row["queueId"] for row in result.json] == [*range(8), 0, 1]
    assert result.err.startswith("nsadmin: mean of 9 messages over open connections: ")
    alone = run_json("checkMsgSendRT", "T", "-a", "1")
    assert (alone.code, alone.err) == (0, "")
    message_broker.handlers[310] = refuse_with(16, "no write perm")
    failed = run_json("checkMsgSendRT", "T", "-a", "1")
    assert (failed.code, failed.json[0]["error"]) == (1, "NO_PERMISSION (16): no write perm")
    assert run_json("checkMsgSendRT", "T", "-s", "99999999").code == 2
