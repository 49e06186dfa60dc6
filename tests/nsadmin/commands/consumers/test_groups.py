"""getConsumerConfig, updateSubGroup and deleteSubGroup."""

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, refuse_with


@pytest.mark.parametrize("flag", [None, "-g", "--groupName"])
def test_settings_on_every_broker(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, dead_addr: str, flag: str | None
) -> None:
    with ConsumerBroker() as other:
        other.configs = {}
        first_server.clusters = {
            "C": {"a": {0: consumer_broker.addr}, "b": {0: other.addr}},
            "D": {"d": {0: dead_addr}},
        }
        words = [flag, "G"] if flag else ["G"]
        result = ask("getConsumerConfig", *words, "--json")
        assert result.code == 3
        assert [(row["brokerName"], row["retryMaxTimes"], row["error"]) for row in result.json] == [
            ("a", 3, None),
            ("b", None, "this broker does not have the group"),
            ("d", None, "connection refused, no server listens on this port"),
        ]
        assert ask("getConsumerConfig", "G", "-c", "C").code == 0
    assert ask("getConsumerConfig", "X", "-c", "C").code == 3
    first_server.clusters = {"C": {"a": {0: consumer_broker.addr}}}
    assert ask("getConsumerConfig", "X").code == 5


def test_a_change_keeps_what_is_not_named(ask: Run, consumer_broker: ConsumerBroker) -> None:
    result = ask("updateSubGroup", "G", "-c", "C", "-s", "false", "--json")
    assert (result.code, result.err) == (
        0, "nsadmin: clients finish the messages that they have already fetched, then they get no more\n",
    )  # fmt: skip
    [row] = result.json
    assert row == {
        "brokerName": "broker-a",
        "brokerId": 0,
        "brokerAddr": consumer_broker.addr,
        "group": "G",
        "changes": "consumeEnable none -> false",
        "before": {"groupName": "G", "retryMaxTimes": 3},
        "after": {"groupName": "G", "retryMaxTimes": 3, "consumeEnable": False},
        "result": "done",
        "error": None,
    }
    assert consumer_broker.configs["G"]["retryMaxTimes"] == 3


def test_a_pause_of_an_unknown_group_says_that_nothing_is_paused(
    ask: Run, consumer_broker: ConsumerBroker
) -> None:
    result = ask("updateSubGroup", "Mistyped", "-c", "C", "-s", "false", "--dry-run")
    assert (result.code, result.err) == (
        0,
        "nsadmin: Mistyped is a new group, so nothing is paused: run nsadmin consumerProgress to list the "
        "groups\n",
    )


def test_every_flag_of_mqadmin_is_understood(run: Run, consumer_broker: ConsumerBroker) -> None:
    flags = ["-s", "true", "-m", "true", "-d", "true", "-o", "true", "-a", "false"]
    flags += ["-q", "2", "-r", "5", "-i", "1", "-w", "2", "--attributes", "+priority.factor=1,-b"]
    flags += ["-p", '{"type":"CUSTOMIZED"}']
    result = run("updateSubGroup", "-g", "New", "-b", consumer_broker.addr, *flags)
    assert (result.code, result.err) == (
        0,
        "nsadmin: Java push consumers use the limit of their application (maxReconsumeTimes), not this one: "
        "16 by default, and no limit if they consume in order\n",
    )
    assert consumer_broker.configs["New"] == {
        "groupName": "New",
        "consumeEnable": True,
        "consumeFromMinEnable": True,
        "consumeBroadcastEnable": True,
        "consumeMessageOrderly": True,
        "retryQueueNums": 2,
        "retryMaxTimes": 5,
        "groupRetryPolicy": {"type": "CUSTOMIZED"},
        "brokerId": 1,
        "whichBrokerWhenConsumeSlowly": 2,
        "notifyConsumerIdsChangedEnable": False,
        "attributes": {"priority.factor": "1"},
    }


def test_a_change_dry_shows_before_and_after(ask: Run, consumer_broker: ConsumerBroker) -> None:
    result = ask("updateSubGroup", "G", "-c", "C", "-r", "9", "--dry-run")
    assert result.code == 0
    line = result.out.splitlines()[1]
    assert line.split()[:4] == ["broker-a", "0", consumer_broker.addr, "G"]
    assert line.endswith("  retryMaxTimes 3 -> 9  dry-run  -")
    assert 200 not in consumer_broker.asked_codes()
    same = ask("updateSubGroup", "G", "-c", "C", "-r", "3", "--json")
    assert same.json[0]["result"] == "unchanged"


@pytest.mark.parametrize(
    "words",
    [
        ["G"],
        ["G", "-b", "h:1", "-c", "C"],
        ["G", "-c", "C", "-s", "yes"],
        ["G", "-c", "C", "-p", "often"],
        ["G", "-c", "C", "-p", "3"],
        ["G", "-c", "C", "--attributes", "a=1"],
        ["G", "-c", "C", "--attributes", "+a"],
        ["G", "-c", "C", "--attributes", "+priority.factor=101"],
    ],
)
def test_wrong_words_are_one_line(ask: Run, consumer_broker: ConsumerBroker, words: list[str]) -> None:
    result = ask("updateSubGroup", *words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert 200 not in consumer_broker.asked_codes()


def test_a_failing_master_does_not_hide_the_other(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: consumer_broker.addr}, "b": {0: dead_addr}, "c": {1: "h:1"}}}
    result = ask("updateSubGroup", "G", "-c", "C", "-r", "9", "--json")
    assert result.code == 3
    assert [(row["result"], row["error"]) for row in result.json] == [
        ("done", None),
        ("failed", "connection refused, no server listens on this port"),
        ("failed", "this broker has no master now"),
    ]


def test_deleting_needs_a_yes(ask: Run, consumer_broker: ConsumerBroker) -> None:
    assert ask("deleteSubGroup", "G", "-b", consumer_broker.addr).code == 2
    result = ask("deleteSubGroup", "G", "-c", "C", "-r", "true", "--dry-run", "--json")
    assert [row["result"] for row in result.json] == ["dry-run"]
    assert ("G" in consumer_broker.configs, result.err) == (True, "")


OFFSETS_STAY = (
    "nsadmin: the offsets of G stay, and a new group of this name continues at them: "
    "-r true also deletes them\n"
)


def test_offsets_that_a_deleted_group_leaves_are_told_and_can_be_deleted_later(
    ask: Run, consumer_broker: ConsumerBroker
) -> None:
    deleted = ask("deleteSubGroup", "G", "-c", "C", "--if-unused", "--yes")
    assert (deleted.code, deleted.err, consumer_broker.configs) == (0, OFFSETS_STAY, {})
    words = ("deleteSubGroup", "G", "-c", "C", "-r", "true", "--json")
    planned = ask(*words, "--dry-run")
    assert [(row["changes"], row["result"]) for row in planned.json] == [("removed: offsets", "dry-run")]
    assert consumer_broker.offsets != {}
    cleaned = ask(*words, "--yes")
    assert (cleaned.code, cleaned.err) == (0, "")
    assert [(row["changes"], row["result"]) for row in cleaned.json] == [("removed: offsets", "done")]
    assert consumer_broker.offsets == {}
    assert ask(*words, "--yes").code == 5


@pytest.mark.parametrize(
    ("option", "note"),
    [
        ("--dry-run", "the group G has 2 connected clients: stop 10.0.0.8@1, 10.0.0.9@1 first"),
        (
            "--yes",
            "stop 10.0.0.8@1, 10.0.0.9@1: connected clients of the deleted group G get no messages, or make "
            "brokers create it again",
        ),
    ],
)
def test_connected_clients_of_a_deleted_group_are_named(
    ask: Run, consumer_broker: ConsumerBroker, option: str, note: str
) -> None:
    consumer_broker.clients = {"G": ["10.0.0.9@1", "10.0.0.8@1"]}
    assert ask("deleteSubGroup", "G", "-c", "C", "-r", "true", option).err == f"nsadmin: {note}\n"


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
def test_a_group_with_clients_stays_if_only_an_unused_one_may_go(
    ask: Run, consumer_broker: ConsumerBroker, option: str
) -> None:
    words = ("deleteSubGroup", "G", "-c", "C", "--if-unused", option)
    consumer_broker.clients = {"G": ["10.0.0.9@1"]}
    refused = ask(*words)
    assert (refused.code, refused.out) == (1, "")
    assert "nothing is deleted: the group G has 1 connected client: stop 10.0.0.9@1 first\n" in refused.err
    assert "G" in consumer_broker.configs
    list_clients = consumer_broker.handlers[203]
    consumer_broker.handlers[203] = refuse_with(1, "no")
    unknown = ask(*words)
    assert (unknown.code, "the clients of G are unknown: 127.0.0.1:" in unknown.err) == (1, True)
    assert "G" in consumer_broker.configs
    consumer_broker.clients, consumer_broker.handlers[203] = {}, list_clients
    assert ask(*words).code == 0
    assert ("G" in consumer_broker.configs) == (option == "--dry-run")


def test_deleting_from_one_broker(run: Run, consumer_broker: ConsumerBroker) -> None:
    before = dict(consumer_broker.configs["G"])
    result = run("deleteSubGroup", "-g", "G", "-b", consumer_broker.addr, "-r", "true", "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json == [
        {
            "server": consumer_broker.addr,
            "role": "master",
            "group": "G",
            "topic": None,
            "changes": "removed: retryMaxTimes 3",
            "before": before,
            "after": None,
            "result": "done",
            "error": None,
        }
    ]
    assert (consumer_broker.configs, consumer_broker.offsets) == ({}, {})
    assert run("deleteSubGroup", "-g", "G", "-b", consumer_broker.addr, "--yes").code == 5


def test_deleting_from_a_cluster_takes_its_topics(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.topics = {"%RETRY%G": []}
    first_server.routes["%RETRY%G"] = {"broker-a": 6}
    result = ask("deleteSubGroup", "G", "-c", "C", "--yes", "--json")
    assert (result.code, result.err) == (0, OFFSETS_STAY)
    assert [(row["role"], row["topic"], row["result"]) for row in result.json] == [
        ("master", None, "done"),
        ("master", "%RETRY%G", "done"),
        ("namesrv", "%RETRY%G", "done"),
    ]
    assert (consumer_broker.topics, consumer_broker.offsets) == ({}, {("G", "T", 0): 90})


def make_anew(broker: ConsumerBroker) -> None:
    """As 5.5.0 does where offsets are to stay: the group is there again, with the settings of a new one."""

    def delete(asked: RemotingCommand) -> RemotingCommand:
        broker.configs["G"] = {"groupName": "G", "consumeEnable": True, "retryMaxTimes": 16}
        broker.forbidden.clear()
        return build_reply(asked)

    broker.handlers[207] = delete


def test_a_group_that_is_made_anew_gets_its_settings_back_and_keeps_its_topics(
    ask: Run, consumer_broker: ConsumerBroker
) -> None:
    settings = {
        "groupName": "G", "consumeEnable": False, "retryMaxTimes": 5, "attributes": {"priority.factor": "7"},
    }  # fmt: skip
    consumer_broker.configs["G"] = dict(settings)
    consumer_broker.topics = {"%DLQ%G": []}
    consumer_broker.forbidden = {"G": {"T": 4, "Open": 0}, "Other": {"T": 4}}
    make_anew(consumer_broker)
    result = ask("deleteSubGroup", "G", "-c", "C", "-y", "--json")
    assert (result.code, consumer_broker.topics) == (1, {"%DLQ%G": []})
    [row] = result.json
    assert row["result"] == "failed"
    assert row["error"].startswith("the broker created the group again, and its settings are restored. 5.5")
    assert consumer_broker.configs["G"] == settings
    assert consumer_broker.forbidden == {"G": {"T": 4}}
    assert "%RETRY%G and %DLQ%G stay, because the group still exists" in result.err


def test_settings_that_cannot_be_restored_are_told(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    make_anew(consumer_broker)
    consumer_broker.handlers[200] = refuse_with(1, "no space left")
    result = run("deleteSubGroup", "G", "-b", consumer_broker.addr, "-r", "true", "-y", "--json")
    assert result.code == 1
    assert "its settings are not restored: " in result.json[0]["error"]
    assert "no space left" in result.json[0]["error"]


def test_its_topics_can_be_kept_and_their_failure_is_told(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.topics = {"%DLQ%G": []}
    consumer_broker.handlers[215] = refuse_with(1, "no")
    config = consumer_broker.configs["G"]
    assert ask("deleteSubGroup", "G", "-c", "C", "-y", "--keep-topics").code == 0
    consumer_broker.configs["G"] = config
    result = ask("deleteSubGroup", "G", "-c", "C", "-y", "--json")
    assert result.code == 3
    assert [row["result"] for row in result.json] == ["done", "failed", "skipped"]


def test_one_master_of_two_had_it(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as other:
        other.configs = {}
        first_server.clusters = {"C": {"a": {0: consumer_broker.addr}, "b": {0: other.addr}}}
        result = ask("deleteSubGroup", "G", "-c", "C", "--yes", "--json")
        assert result.code == 0
        assert [row["result"] for row in result.json] == ["done", "not found"]


def test_several_groups_are_deleted(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.configs |= {
        name: {**consumer_broker.configs["G"], "groupName": name} for name in ("G2", "H")
    }
    result = ask("deleteSubGroup", "G*", "-c", "C", "-y", "--json", "--keep-topics")
    assert result.code == 0
    assert [(row["group"], row["result"]) for row in result.json] == [("G", "done"), ("G2", "done")]
    assert "H" in consumer_broker.configs
    assert not {"G", "G2"} & consumer_broker.configs.keys()


def test_other_clusters_with_the_group_are_named(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as other:
        first_server.clusters = {"C": {"a": {0: consumer_broker.addr}}, "D": {"b": {0: other.addr}}}
        paused = ("updateSubGroup", "G", "-s", "false", "--dry-run")
        stays = "nsadmin: G keeps its settings in D: pass '*' as the cluster for all clusters\n"
        assert stays in ask(*paused, "-c", "C").err
        assert "keeps its settings" not in ask(*paused, "-c", "*").err
        deleted = ask("deleteSubGroup", "G", "-c", "C", "--dry-run")
        assert "nsadmin: G stays in D: pass '*' as the cluster for all clusters\n" in deleted.err


def test_a_pause_that_one_broker_missed_says_so(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: consumer_broker.addr}, "b": {0: dead_addr}}}
    paused = ask("updateSubGroup", "G", "-s", "false", "-c", "C")
    assert paused.code == 3
    assert paused.err.startswith(f"nsadmin: failed on 1 of 2 servers: {dead_addr}: connection refused")
    assert "clients finish the messages that they have already fetched" in paused.err


def test_a_pattern_of_clusters_creates_a_group_only_if_no_cluster_has_it(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as other:
        other.configs = {}
        first_server.clusters = {"C": {"a": {0: consumer_broker.addr}}, "D": {"b": {0: other.addr}}}
        paused = ask("updateSubGroup", "G", "-s", "false", "-c", "*", "--json")
        assert (paused.code, paused.err) == (
            0,
            "nsadmin: G is not created in D, which does not have it: pass -c D to create it there\n"
            "nsadmin: clients finish the messages that they have already fetched, then they get no more\n",
        )  # fmt: skip
        assert [row["brokerName"] for row in paused.json] == ["a"]
        assert other.configs == {}
        assert ask("updateSubGroup", "New", "-c", "*").err == ""
        assert "New" in other.configs


def test_a_new_group_with_a_similar_name_is_questioned(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.configs["warehouse"] = {**consumer_broker.configs["G"], "groupName": "warehouse"}
    created = ask("updateSubGroup", "warehose", "-c", "C", "--dry-run")
    assert created.err == 'nsadmin: "warehose" is new: did you mean "warehouse"?\n'
    assert ask("updateSubGroup", "another", "-c", "C", "--dry-run").err == ""


def test_a_group_of_another_cluster_is_no_mistake(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as other:
        first_server.clusters = {"C": {"a": {0: consumer_broker.addr}}, "D": {"b": {0: other.addr}}}
        consumer_broker.configs = {"warehouse2": {"groupName": "warehouse2"}}
        other.configs = {"warehouse": {"groupName": "warehouse"}}
        assert "is new" not in ask("updateSubGroup", "warehouse", "-c", "C", "--dry-run").err
        on_broker = ask("updateSubGroup", "warehouse", "-b", consumer_broker.addr, "--dry-run")
        assert "is new" not in on_broker.err
        assert '"warehouse3" is new' in ask("updateSubGroup", "warehouse3", "-c", "C", "--dry-run").err
