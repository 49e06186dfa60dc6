"""Events of a journal, in the words of Java's logs of both releases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from namesrv_core.history.records import JournalRecord, RecordOrigin
from namesrv_core.lab import java_logs, scenario_reader, virtual_time
from namesrv_core.lab.scenario_player import play_scenario

NOON = 1_767_600_000_000
"""2026-01-05T08:00:00Z."""

Told = tuple[int, str, str, dict[str, Any]]

BROKER = {"clusterName": "C", "brokerName": "b", "brokerId": 0, "brokerAddr": "10.0.0.1:10911"}
QUEUES = {"brokerName": "b", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, "topicSysFlag": 0}


def told(dialect: str, *records: Told) -> list[str]:
    """What is written of (second, type, cause, fields); without time, level and thread."""
    log_lines = made_of(records)
    return [line.split(" - ", 1)[1].rstrip("\n") for line in java_logs.format_lines(log_lines, dialect)]


def made_of(records: Sequence[Told]) -> list[JournalRecord]:
    return [
        JournalRecord(number, "ns", RecordOrigin(NOON + second * 1000, cause, "10.0.0.9:1"), kind, fields)
        for number, (second, kind, cause, fields) in enumerate(records)
    ]


REGISTERED: list[Told] = [
    (0, "BrokerRegistered", "REGISTER_BROKER", BROKER),
    (
        0,
        "TopicsChanged",
        "REGISTER_BROKER",
        {"brokerName": "b", "changes": [{"topics": ["T"], "after": QUEUES}]},
    ),
]


def test_topics_come_before_their_broker() -> None:
    queues = "QueueData [brokerName=b, readQueueNums=4, writeQueueNums=4, perm=6, topicSysFlag=0]"
    who = "BrokerIdentityInfo [clusterName=C, brokerAddr=10.0.0.1:10911]"
    assert told("5.x", *REGISTERED) == [
        f"new topic registered, T {queues}",
        f"new broker registered, {who} HAService: 10.0.0.1:10911",
    ]
    assert told("4.x", *REGISTERED) == [
        f"new topic registered, T {queues}",
        "cluster [C] brokerName [b] master address change from null to 10.0.0.1:10911",
        "new broker registered, 10.0.0.1:10911 HAServer: 10.0.0.1:10911",
    ]


def test_times_are_of_gmt_8() -> None:
    [line] = java_logs.format_lines(
        made_of([(59, "WritePermWiped", "W", {"brokerName": "b", "topics": 3})]), "5.x"
    )
    assert line == (
        "2026-01-05 16:00:59 INFO RemotingExecutorThread_2 - "
        "wipe write perm of broker[b], client: 10.0.0.9:1, 3\n"
    )


def test_a_topic_that_another_broker_has_is_no_news() -> None:
    other = {**QUEUES, "brokerName": "c"}
    second = (1, "TopicsChanged", "R", {"brokerName": "c", "changes": [{"topics": ["T"], "after": other}]})
    assert told("5.x", *REGISTERED, second) == told("5.x", *REGISTERED)


def test_why_a_broker_goes() -> None:
    gone = [told("5.x", *REGISTERED, (9, "BrokerUnregistered", cause, BROKER))[2:] for cause in CAUSES]
    assert ["expired" in lines[0] or "destroyed" in lines[0] for lines in gone] == [False, True, True]
    assert [len(lines) for lines in gone] == [3, 4, 5]
    assert {lines[-1] for lines in gone} == {"unregisterBroker, remove name from brokerAddrTable OK, b"}
    old = [told("4.x", *REGISTERED, (9, "BrokerUnregistered", cause, BROKER))[3:] for cause in CAUSES]
    assert [lines[0].partition(",")[0] for lines in old] == [
        "unregisterBroker", "the broker's channel destroyed", "The broker channel expired",
    ]  # fmt: skip
    assert old[1][1:] == [
        "remove brokerAddr[0, 10.0.0.1:10911] from brokerAddrTable, because channel destroyed",
        "remove brokerName[b] from brokerAddrTable, because channel destroyed",
    ]


CAUSES = ("UNREGISTER_BROKER", "channel closed", "no heartbeat")


def test_5_x_scans_while_it_can() -> None:
    life: list[Told] = [
        (0, "ServerStarted", "name server", {}),
        (1, "ServerReady", "name server", {"address": "a:1"}),
        (33, "ServerPaused", "name server", {"pauseMillis": 20_000}),
        (45, "ServerStopping", "name server", {}),
    ]
    stamps = [line[17:19] for line in java_logs.format_lines(made_of(life), "5.x") if "scan" in line]
    assert stamps == ["06", "11", "38", "43"]
    assert not [line for line in java_logs.format_lines(made_of(life), "4.x") if "scan" in line]


def test_the_lines_of_timers_are_in_the_order_of_time() -> None:
    life: list[Told] = [
        (0, "ServerReady", "name server", {"address": "a:1"}),
        (90, "ServerStopping", "name server", {}),
    ]
    times = [line[:19] for line in java_logs.format_lines(made_of(life), "5.x")]
    assert times == sorted(times)
    assert len(times) == 20


def test_5_x_does_not_scan_while_it_is_down_or_paused() -> None:
    """A process that continues handles the requests that wait before it notes the pause."""
    start: list[Told] = [
        (0, "Snapshot", "name server", {"reason": "start"}),
        (0, "ServerStarted", "name server", {}),
    ]
    ready: Told = (1, "ServerReady", "name server", {"address": "a:1"})
    put: Told = (33, "KvPut", "PUT_KV_CONFIG", {"namespace": "n", "key": "k", "value": "v"})
    paused: Told = (33, "ServerPaused", "name server", {"pauseMillis": 20_000})
    again: list[Told] = [(40 + time, kind, cause, fields) for time, kind, cause, fields in (*start, ready)]
    last: Told = (50, "ServerStopping", "name server", {})
    lines = java_logs.format_lines(made_of([*start, ready, put, paused, *again, last]), "5.x")
    assert [line[17:19] for line in lines if "scan" in line] == ["06", "11", "46"]


def test_a_run_has_a_log_for_each_name_server(tmp_path: Path) -> None:
    scenario = scenario_reader.load_scenario("undone-wipe")
    virtual_time.run_virtual(play_scenario(scenario, tmp_path))
    java_logs.write_logs(tmp_path, scenario.server_names(), "5.x")
    texts = [(tmp_path / name / java_logs.LOG_FILE).read_text() for name in scenario.server_names()]
    assert all("wipe write perm of broker[" in text and "topic changed, " in text for text in texts)
    assert all("The Name Server boot success." in text for text in texts)


def test_java_closes_the_topics_of_an_acting_master_in_silence() -> None:
    def closed(reason: str) -> Told:
        change = {"topics": ["T"], "before": QUEUES, "after": QUEUES | {"perm": 4}}
        return (
            60,
            "TopicsChanged",
            "UNREGISTER_BROKER",
            {"brokerName": "b", "reason": reason, "changes": [change]},
        )

    before = told("5.x", *REGISTERED)
    assert told("5.x", *REGISTERED, closed("unregistration")) == before
    [text] = told("5.x", *REGISTERED, closed("registration"))[len(before) :]
    assert text.startswith("topic changed, T OLD: ")
