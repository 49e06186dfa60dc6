"""Files that an operator or another program wrote: reads text, JSON and YAML within limits.

Rule: what is too large, too deep or too often repeated is refused before values are made of it. The C parser
of YAML crashes on deep nesting, and twenty lines of nested aliases stand for gigabytes.
"""

import errno
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.file_shapes import Path, WrittenNull

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 64 * 1024 * 1024
MAX_CONFIG_CHARACTERS = 1024 * 1024
"""The limit for files that are read by Python's YAML parser, which is slow."""
MAX_YAML_DEPTH = 50
MAX_YAML_VALUES = 2_000_000
"""Keys, values, lists and maps, counted as often as aliases and merge keys repeat them."""
_NULL_TAG = "tag:yaml.org,2002:null"
_MERGE_TAG = "tag:yaml.org,2002:merge"
# What PyYAML raises for values that do not suit their tag, such as 2001-99-99 or a number of 5,000 digits.
_ODD_VALUE_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def read_text(
    file_path: "str | os.PathLike[str]",
    *,
    max_characters: int = MAX_CHARACTERS,
    encoding: str | None = "utf-8",
) -> str:
    """Read a text file. Raises OSError, also for a file that is too large, and UnicodeDecodeError."""
    with open(file_path, encoding=encoding) as text_file:
        file_text = text_file.read(max_characters + 1)
    if len(file_text) > max_characters:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(file_path))
    return file_text


def read_bytes(file_path: "str | os.PathLike[str]", *, max_bytes: int = MAX_CHARACTERS) -> bytes:
    """Read a file. Raises OSError, also for a file that is too large."""
    with open(file_path, "rb") as binary_file:
        file_content = binary_file.read(max_bytes + 1)
    if len(file_content) > max_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(file_path))
    return file_content


def parse_json(json_text: str | bytes) -> Any:
    """Like `json.loads`, but raises ValueError also for JSON that is nested too deeply."""
    import json

    try:
        return json.loads(json_text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class InvalidYaml(ValueError):
    """The text is no YAML, or beyond the limits. `problem` may quote the text; `line` counts from 1."""

    def __init__(self, error: "yaml.YAMLError") -> None:
        mark = getattr(error, "problem_mark", None)
        self.line: int | None = mark.line + 1 if mark else None
        self.problem: str | None = getattr(error, "problem", None)
        super().__init__(self.problem or str(error))

    @property
    def in_line(self) -> str:
        """Such as " in line 3"; "" if the line is not known."""
        return f" in line {self.line}" if self.line else ""


class BadKey(NamedTuple):
    """A duplicate key, or a `<<` without a map. `path` is that of the key, or of the map with the `<<`."""

    path: Path
    line: int
    problem: str
    is_duplicate: bool = False


class YamlDocument:
    """A document of YAML whose values know their lines.

    Scalars are what YAML says that they are, or texts with `is_as_written`, even numbers and `yes`. Then maps
    are merged also if `<<` does not name a map. Of duplicate keys, the last one counts.
    """

    def __init__(self, yaml_text: str, *, is_as_written: bool = False, is_small: bool = True) -> None:
        """Raises InvalidYaml. With `is_small`, Python's parser, which is slow, decides what is YAML."""
        import yaml

        try:
            self._root = _compose(yaml_text, is_small)
            self.bad_keys = list(_find_bad_keys(self._root, (), set()))
            self.value = self._make_value(is_as_written)
        except yaml.YAMLError as error:
            raise InvalidYaml(error) from None

    def _make_value(self, is_as_written: bool) -> Any:
        import yaml

        if self._root is None:
            return None
        constructor = yaml.constructor.SafeConstructor()
        if is_as_written:
            return _take_as_written(self._root, constructor.flatten_mapping, {})
        try:
            return constructor.construct_document(self._root)
        except _ODD_VALUE_ERRORS:
            raise yaml.YAMLError("invalid value") from None

    def line_of(self, path: Path, *, is_about_key: bool = False) -> int:
        """The line of the value at a path, or that of its key; of its nearest parent if it is not there."""
        from yaml.nodes import MappingNode, SequenceNode

        node: Any = self._root
        line = node.start_mark.line if node else 0
        for step in path:
            if isinstance(node, MappingNode):
                # The last pair of a key counts: those that are merged come first.
                pairs = [pair for pair in node.value if _key_of(pair[0]) in (step, str(step))][-1:]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                pairs = [(node.value[step], node.value[step])]
            else:
                break
            if not pairs:
                break
            key_node, node = pairs[0]
            line = (key_node if is_about_key else node).start_mark.line
        return int(line) + 1


def _compose(yaml_text: str, is_small: bool) -> "yaml.Node | None":
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_yaml(yaml_text)
    except yaml.composer.ComposerError:
        raise
    except yaml.YAMLError:
        if not is_small:
            raise
        # Python's parser accepts a little more than the C parser, and reports the line of a mistake better.
        loader = yaml.SafeLoader
        _check_yaml(yaml_text, loader)
    root_node: yaml.Node | None = yaml.compose(yaml_text, Loader=loader)
    return root_node


def _find_bad_keys(node: "yaml.Node | None", path: Path, visited_ids: set[int]) -> Iterator[BadKey]:
    """Looks at each map once, before it is merged."""
    from yaml.nodes import MappingNode, SequenceNode

    if id(node) in visited_ids:
        return
    visited_ids.add(id(node))
    if isinstance(node, SequenceNode):
        for index, item_node in enumerate(node.value):
            yield from _find_bad_keys(item_node, (*path, index), visited_ids)
    elif isinstance(node, MappingNode):
        seen_keys: set[str] = set()
        for key_node, value_node in node.value:
            key_path = (*path, _key_of(key_node))
            if key_node.tag == _MERGE_TAG:
                merged_nodes = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
                if not all(isinstance(merged_node, MappingNode) for merged_node in merged_nodes):
                    yield BadKey(path, node.start_mark.line + 1, "<< must be a map, or a list of maps")
            elif key_path[-1] in seen_keys:
                yield BadKey(key_path, key_node.start_mark.line + 1, "duplicate key", True)
            elif key_path[-1] != ():
                seen_keys.add(key_path[-1])
            yield from _find_bad_keys(value_node, key_path, visited_ids)


def _key_of(key_node: Any) -> Any:
    """The text of a key; an empty tuple for a key that is no scalar."""
    return key_node.value if key_node.id == "scalar" else ()


def _take_as_written(node: Any, flatten_mapping: Any, known_values: dict[int, Any]) -> Any:
    """The value of a node with texts for scalars, and keys of `_key_of`."""
    from yaml.constructor import ConstructorError
    from yaml.nodes import MappingNode, ScalarNode

    if isinstance(node, ScalarNode):
        return WrittenNull(node.value) if node.tag == _NULL_TAG else node.value
    if id(node) not in known_values:

        def take_value(child_node: Any) -> Any:
            return _take_as_written(child_node, flatten_mapping, known_values)

        if isinstance(node, MappingNode):
            try:
                flatten_mapping(node)
            except ConstructorError:
                node.value = [pair for pair in node.value if pair[0].tag != _MERGE_TAG]
            known_values[id(node)] = {
                take_value(key_node) if isinstance(key_node, ScalarNode) else (): take_value(value_node)
                for key_node, value_node in node.value
            }
        else:
            known_values[id(node)] = list(map(take_value, node.value))
    return known_values[id(node)]


def _check_yaml(yaml_text: str, parser_class: Any = None) -> None:
    """Check the limits by the parser's events, which need no recursion. The default is the fast C parser.

    Raises ComposerError beyond a limit, with the place, and other YAMLErrors for what is no YAML.
    """
    import yaml

    counter = _YamlCounter()
    fast_parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for event in yaml.parse(yaml_text, Loader=parser_class or fast_parser):
        if isinstance(event, yaml.CollectionStartEvent):
            counter.open_collection(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            counter.close_collection()
        elif isinstance(event, yaml.ScalarEvent):
            counter.add_scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            counter.add_alias(event)


class _OpenCollection:
    __slots__ = ("anchor", "height", "value_count")

    def __init__(self, anchor: str | None) -> None:
        self.anchor = anchor
        self.value_count = 1
        self.height = 1


class _YamlCounter:
    """Counts the values of a document, and its levels, as if each alias was written out."""

    def __init__(self) -> None:
        self._open_collections: list[_OpenCollection] = []
        self._total_count = 0
        # An anchor of a collection that is not complete has no size.
        self._sizes_by_anchor: dict[str, tuple[int, int] | None] = {}

    def open_collection(self, event: "yaml.CollectionStartEvent") -> None:
        if event.anchor is not None:
            self._sizes_by_anchor[event.anchor] = None
        self._count_values(event, 1, 1)
        self._open_collections.append(_OpenCollection(event.anchor))

    def close_collection(self) -> None:
        collection = self._open_collections.pop()
        if collection.anchor is not None:
            self._sizes_by_anchor[collection.anchor] = (collection.value_count, collection.height)
        self._add_to_parent(collection.value_count, collection.height)

    def add_scalar(self, event: "yaml.ScalarEvent") -> None:
        if event.anchor is not None:
            self._sizes_by_anchor[event.anchor] = (1, 0)
        self._add_values(event, 1, 0)

    def add_alias(self, event: "yaml.AliasEvent") -> None:
        # The loader reports an alias without an anchor.
        anchor_size = self._sizes_by_anchor.get(event.anchor or "", (1, 0))
        if anchor_size is None:
            raise _limit_error(event, "a value that contains itself")
        self._add_values(event, *anchor_size)

    def _add_values(self, event: "yaml.Event", value_count: int, height: int) -> None:
        self._count_values(event, value_count, height)
        self._add_to_parent(value_count, height)

    def _count_values(self, event: "yaml.Event", value_count: int, height: int) -> None:
        self._total_count += value_count
        if len(self._open_collections) + height > MAX_YAML_DEPTH:
            raise _limit_error(event, f"nested more than {MAX_YAML_DEPTH} levels deep")
        if self._total_count > MAX_YAML_VALUES:
            raise _limit_error(event, f"more than {MAX_YAML_VALUES} values, with those that are repeated")

    def _add_to_parent(self, value_count: int, height: int) -> None:
        if self._open_collections:
            parent = self._open_collections[-1]
            parent.value_count += value_count
            parent.height = max(parent.height, height + 1)


def _limit_error(event: "yaml.Event", problem_text: str) -> Exception:
    from yaml.composer import ComposerError

    problem_mark: Any = event.start_mark
    return ComposerError(problem=problem_text, problem_mark=problem_mark)
