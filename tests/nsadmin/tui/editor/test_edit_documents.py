"""The texts that an editor opens, and the commands for what was changed in them."""

import json
from typing import Any

import pytest

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.editor.edit_documents import (
    EditDocument,
    EditTarget,
    InvalidEditError,
    diff_texts,
    find_edit_target,
    needs_cluster,
)

KV = RowSubject(namespace="NS", key="stage")
BROKER = RowSubject(broker_name="broker-a", broker_addr="h:1", cluster="C")
SETTINGS = [{"key": "fileReservedTime", "value": "72"}, {"key": "slaveReadEnable", "value": "true"},
            {"key": "brokerIP1", "value": "10.0.0.1"}, {"key": "odd", "value": "a\nb"}]  # fmt: skip
MISSING = 'the setting "fileReservedTime" is missing: a server cannot remove a setting'
EXPORT = "version: 1\ncluster: C\ntopics:\n  orders: {readQueueNums: 4}\n  users: {}\n"


def target_of(subject: RowSubject) -> EditTarget:
    target = find_edit_target(subject)
    assert target is not None
    return target


def document_of(subject: RowSubject, output: Any) -> EditDocument:
    return target_of(subject).build_document(output if isinstance(output, str) else json.dumps(output))


def words(document: EditDocument, text: str) -> list[list[str]]:
    return [list(planned.words) for planned in document.plan_changes(text, "/tmp/f.yaml")]


def test_a_row_has_its_most_specific_object() -> None:
    assert target_of(KV).read_words == ["kv", "get", "NS", "stage"]
    assert target_of(BROKER).read_words == ["getBrokerConfig", "-b", "h:1"]
    assert target_of(BROKER._replace(key="k")).confirm_target == "broker-a"
    assert target_of(RowSubject(name_server="n:1", key="k")).read_words == ["getNamesrvConfig"]
    assert target_of(RowSubject(topic="orders", cluster="C")).read_words == ["export", "C"]
    assert target_of(RowSubject(group="g", topic="orders", cluster="C")).title == "group g"
    assert find_edit_target(RowSubject()) is None
    assert needs_cluster(RowSubject(topic="orders"))
    assert not needs_cluster(KV)
    assert not needs_cluster(RowSubject())


def test_a_value_keeps_its_end() -> None:
    document = document_of(KV, [{"value": None}, {"value": "canary"}])
    assert document.text == "canary\n"
    assert words(document, "blue\n") == [["updateKvConfig", "NS", "stage", "blue"]]
    assert words(document, "a\nb") == [["updateKvConfig", "NS", "stage", "a\nb"]]
    assert words(document, "--yes") == [["updateKvConfig", "--", "NS", "stage", "--yes"]]
    assert words(document_of(KV, [{"value": "x\n"}]), "y\n") == [["updateKvConfig", "NS", "stage", "y\n"]]


def test_each_changed_setting_is_a_command() -> None:
    document = document_of(BROKER, SETTINGS)
    found = document.text.splitlines()[1:]
    assert found == ["brokerIP1=10.0.0.1", "fileReservedTime=72", "slaveReadEnable=true"]
    assert words(document, document.text) == []
    changed = document.text.replace("=72", "=48").replace("10.0.0.1", "a=b c")
    assert words(document, f"# why\n\n{changed}") == [
        ["updateBrokerConfig", "-b", "h:1", "-k", "brokerIP1", "-v", "a=b c"],
        ["updateBrokerConfig", "-b", "h:1", "-k", "fileReservedTime", "-v", "48"],
    ]


def test_settings_of_one_name_server_change_all() -> None:
    rows = [{"namesrvAddr": f"n:{value}", "key": "k", "value": value} for value in "12"]
    document = document_of(RowSubject(name_server="n:2", key="k"), rows)
    assert words(document, "k=3") == [["updateNamesrvConfig", "-k", "k", "-v", "3"]]
    assert "k=2" in document.text


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("=72", "=soon", 'line 3: invalid value "soon" for fileReservedTime: use a whole number'),
        ("=true", "=yes", 'line 4: invalid value "yes" for slaveReadEnable: use true or false'),
        ("fileReservedTime=72", "fileReservedTime", "line 3: expected KEY=VALUE"),
        ("fileReservedTime=72\n", "", MISSING),
        ("slaveReadEnable", "fileReservedTime", 'line 4: the setting "fileReservedTime" is there twice'),
        ("brokerIP1", "x=1\nbrokerIP1", 'line 2: unknown setting "x"'),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_their_line(old: str, new: str, problem: str) -> None:
    document = document_of(BROKER, SETTINGS)
    with pytest.raises(InvalidEditError) as raised:
        document.plan_changes(document.text.replace(old, new, 1), "")
    assert str(raised.value) == problem


def test_a_topic_is_a_file_for_apply() -> None:
    document = document_of(RowSubject(topic="orders", cluster="C"), EXPORT)
    assert document.text.endswith("version: 1\ncluster: C\ntopics:\n  orders:\n    readQueueNums: 4\n")
    assert "#   writeQueueNums: number of write queues (default 8)" in document.text
    assert "users" not in document.text
    changed = document.text.replace(": 4", ": 8")
    assert words(document, changed) == [["apply", "/tmp/f.yaml"]]
    for text, problem in (
        (changed.replace("orders", "users"), "must have the topic orders, and no other"),
        (changed + "  users: {}\n", "must have the topic orders, and no other"),
        ("a: [", "the text is not valid YAML in line"),
        ("version: 1", "the text has no topics"),
    ):
        with pytest.raises(InvalidEditError, match=problem):
            document.plan_changes(text, "")


@pytest.mark.parametrize(
    ("subject", "output", "problem"),
    [
        (KV, "no such key", "the answer is not JSON"),
        (KV, [], "no server has it"),
        (KV, [{"value": None}], "no name server has it"),
        (BROKER, [{"key": "k", "value": None}], "the server reports no settings"),
        (RowSubject(topic="lost", cluster="C"), EXPORT, "the export of C has no topic lost"),
        (RowSubject(group="g", cluster="C"), "a: [", "the export is not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_one_line(subject: RowSubject, output: Any, problem: str) -> None:
    with pytest.raises(InvalidEditError, match=problem):
        document_of(subject, output)


def test_the_difference_is_short() -> None:
    assert diff_texts("a\nb\nc\nd", "a\nb\nx\nd")[2:] == ["@@ -2,3 +2,3 @@", " b", "-c", "+x", " d"]
    assert diff_texts("\n".join("a" * 300), "\n".join("b" * 300))[-1] == "… 403 lines more"
