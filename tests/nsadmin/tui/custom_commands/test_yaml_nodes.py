"""Nodes of a YAML file know their lines."""

import pytest

from nsadmin.tui.custom_commands import yaml_nodes
from nsadmin.tui.custom_commands.yaml_nodes import NodeError, parse_nodes


def test_entries_have_lines_and_texts() -> None:
    root = parse_nodes("a: 1\nb:\n  - x\n  - y\nc: true\nd:\n")
    assert root is not None
    nodes = {name: node for name, _, node in yaml_nodes.list_entries(root, "the file")}
    assert [yaml_nodes.line_of(node) for node in nodes.values()][:3] == [1, 3, 5]
    assert yaml_nodes.read_text(nodes["a"], "a") == "1"
    assert yaml_nodes.is_list(nodes["b"])
    assert yaml_nodes.read_texts(nodes["b"], "b") == ["x", "y"]
    assert yaml_nodes.read_flag(nodes["c"], "c") is True
    assert list(yaml_nodes.list_entries(nodes["d"], "d")) == []
    for reader in (yaml_nodes.read_texts, yaml_nodes.read_flag):
        with pytest.raises(NodeError) as raised:
            reader(nodes["a"], "a")
        assert raised.value.line == 1


def test_an_empty_document_has_no_root_and_a_wrong_one_a_line() -> None:
    assert parse_nodes("") is None
    with pytest.raises(NodeError) as raised:
        parse_nodes("a: 1\nb: [")
    assert raised.value.line >= 2
    with pytest.raises(NodeError, match="must be a text"):
        list(yaml_nodes.list_entries(parse_nodes("? [a]\n: b"), "the file"))  # type: ignore[arg-type]
