"""mqadmin's own text, from rows; the released tool itself is beside it in the interop tests."""

import inspect
from typing import Any

import pytest

from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.registry import find_command
from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS
from nsadmin.console.output import ResultRow, ResultRows
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer

LOAD = {
    "clusterName": "C", "brokerName": "a", "brokerId": 0, "brokerAddr": "h:1", "version": "V5_5_0",
    "inTps": 0.125, "outTps": 2.0, "sendThreadPoolQueueSize": 1, "sendThreadPoolQueueHeadWaitTimeMills": 2,
    "pullThreadPoolQueueSize": 3, "pullThreadPoolQueueHeadWaitTimeMills": 4, "timerReadBehind": 5,
    "timerOffsetBehind": 6, "timerCongestNum": 12345, "timerEnqueueTps": 0.25, "timerDequeueTps": 0.0,
    "pageCacheLockTimeMills": 7, "hour": 8.0, "commitLogDiskRatio": 0.5, "brokerActive": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Any:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def lines(command: str, rows: list[ResultRow] | str, **arguments: Any) -> list[str]:
    totals = {"consumeTps": 0.5, "emptyStoreHours": {"h:1": None, "h:3": 498749.04}}
    result_rows = rows if isinstance(rows, str) else ResultRows((), rows, (), (), None, totals)
    return OUTPUT_FORMS[command](result_rows, arguments).split("\n")[:-1]


def test_a_broker_that_told_and_one_that_did_not() -> None:
    dead = {"clusterName": "C", "brokerName": "b", "brokerId": 1, "brokerAddr": "h:2", "error": "refused"}
    head, first_line, silent = lines("clusterList", [LOAD, dead], more=False)
    assert head.split() == [
        "#Cluster", "Name", "#Broker", "Name", "#BID", "#Addr", "#Version", "#InTPS(LOAD)", "#OutTPS(LOAD)",
        "#Timer(Progress)", "#PCWait(ms)", "#Hour", "#SPACE", "#ACTIVATED",
    ]  # fmt: skip
    # Java rounds halves up, of the digits that it shows: 0.125 is 0.13 and 0.25 is 0.3.
    assert first_line.split() == [
        "C", "a", "0", "h:1", "V5_5_0", "0.13(1,2ms)", "2.00(3,4ms|N,Nms)", "5-6(1.2w,", "0.3,", "0.0)", "7",
        "8.00", "0.5000", "true",
    ]  # fmt: skip
    assert silent.split() == [
        "C", "b", "1", "h:2", "0.00(,ms)", "0.00(,ms|,ms)", "0-0(0.0w,", "0.0,", "0.0)", "0.00", "0.0000",
        "false",
    ]  # fmt: skip
    totals = lines("clusterList", [{**LOAD, "inTotalToday": 6}], more=True)[1]
    assert totals == f"{'C':<16}  {'a':<32} {0:>14} {0:>14} {6:>14} {0:>14}"


def test_an_empty_store_is_as_old_as_1970() -> None:
    empty = {**LOAD, "brokerAddr": "h:3", "hour": None}
    assert lines("clusterList", [empty], more=False)[1].split()[-3] == "498749.04"


def test_a_broker_without_rates_tells_the_rest() -> None:
    early = {**LOAD, "inTps": None, "outTps": None}
    fields = lines("clusterList", [early], more=False)[1].split()
    assert fields[4:7] == ["V5_5_0", "0.00(1,2ms)", "0.00(3,4ms|N,Nms)"]
    assert fields[-4:] == ["7", "8.00", "0.5000", "true"]


def test_topics_and_their_groups() -> None:
    rows: list[ResultRow] = [
        {"clusterName": "C", "topic": "T", "groups": ["g", "h"]},
        {"clusterName": "C", "topic": "%RETRY%g", "groups": []},
        {"clusterName": None, "topic": "U", "groups": None},
    ]
    assert lines("topicList", rows, with_groups=False) == ["T", "%RETRY%g", "U"]
    line_words = [line.split() for line in lines("topicList", rows, with_groups=True)[1:]]
    assert line_words == [["C", "T", "g"], ["C", "T", "h"], ["U"]]


def test_a_route_as_a_table_and_as_json_with_bare_numbers() -> None:
    row = {
        "clusterName": "C", "brokerName": "a", "brokerAddrs": {0: "h:1", 1: "h:2"}, "readQueueNums": 8,
        "writeQueueNums": 4, "perm": 6,
    }  # fmt: skip
    _, first, rule, total = lines("topicRoute", [row], as_list=True)
    assert first.split() == ["C", "a", "{0=h:1,", "1=h:2}", "8", "4", "6"]
    assert (rule, total.split()) == ("-" * 158, ["Total:", "1", "8", "4"])
    raw = '{"queueDatas":[],"brokerDatas":[{"brokerAddrs":{"0":"h:1"},"zoneName":null}]}'
    assert lines("topicRoute", raw) == [
        "{", '\t"brokerDatas":[', "\t\t{",
        '\t\t\t"brokerAddrs":{', '\t\t\t\t0:"h:1"', "\t\t\t}", "\t\t}", "\t],",
        '\t"queueDatas":[]', "}",
    ]  # fmt: skip


def test_offsets_of_a_topic_and_of_a_group() -> None:
    place = {"topic": "T", "brokerName": "a", "queueId": 0}
    status = {**place, "minOffset": 1, "maxOffset": 3, "lastUpdated": "2025-02-01T00:00:00.005Z"}
    failed = {"brokerName": "b", "error": "refused"}
    _, queue, empty, tps = lines("topicStatus", [status, failed])
    assert queue == f"{'a':<32}  {0:<4}  {1:<20}  {3:<20}    2025-02-01 00:00:00,005"
    assert (empty, tps) == ("", "Topic Put TPS: 0.0")
    lag = {**place, "brokerOffset": 9, "consumerOffset": 4, "inflight": 1, "clientId": "10.0.0.1@x"}
    # mqadmin goes by topic, whichever broker told first.
    later = {**lag, "lastTime": "2025-02-01T00:00:00.005Z"}
    rows: list[ResultRow] = [
        {**later, "topic": "U"},
        later,
        {**lag, "queueId": 1, "consumerOffset": None, "inflight": None, "clientId": None, "lastTime": None},
    ]
    printed_lines = lines("consumerProgress", rows, group="g", show_client="true")
    assert [line.split() for line in printed_lines[1:3]] == [
        ["T", "a", "0", "9", "4", "10.0.0.1", "5", "1", "2025-02-01", "00:00:00"],
        ["T", "a", "1", "9", "0", "N/A", "9", "0", "N/A"],
    ]
    assert printed_lines[3].split()[0] == "U"
    assert printed_lines[4:] == [
        "",
        "Consume TPS: 0.50",
        "Consume Diff Total: 19",
        "Consume Inflight Total: 2",
    ]


def test_all_groups() -> None:
    online = {"group": "g", "count": 2, "version": "V4_9_7,V5_5_0", "tps": 1.9, "lag": 5}
    rows: list[ResultRow] = [
        {**online, "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING"},
        {"group": "h", "count": 0, "version": None, "consumeType": None, "messageModel": None},
    ]
    line_words = [line.split() for line in lines("consumerProgress", rows, group=None)[1:]]
    assert line_words == [
        ["g", "2", "V4_9_7", "PUSH", "CLUSTERING", "1", "5"],
        ["h", "0", "OFFLINE", "0", "0"],
    ]


def test_figures_and_settings() -> None:
    row = {"brokerAddr": "h:1", "key": "putTps", "value": "0.0 0.0"}
    assert lines("brokerStatus", [row], broker="h:1") == [f"{'putTps':<32}: 0.0 0.0"]
    assert lines("brokerStatus", [row], broker=None) == [f"{'h:1':<24} {'putTps':<32}: 0.0 0.0"]
    rows: list[ResultRow] = [
        {"namesrvAddr": addr, "key": "k", "value": "v"} for addr in ("h:1", "h:1", "h:2")
    ]
    item = f"{'k':<50}=  v"
    assert lines("getNamesrvConfig", rows) == [
        "============h:1============", item, item, "============h:2============", item,
    ]  # fmt: skip
    stats = {
        "topic": "T",
        "inTps": 0.5,
        "outTps": 1.0,
        "inMsg24Hour": 7,
        "outMsg24Hour": 6,
        "lag": 1,
    }
    rows = [{**stats, "group": "g"}, {**stats, "group": None}]
    line_words = [line.split() for line in lines("statsAll", rows)[1:]]
    assert line_words == [["T", "g", "1", "0.50", "1.00", "7", "6"], ["T", "0", "0.50", "7", "NO_CONSUMER"]]


def test_changes_are_done_or_failed() -> None:
    rows: list[ResultRow] = [
        {"namesrvAddr": "h:1", "brokerName": "a", "topicCount": 4, "error": None},
        {"namesrvAddr": "h:2", "brokerName": "a", "error": "refused"},
    ]
    assert lines("wipeWritePerm", rows) == [
        "wipe write perm of broker[a] in name server[h:1] OK, 4",
        "wipe write perm of broker[a] in name server[h:2] Failed",
    ]
    assert lines("updateKvConfig", rows[:1]) == ["create or update kv config to namespace success."]
    assert lines("updateKvConfig", rows) == []


def test_each_of_them_is_a_command() -> None:
    assert all(find_command(name) is not None for name in OUTPUT_FORMS)


def test_a_line_end_in_a_name_is_no_other_line(run: Run, first_server: FakeNameServer) -> None:
    first_server.routes = {"T\nforged\x1b": {"broker-a": 6}}
    result = run("topicList", "-n", first_server.addr, "--output", "mqadmin")
    assert result.out == "T\\nforged\\x1b\n"


def test_it_is_written_and_what_has_no_such_form_is_refused_before_anything_is_done(
    run: Run, first_server: FakeNameServer
) -> None:
    line = ("updateKvConfig", "NS", "key", "value", "-n", first_server.addr, "--output", "mqadmin", "-y")
    assert run(*line).out == "create or update kv config to namespace success.\n"
    first_server.kv.clear()
    for more in (
        ("updateKvConfig", "NS", "key", "value", "--dry-run"),
        ("kvImport", "kv.json", "-y"),
        ("topicList", "--columns", "topic"),
        ("topicList", "--no-headers"),
    ):
        result = run(*more, "-n", first_server.addr, "--output", "mqadmin")
        assert (result.code, result.out) == (2, ""), more
    assert first_server.kv == {}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("clusterList", {"more"}),
        ("topicList", {"with_groups"}),
        ("consumerProgress", {"group", "show_client"}),
        ("brokerStatus", {"broker"}),
        ("updateTopicPerm", {"cluster_name"}),
        ("deleteTopic", {"topic", "cluster_name"}),
    ],
)
def test_a_form_reads_arguments_by_the_names_that_the_command_gives_them(
    command: str, names: set[str]
) -> None:
    entry = find_command(command)
    assert entry is not None
    function = entry.load_function()
    assert names <= {parameter.name for parameter in command_parameters(function)}
    assert all(f'arguments["{name}"]' in inspect.getsource(OUTPUT_FORMS[command]) for name in names)
