"""getBrokerConfig and updateBrokerConfig."""

import json
from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.operations.setting_effects import is_read_at_start
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_nothing
from tests.support.topic_brokers import TopicBroker


@pytest.fixture
def master() -> Iterator[TopicBroker]:
    with TopicBroker() as running:
        yield running


@pytest.fixture
def slave() -> Iterator[TopicBroker]:
    with TopicBroker() as running:
        running.as_slave()
        yield running


@pytest.fixture
def server(master: TopicBroker, slave: TopicBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as running:
        yield running


@pytest.mark.parametrize("flags", [(), ("-b",), ("--brokerAddr",)])
def test_one_broker_s_settings_need_no_name_server(
    run: Run, master: TopicBroker, flags: tuple[str, ...]
) -> None:
    result = run("getBrokerConfig", *flags, master.addr)
    assert (result.code, result.err) == (0, "")
    assert [line.split()[2:] for line in result.out.splitlines()] == [
        ["brokerAddr", "key", "value"],
        [master.addr, "brokerId", "0"],
        [master.addr, "brokerName", "broker-a"],
        [master.addr, "brokerRole", "ASYNC_MASTER"],
        [master.addr, "fileReservedTime", "72"],
    ]


def test_a_cluster_s_settings_are_those_of_masters_and_slaves(run: Run, server: FakeNameServer) -> None:
    result = run("getBrokerConfig", "-c", "C", "-n", server.addr, "--filter", "key=brokerRole", "--json")
    assert result.code == 0
    assert [(row["brokerName"], row["brokerId"], row["value"]) for row in json.loads(result.out)] == [
        ("broker-a", 0, "ASYNC_MASTER"),
        ("broker-a", 1, "SLAVE"),
    ]
    assert run("getBrokerConfig", "-c", "X", "-n", server.addr).code == 5
    everywhere = run("getBrokerConfig", "-n", server.addr, "--filter", "key=brokerRole", "--json")
    assert everywhere.out == result.out


def test_a_dead_broker_is_told(run: Run, server: FakeNameServer, dead_addr: str, master: TopicBroker) -> None:
    server.clusters = {"C": {"broker-a": {0: master.addr, 1: dead_addr}}}
    result = run("getBrokerConfig", "-c", "C", "-n", server.addr)
    assert result.code == 3
    assert result.err == f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n"
    assert run("getBrokerConfig", dead_addr).code == 4


@pytest.mark.parametrize(
    ("flags", "results"),
    [
        ((), ["done"]),
        (("-a", "false"), ["done"]),
        (("-a", "true"), ["done", "done"]),
        (("--updateAllBroker", "true", "--dry-run"), ["dry-run", "dry-run"]),
    ],
)
def test_masters_are_changed_and_slaves_if_wanted(
    run: Run,
    server: FakeNameServer,
    flags: tuple[str, ...],
    results: list[str],
    master: TopicBroker,
    slave: TopicBroker,
) -> None:
    words = ("updateBrokerConfig", "fileReservedTime", "96", "-c", "C", "-n", server.addr, "--json")
    result = run(*words, *flags)
    addrs = master.addr if "true" not in flags else f"{master.addr},{slave.addr}"
    note = "" if "true" in flags else "nsadmin: 1 slave stays as it is: -a true includes slaves\n"
    undo = f"nsadmin: to undo it: nsadmin updateBrokerConfig -k fileReservedTime -v 72 -b {addrs}\n"
    assert (result.code, result.err) == (0, note + ("" if "--dry-run" in flags else undo))
    rows = json.loads(result.out)
    assert [row["result"] for row in rows] == results
    assert (rows[0]["before"], rows[0]["after"], rows[0]["changes"]) == ("72", "96", "72 -> 96")
    assert master.items["fileReservedTime"] == ("72" if "--dry-run" in flags else "96")


def test_slaves_that_stay_are_told_of_if_something_changes(
    run: Run, server: FakeNameServer, master: TopicBroker, slave: TopicBroker
) -> None:
    words = ("updateBrokerConfig", "fileReservedTime", "96", "-n", server.addr, "--dry-run")
    assert run(*words, "-b", "broker-a").err == (
        "nsadmin: 1 slave stays as it is: to include it, run "
        f"nsadmin updateBrokerConfig fileReservedTime 96 -b {slave.addr}\n"
    )
    assert run(*words, "-b", "broker-a,broker-a:1").err == ""
    assert run(*words, "-b", "broker-a:1").err == ""
    unchanged = ("updateBrokerConfig", "fileReservedTime", "72", "-n", server.addr, "-c", "C", "--dry-run")
    assert run(*unchanged).err == ""
    assert "slave" not in run("updateBrokerConfig", "fileReservedTime", "x", *unchanged[3:]).err


def test_what_is_so_already_is_unchanged(run: Run, master: TopicBroker) -> None:
    result = run("updateBrokerConfig", "-k", "fileReservedTime", "-v", "72", "-b", master.addr, "--json")
    assert (result.code, json.loads(result.out)[0]["result"]) == (0, "unchanged")


def test_a_setting_that_brokers_read_at_their_start_needs_a_restart(run: Run, master: TopicBroker) -> None:
    master.items["sendMessageThreadPoolNums"] = "2"
    words = ("updateBrokerConfig", "sendMessageThreadPoolNums", "32", "-b", master.addr, "--yes")
    remark = "nsadmin: sendMessageThreadPoolNums takes effect when the broker restarts\n"
    undo_words = f"updateBrokerConfig -k sendMessageThreadPoolNums -v 2 -b {master.addr}"
    told = [run(*words, *more).err for more in (["--dry-run"], [], [])]
    assert told == [remark, f"{remark}nsadmin: to undo it: nsadmin {undo_words}\n", ""]
    assert is_read_at_start("traceTopicEnable")
    assert not is_read_at_start("fileReservedTime")


@pytest.mark.parametrize(
    ("key", "value", "loss"),
    [
        ("listenPort", "1", "the broker registers with the new port at once, but listens on the old one"),
        ("flushDiskType", "SYNC_FLUSH", "a broker that changes to synchronous flush refuses all sends"),
    ],
)
def test_a_setting_that_breaks_a_running_broker_needs_consent(
    run: Run, master: TopicBroker, key: str, value: str, loss: str
) -> None:
    master.items |= {"listenPort": "10911", "flushDiskType": "ASYNC_FLUSH"}
    before = dict(master.items)
    words = ("updateBrokerConfig", key, value, "-b", master.addr)
    refused = run(*words)
    assert (refused.code, loss in refused.err, master.items) == (2, True, before)
    assert loss in run(*words, "--dry-run").err
    assert (run(*words, "--yes").code, master.items[key]) == (0, value)


@pytest.mark.parametrize(
    ("key", "lower", "higher", "loss"),
    [
        (
            "fileReservedTime", "24", "96",
            "nsadmin: brokers delete messages that are older than 24 h at deleteWhen, or soon if the disk is "
            "nearly full, also those that groups have not read",
        ),
        (
            "diskSpaceCleanForciblyRatio", "60", "90",
            "nsadmin: above 60 % of the disk, brokers delete their oldest messages, also those that groups "
            "have not read",
        ),
    ],
)  # fmt: skip
def test_a_lower_setting_that_deletes_messages_needs_consent(
    run: Run, master: TopicBroker, key: str, lower: str, higher: str, loss: str
) -> None:
    master.items["diskSpaceCleanForciblyRatio"] = "85"
    before = master.items[key]
    words = ("updateBrokerConfig", key, lower, "-b", master.addr)
    refused = run(*words)
    told = f"{loss.removeprefix('nsadmin: ')}: to do it without a terminal, pass --yes"
    assert (refused.code, refused.err, master.items[key]) == (
        2,
        f"nsadmin: updateBrokerConfig: {told}\n",
        before,
    )
    assert run(*words, "--dry-run").err == f"{loss}\n"
    assert loss in run(*words, "--yes").err
    assert master.items[key] == lower
    assert (run("updateBrokerConfig", key, higher, "-b", master.addr).code, master.items[key]) == (0, higher)


def test_a_word_that_is_no_constant_is_refused(run: Run, master: TopicBroker) -> None:
    master.items["flushDiskType"] = "SYNC_FLUSH"
    result = run("updateBrokerConfig", "flushDiskType", "ASYNC", "-b", master.addr, "--dry-run", "--json")
    [row] = json.loads(result.out)
    text = 'invalid value "ASYNC" of flushDiskType: use ASYNC_FLUSH or SYNC_FLUSH (now "SYNC_FLUSH")'
    assert (result.code, row["error"]) == (1, text)


def test_what_a_broker_ignores_is_a_failure(run: Run, master: TopicBroker) -> None:
    result = run("updateBrokerConfig", "fileReservedTime", "soon", "-b", master.addr, "--json")
    assert (result.code, json.loads(result.out)[0]["result"]) == (1, "failed")


def test_an_unknown_setting_is_the_first_line_with_the_command_that_lists_the_settings(
    run: Run, server: FakeNameServer, master: TopicBroker, slave: TopicBroker
) -> None:
    server.clusters = {"C": {"broker-a": {0: master.addr, 1: slave.addr}}}
    result = run("updateBrokerConfig", "noSuch", "1", "-c", "C", "-n", server.addr)
    listing = f"nsadmin getBrokerConfig {master.addr}"
    assert (result.code, result.out, result.err) == (
        5, "", f'nsadmin: no setting "noSuch": `{listing}` lists the settings\n',
    )  # fmt: skip


def test_a_broker_without_master_is_told(
    run: Run, server: FakeNameServer, slave: TopicBroker, master: TopicBroker
) -> None:
    server.clusters = {"C": {"broker-a": {1: slave.addr}, "broker-b": {0: master.addr}}}
    result = run("updateBrokerConfig", "fileReservedTime", "99", "-c", "C", "-n", server.addr, "--json")
    assert result.code == 3
    assert [(row["brokerName"], row["error"]) for row in json.loads(result.out)] == [
        ("broker-a", "this broker has no master now"),
        ("broker-b", None),
    ]


def test_a_dummy_value_is_asked_back(run: Run, master: TopicBroker) -> None:
    result = run("updateBrokerConfig", "a", "b", "-b", master.addr, "-a", "x")
    assert (result.code, result.err) == (
        2,
        'nsadmin: invalid value "x" for -a: expected true or false\n',
    )


def test_a_silent_name_server_is_named_although_the_broker_made_the_change(
    run: Run, server: FakeNameServer, master: TopicBroker
) -> None:
    """A broker answers a new brokerPermission only after all of its name servers did."""
    master.items["brokerPermission"] = "6"
    put_item = master.handlers[RequestCode.UPDATE_BROKER_CONFIG]
    master.handlers[RequestCode.UPDATE_BROKER_CONFIG] = lambda asked: put_item(asked) and None
    with FakeNameServer() as frozen:
        frozen.handlers[RequestCode.GET_KV_CONFIG] = answer_nothing
        master.items["namesrvAddr"] = f"{server.addr};{frozen.addr}"
        words = ("updateBrokerConfig", "brokerPermission", "4", "-b", master.addr, "-n", server.addr)
        result = run(*words, "--timeout", "0.3", "--yes", "--json")
    assert result.code == 3
    [row] = json.loads(result.out)
    assert (row["result"], row["after"], row["error"]) == ("done", "4", None)
    assert result.err == (
        f"nsadmin: name server {frozen.addr}: no answer within 0.3 s: {master.addr} made the change "
        "but cannot register it here yet\n"
        f"nsadmin: to undo it: nsadmin updateBrokerConfig -k brokerPermission -v 6 -b {master.addr}\n"
    )
