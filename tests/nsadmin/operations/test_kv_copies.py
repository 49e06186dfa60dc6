"""What makes name servers have the same KV config, and its file."""

import json

import pytest

from nsadmin.client.name_servers.kv_config import KvChange
from nsadmin.operations.kv_copies import InvalidKvFileError, format_kv_file, parse_kv_file, plan_kv_changes

WANTED = {"N": {"same": "1", "other": "2", "new": "3"}}
PRESENT = {"h:1": {"N": {"same": "1", "other": "x", "more": "4"}, "M": {"k": "v"}}, "h:2": {}}


def test_only_what_differs_is_written() -> None:
    assert plan_kv_changes(WANTED, PRESENT, prune=False) == [
        KvChange("h:1", "N", "new", None, "3"),
        KvChange("h:1", "N", "other", "x", "2"),
        KvChange("h:2", "N", "new", None, "3"),
        KvChange("h:2", "N", "other", None, "2"),
        KvChange("h:2", "N", "same", None, "1"),
    ]
    assert plan_kv_changes(WANTED, {"h:1": WANTED}, prune=True) == []


def test_pruning_deletes_keys_and_leaves_other_namespaces_alone() -> None:
    changes = plan_kv_changes(WANTED, {"h:1": PRESENT["h:1"]}, prune=True)
    assert [change for change in changes if change.after is None] == [KvChange("h:1", "N", "more", "4", None)]


def test_a_file_is_what_name_servers_keep() -> None:
    text = format_kv_file({"N": {"b": "\u4e3b\u9898", "a": "v"}})
    assert text.index('"a"') < text.index('"b"')
    assert json.loads(text) == {"configTable": {"N": {"a": "v", "b": "\u4e3b\u9898"}}}
    assert parse_kv_file(text) == {"N": {"a": "v", "b": "\u4e3b\u9898"}}
    assert parse_kv_file('{"configTable":{"ORDER_TOPIC_CONFIG":{"TopicA":"broker-a:8"}}}') == {
        "ORDER_TOPIC_CONFIG": {"TopicA": "broker-a:8"}
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "not a KV config"),
        ("{}", "not a KV config"),
        ('{"configTable": {"N": []}}', "not a KV config"),
        ('{"configTable": {"N": {"k": 1}}}', "the value of N k is not a string: put it in quotes"),
    ],
)
def test_what_is_no_such_file(text: str, reason: str) -> None:
    with pytest.raises(InvalidKvFileError, match=reason):
        parse_kv_file(text)
