"""Reads a YAML file as nodes with their lines, so that each mistake can name its line. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from namesrv_core import operator_files

if TYPE_CHECKING:
    from yaml.nodes import Node


class NodeError(Exception):
    """A mistake in a file. `line` counts from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def parse_nodes(yaml_text: str) -> "Node | None":
    """The root of the document, or None for an empty one. Raises NodeError for invalid YAML."""
    import yaml

    try:
        operator_files.check_yaml(yaml_text, yaml.SafeLoader)
        root_node: Node | None = yaml.compose(yaml_text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        problem_mark = getattr(error, "problem_mark", None)
        problem_text = getattr(error, "problem", None) or "invalid YAML"
        raise NodeError(1 if problem_mark is None else problem_mark.line + 1, problem_text) from None
    return root_node


def line_of(node: "Node") -> int:
    return int(node.start_mark.line) + 1


def list_entries(node: "Node", map_name: str) -> Iterator[tuple[str, "Node", "Node"]]:
    """The key of each entry, and the nodes of its key and its value. An empty value has no entries."""
    from yaml.nodes import MappingNode, ScalarNode

    if isinstance(node, ScalarNode) and node.tag.endswith(":null"):
        return
    if not isinstance(node, MappingNode):
        raise NodeError(line_of(node), f"{map_name} must be a map")
    for key_node, value_node in node.value:
        if not isinstance(key_node, ScalarNode):
            raise NodeError(line_of(key_node), f"a key of {map_name} must be a text")
        yield key_node.value, key_node, value_node


def read_text(node: "Node", field_name: str) -> str:
    """A text that is not empty."""
    from yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode) or not str(node.value).strip():
        raise NodeError(line_of(node), f"{field_name} must be a text")
    return str(node.value).strip()


def read_texts(node: "Node", field_name: str) -> list[str]:
    """A list of texts."""
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode) or not node.value:
        raise NodeError(line_of(node), f"{field_name} must be a list of texts")
    return [read_text(item_node, field_name) for item_node in node.value]


def is_list(node: "Node") -> bool:
    from yaml.nodes import SequenceNode

    return isinstance(node, SequenceNode)


def read_flag(node: "Node", field_name: str) -> bool:
    """True or false."""
    flag_values: dict[Any, bool] = {"true": True, "false": False}
    flag = flag_values.get(str(node.value).lower())
    if flag is None:
        raise NodeError(line_of(node), f"{field_name} must be true or false")
    return flag
