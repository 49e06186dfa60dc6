"""What may be done to which rows, and which command lines are refused."""

import pytest

from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.planned_commands import plan_commands
from nsadmin.tui.actions.row_actions import ALL_ACTIONS, RowAction, RowSubject
from tests.support.screens import NOON

BROKER = RowSubject(broker_name="broker-a", broker_addr="10.0.1.1:10911", cluster="cluster-a")


def list_suitable(about: RowSubject) -> list[RowAction]:
    return [action for action in ALL_ACTIONS if action.applies_to(about)]


def names(about: RowSubject) -> set[str]:
    return {action.action_id for action in list_suitable(about)}


def test_a_broker_is_wiped_and_restored_and_no_topic_of_it() -> None:
    assert {"wipe", "restore"} <= names(BROKER)
    assert names(BROKER._replace(topic="orders")) == {"deleteTopic"}
    assert names(RowSubject()) == set()


def test_a_restart_is_resumed_with_the_commands_with_which_it_began() -> None:
    restart = RowSubject(cluster="cluster-a", restart_commands=("ssh stop", "ssh start"))
    [action] = list_suitable(restart)
    assert [read(restart) for read in action.input_fields.values()] == ["ssh stop", "ssh start"]
    assert "rollingRestart" not in names(BROKER._replace(cluster=None))


@pytest.mark.parametrize(
    ("action_id", "about", "texts", "words", "target"),
    [
        ("wipe", BROKER, {}, "wipeWritePerm broker-a", "broker-a"),
        ("restore", BROKER, {}, "addWritePerm broker-a", "broker-a"),
        ("deleteTopic", RowSubject(topic="t"), {"cluster": "c"}, "deleteTopic -t t -c c", "t"),
        (
            "rollingRestart", BROKER, {"stop command": "halt", "start command": "boot"},
            "rollingRestart -c cluster-a --stop halt --start boot", "cluster-a",
        ),
        (
            "resetOffset", RowSubject(group="g", topic="orders"),
            {"topic": "orders", "time: 2h for two hours ago, 14:03, or -1 for the end": "2h"},
            "resetOffsetByTime -g g -t orders -s 2h", "g",
        ),
        ("setKv", RowSubject(namespace="NS", key="k", value="v"), {"value": "w"}, "updateKvConfig "
        "NS k w", "k"),
        (
            "setBrokerConfig", BROKER._replace(key="k", value="v"), {"value": "w"},
            "updateBrokerConfig -b 10.0.1.1:10911 -k k -v w", "broker-a",
        ),
        (
            "setNameServerConfig", RowSubject(name_server="h:1", key="k", value="v"), {"value": "w"},
            "updateNamesrvConfig -k k -v w", "k",
        ),
    ],
)  # fmt: skip
def test_an_action_is_a_command_line_and_a_word_to_type(
    action_id: str, about: RowSubject, texts: dict[str, str], words: str, target: str
) -> None:
    [action] = [each for each in list_suitable(about) if each.action_id == action_id]
    assert (action.build_words(about, texts), action.confirm_target(about)) == (words.split(), target)
    assert [read(about) for name, read in action.input_fields.items() if name == "value"] in ([], ["v"])
    assert row_actions.needs_confirmation(words.split())


def test_dead_letters_of_a_group_are_replayed_by_one_command() -> None:
    [action] = [action for action in ALL_ACTIONS if action.action_id == "replay"]
    letters = [
        RowSubject(group="g", letter_ids=(f"id{number}",), letter_times=(NOON + number, NOON + number))
        for number in range(150)
    ]
    assert not action.applies_to(RowSubject(group="g"))
    assert action.build_words(letters[0], {}) == [
        "dlq", "replay", "g", "--from", "2025-12-31T12:00:00.000Z", "--until", "2025-12-31T12:00:00.001Z",
        "--id", "id0",
    ]  # fmt: skip
    planned = plan_commands(action, letters, {})
    assert [(command.title, command.words.count("--id")) for command in planned] == [
        ("g", 100), ("g", 50),
    ]  # fmt: skip
    assert planned[0].words[3:7] == (
        "--from", "2025-12-31T12:00:00.000Z", "--until", "2025-12-31T12:00:00.100Z",
    )  # fmt: skip
    named_like_an_option = letters[0]._replace(group="-g")
    assert action.build_words(named_like_an_option, {})[2:4] == ["--consumerGroup", "-g"]


@pytest.mark.parametrize("action_id", ["wipe", "restore", "drain", "undrain"])
def test_the_name_of_a_broker_is_no_option(action_id: str) -> None:
    about = BROKER._replace(broker_name="--yes")
    [action] = [each for each in list_suitable(about) if each.action_id == action_id]
    assert action.build_words(about, {})[1:] == ["--", "--yes"]


def test_a_key_of_the_kv_config_is_no_option() -> None:
    about = RowSubject(namespace="NS", key="-n", value="v")
    [action] = list_suitable(about)
    assert action.build_words(about, {"value": "-w"}) == ["updateKvConfig", "--", "NS", "-n", "-w"]


def test_no_key_means_two_things_for_one_row() -> None:
    for about in (BROKER, BROKER._replace(key="k"), RowSubject(topic="t"), RowSubject(namespace="n", key="k"),
                  RowSubject(name_server="h:1", key="k")):  # fmt: skip
        keys = [action.shortcut_key for action in list_suitable(about)]
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("line", "read_only", "why"),
    [
        ("topicList", True, None),
        ("wipeWritePerm b", False, None),
        ("wipeWritePerm b", True, "wipeWritePerm changes the cluster, and this context is read-only"),
        ("updateOrderConf t get", True, "updateOrderConf changes the cluster, and this context is read-only"),
        ("tui", False, "tui needs its own terminal"),
        ("lab up", False, "lab up needs its own terminal"),
        ("topicLst", False, 'unknown command "topicLst": did you mean "topicList"?'),
        ("zzz", False, 'unknown command "zzz"'),
        ("kv frob", False, 'unknown command "kv frob": use get, list, diff'),
        ("kv", False, 'missing command after "kv": use get, list, diff'),
    ],
)
def test_what_cannot_be_run_from_here(line: str, read_only: bool, why: str | None) -> None:
    refusal = row_actions.explain_refusal(line.split(), read_only)
    assert (refusal or "").startswith(why or "")
    assert (refusal is None) == (why is None)


def test_what_reads_changes_nothing() -> None:
    assert not row_actions.needs_confirmation(["topicList"])
    assert not row_actions.needs_confirmation([])
