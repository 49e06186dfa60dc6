"""What may be done to which rows, and which command lines are refused."""

import pytest

from nsadmin.tui import actions
from nsadmin.tui.views.view import About

BROKER = About(broker_name="broker-a", broker_addr="10.0.1.1:10911", cluster="cluster-a")


def names(about: About) -> set[str]:
    return {action.id for action in actions.suiting(about)}


def test_a_broker_is_wiped_and_restored_and_no_topic_of_it() -> None:
    assert {"wipe", "restore"} <= names(BROKER)
    assert names(BROKER._replace(topic="orders")) == {"deleteTopic"}
    assert names(About()) == set()


@pytest.mark.parametrize(
    ("action_id", "about", "texts", "words", "target"),
    [
        ("wipe", BROKER, {}, "wipeWritePerm broker-a", "broker-a"),
        ("restore", BROKER, {}, "addWritePerm broker-a", "broker-a"),
        ("deleteTopic", About(topic="t"), {"cluster": "c"}, "deleteTopic -t t -c c", "t"),
        ("setKv", About(namespace="NS", key="k", value="v"), {"value": "w"}, "updateKvConfig NS k w", "k"),
        (
            "setBrokerConfig", BROKER._replace(key="k", value="v"), {"value": "w"},
            "updateBrokerConfig -b 10.0.1.1:10911 -k k -v w", "broker-a",
        ),
        (
            "setNameServerConfig", About(name_server="h:1", key="k", value="v"), {"value": "w"},
            "updateNamesrvConfig -k k -v w", "k",
        ),
    ],
)  # fmt: skip
def test_an_action_is_a_command_line_and_a_word_to_type(
    action_id: str, about: About, texts: dict[str, str], words: str, target: str
) -> None:
    [action] = [each for each in actions.suiting(about) if each.id == action_id]
    assert (action.words(about, texts), action.target(about)) == (words.split(), target)
    assert [field.now(about) for field in action.fields if field.name == "value"] in ([], ["v"])
    assert actions.changes(words.split())


def test_no_key_means_two_things_for_one_row() -> None:
    for about in (BROKER, BROKER._replace(key="k"), About(topic="t"), About(namespace="n", key="k"),
                  About(name_server="h:1", key="k")):  # fmt: skip
        keys = [action.key for action in actions.suiting(about)]
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("line", "read_only", "why"),
    [
        ("topicList", True, None),
        ("wipeWritePerm b", False, None),
        ("wipeWritePerm b", True, "wipeWritePerm changes something, and this is read-only"),
        ("updateOrderConf t get", True, "updateOrderConf changes something, and this is read-only"),
        ("tui", False, "tui wants a terminal of its own"),
        ("lab up", False, "lab wants a terminal of its own"),
        ("topicLst", False, "no command 'topicLst': did you mean topicList"),
        ("zzz", False, "no command 'zzz'"),
    ],
)
def test_what_cannot_be_run_from_here(line: str, read_only: bool, why: str | None) -> None:
    found = actions.refusal(line.split(), read_only)
    assert (found or "").startswith(why or "")
    assert (found is None) == (why is None)


def test_what_reads_changes_nothing() -> None:
    assert not actions.changes(["topicList"])
    assert not actions.changes([])
