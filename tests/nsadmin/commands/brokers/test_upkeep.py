"""cleanUnusedTopic, cleanExpiredCQ and deleteExpiredCommitLog."""

import json
from collections.abc import Iterator
from time import time

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker

COMMANDS = [("cleanUnusedTopic", 316), ("cleanExpiredCQ", 306), ("deleteExpiredCommitLog", 329)]


@pytest.fixture
def broker() -> Iterator[TopicBroker]:
    with TopicBroker() as running:
        yield running


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_every_broker_of_a_cluster_or_one(run: Run, broker: TopicBroker, command: str, code: int) -> None:
    with TopicBroker() as slave, FakeNameServer({"C": {"a": {0: broker.addr, 1: slave.addr}}}) as server:
        result = run(command, "-c", "C", "-n", server.addr, "--yes", "--json")
        assert result.code == 0
        has_note = result.err.endswith(" now, and do not report which ones\n")
        assert has_note == (command != "deleteExpiredCommitLog")
        assert [(row["brokerId"], row["result"]) for row in json.loads(result.out)] == [
            (0, "done"),
            (1, "done"),
        ]
        assert run(command, broker.addr, "-y").code == run(command, "-b", broker.addr, "-y").code == 0
        # A broker that is given by its address is asked for its name, which tables show.
        codes = [26, 28, code] if command == "deleteExpiredCommitLog" else [code]
        assert (broker.asked_codes(), slave.asked_codes()) == ([*codes, *codes, 26, *codes, 26], codes)


@pytest.mark.parametrize(("command", "_code"), COMMANDS)
def test_dry_and_without_a_target_nothing_is_ordered(
    run: Run, broker: TopicBroker, command: str, _code: int
) -> None:
    result = run(command, broker.addr, "--dry-run", "--json")
    [row] = json.loads(result.out)
    assert (result.code, row["result"]) == (0, "dry-run")
    assert row["changes"].startswith(
        {
            "cleanUnusedTopic": "deletes the queues of topics without config",
            "cleanExpiredCQ": "deletes queue entries whose messages",
            "deleteExpiredCommitLog": "deletes files of the commit log that are older than 72 hours",
        }[command]
    )
    assert run(command, "-y").code == 2
    assert {*broker.asked_codes()} <= {26, 28}


def test_a_dry_run_tells_from_where_on_messages_stay_and_who_cannot_be_asked(
    run: Run, broker: TopicBroker, dead_addr: str
) -> None:
    broker.table["commitLogMinOffset"] = "1073741824"
    with FakeNameServer({"C": {"a": {0: broker.addr, 1: dead_addr}}}) as server:
        result = run("cleanExpiredCQ", "-c", "C", "-n", server.addr, "--dry-run", "--json")
    assert result.code == 3
    assert [(row["changes"], row["result"]) for row in json.loads(result.out)] == [
        (
            "deletes queue entries whose messages have left the commit log, which begins at 1073741824",
            "dry-run",
        ),
        (None, "failed"),
    ]


def test_what_deletes_for_good_needs_a_yes(run: Run, broker: TopicBroker) -> None:
    assert run("cleanUnusedTopic", broker.addr).code == 2
    assert {request.code for request in broker.asked} == {RequestCode.GET_BROKER_RUNTIME_INFO}
    assert run("cleanExpiredCQ", broker.addr).code == 0


def test_a_dead_broker_is_told(run: Run, broker: TopicBroker, dead_addr: str) -> None:
    with FakeNameServer({"C": {"a": {0: broker.addr, 1: dead_addr}}}) as server:
        result = run("cleanExpiredCQ", "-c", "C", "-n", server.addr, "--json")
    assert result.code == 3
    assert json.loads(result.out)[1]["error"] == "connection refused, no server listens on this port"


def test_a_deletion_that_frees_nothing_leads_to_the_setting(run: Run, broker: TopicBroker) -> None:
    broker.table["earliestMessageTimeStamp"] = str(int((time() - 10 * 3600) * 1000))
    for words in (["--dry-run"], ["--yes"]):
        result = run("deleteExpiredCommitLog", broker.addr, *words)
        assert result.code == 0
        assert (
            "has no expired file: it keeps messages for 72 hours, and its oldest message is 10.0"
            in result.err
        )
        assert f"nsadmin updateBrokerConfig fileReservedTime 5 -b {broker.addr}" in result.err
    broker.table["earliestMessageTimeStamp"] = str(int((time() - 73 * 3600) * 1000))
    assert run("deleteExpiredCommitLog", broker.addr, "--yes").err == (
        "nsadmin: brokers delete expired files from now on, a few at a time: nsadmin check disk "
        "shows how full the disks are then\n"
        "nsadmin: if they are still too full, keep messages for fewer hours, then run this again: "
        f"nsadmin updateBrokerConfig fileReservedTime 36 -b {broker.addr}\n"
    )
    assert run("deleteExpiredCommitLog", broker.addr, "--dry-run").err == ""


def test_the_advice_about_a_cluster_includes_its_slaves(run: Run, broker: TopicBroker) -> None:
    with FakeNameServer({"C": {"a": {0: broker.addr}}}) as server:
        result = run("deleteExpiredCommitLog", "-c", "C", "-n", server.addr, "--yes")
    assert result.err.endswith("nsadmin updateBrokerConfig fileReservedTime 36 -c C -a true\n")


def test_nothing_is_said_of_files_if_no_broker_answers(run: Run, dead_addr: str) -> None:
    assert "within seconds" not in run("deleteExpiredCommitLog", dead_addr, "--yes").err


def test_how_old_messages_are_and_how_full_the_disk_is(run: Run, broker: TopicBroker) -> None:
    broker.table |= {"earliestMessageTimeStamp": "1", "commitLogDiskRatio": "0.91"}
    result = run("deleteExpiredCommitLog", broker.addr, "--dry-run", "--json")
    changes = json.loads(result.out)[0]["changes"]
    assert "the oldest message is " in changes
    assert changes.endswith(" hours old, 91% of the disk is used")
    assert run("deleteExpiredCommitLog", broker.addr).code == 2
