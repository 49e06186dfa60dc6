"""Files that an operator or another program wrote: reads text, JSON and YAML within limits.

Rule: what is too large, too deep or too often repeated is refused before values are made of it. The C parser
of YAML crashes on deep nesting, and twenty lines of nested aliases stand for gigabytes.
"""

import errno
import os
from collections.abc import Iterator, Mapping
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
_CLOSERS = {"[": "]", "{": "}", '"': '"', "'": "'"}
_PLAIN_PROBLEMS = {
    "mapping values are not allowed": (
        'the ":" does not fit: the line above lacks a ":", this line is not indented like the keys beside '
        "it, or its value needs quotes"
    ),
    "cannot start any token": "indent with spaces, not tabs, and quote a value that begins with @, ` or %",
    "did not find expected key": "the line is not indented like the keys beside it",
    "expected <block end>": "the line is not indented like the keys beside it",
    "could not find expected ':'": 'a ":" is missing, here or in the line above',
}
"""What to do about the commonest problems that parsers tell."""
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


def explain_unreadable(file_name: str, error: OSError | UnicodeDecodeError) -> str:
    """Say why a file or folder cannot be read, and what to do if it is the other of the two."""
    if isinstance(error, IsADirectoryError):
        return f"{file_name} is a folder: name a file in it"
    if isinstance(error, NotADirectoryError) and os.path.isfile(file_name):
        return f"{file_name} is a file: name its folder"
    if isinstance(error, UnicodeDecodeError):
        return f"{file_name} is not a text file"
    return f"cannot read {file_name}: {error.strerror or error}"


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

        self._children: dict[int, Mapping[Any, tuple[Any, Any]]] = {}
        try:
            self._root: Any = _compose(yaml_text, is_small)
            self.bad_keys = [] if self._root is None else list(_find_bad_keys(self._root, (), set()))
            self.value = self._make_value(is_as_written)
        except yaml.YAMLError as error:
            raise InvalidYaml(error) from None

    def _make_value(self, is_as_written: bool) -> Any:
        import yaml

        if self._root is None:
            return None
        if is_as_written:
            return _WrittenValues().take(self._root)
        try:
            return yaml.constructor.SafeConstructor().construct_document(self._root)
        except _ODD_VALUE_ERRORS:
            raise yaml.YAMLError("invalid value") from None

    def line_of(self, path: Path, *, is_about_key: bool = False) -> int:
        """The line of the value at a path, or that of its key; of its nearest parent if it is not there."""
        node = key_node = self._root
        for step in path:
            children = self._children_of(node)
            if step not in children:
                break
            key_node, node = children[step]
        line_node: Any = key_node if is_about_key else node
        return 1 if line_node is None else int(line_node.start_mark.line) + 1

    def _children_of(self, node: Any) -> Mapping[Any, tuple[Any, Any]]:
        """The nodes of each key and its value, or of each item twice."""
        children = self._children.get(id(node))
        if children is None:
            children = {}
            if node.id == "mapping":
                # Of duplicate keys, and of those that are merged, the last one counts.
                children = {_key_of(key_node): (key_node, value_node) for key_node, value_node in node.value}
            elif node.id == "sequence":
                children = {index: (item_node, item_node) for index, item_node in enumerate(node.value)}
            self._children[id(node)] = children
        return children


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


def _find_bad_keys(node: Any, path: Path, visited_ids: set[int]) -> Iterator[BadKey]:
    """Looks at each map once, before it is merged."""
    if node.id == "scalar" or id(node) in visited_ids:
        return
    visited_ids.add(id(node))
    if node.id == "sequence":
        for index, item_node in enumerate(node.value):
            yield from _find_bad_keys(item_node, (*path, index), visited_ids)
        return
    seen_keys: set[str] = set()
    for key_node, value_node in node.value:
        key = _key_of(key_node)
        if key_node.tag == _MERGE_TAG:
            merged_nodes = value_node.value if value_node.id == "sequence" else [value_node]
            if not all(merged_node.id == "mapping" for merged_node in merged_nodes):
                yield BadKey(path, node.start_mark.line + 1, "<< must be a map, or a list of maps")
        elif key in seen_keys:
            yield BadKey((*path, key), key_node.start_mark.line + 1, "duplicate key", True)
        elif key != ():
            seen_keys.add(key)
        yield from _find_bad_keys(value_node, (*path, key), visited_ids)


def _key_of(key_node: Any) -> Any:
    """The text of a key; an empty tuple for a key that is no scalar."""
    return key_node.value if key_node.id == "scalar" else ()


class _WrittenValues:
    """Makes values of nodes, with texts for scalars. Values that aliases repeat are shared."""

    def __init__(self) -> None:
        import yaml

        self._flatten_mapping = yaml.constructor.SafeConstructor().flatten_mapping
        self._merge_error = yaml.constructor.ConstructorError
        self._known_values: dict[int, Any] = {}

    def take(self, node: Any) -> Any:
        if node.id == "scalar":
            return WrittenNull(node.value) if node.tag == _NULL_TAG else node.value
        if id(node) not in self._known_values:
            self._known_values[id(node)] = (
                self._take_map(node) if node.id == "mapping" else list(map(self.take, node.value))
            )
        return self._known_values[id(node)]

    def _take_map(self, node: Any) -> dict[Any, Any]:
        try:
            self._flatten_mapping(node)
        except self._merge_error:
            node.value = [pair for pair in node.value if pair[0].tag != _MERGE_TAG]
        return {
            self.take(key_node) if key_node.id == "scalar" else (): self.take(value_node)
            for key_node, value_node in node.value
        }


def _check_yaml(yaml_text: str, parser_class: Any = None) -> None:
    """Check the limits by the parser's events, which need no recursion. The default is the fast C parser.

    Raises ComposerError beyond a limit, with the place, and other YAMLErrors for what is no YAML.
    """
    import yaml

    counter = _YamlCounter()
    fast_parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(yaml_text, Loader=parser_class or fast_parser):
            if isinstance(event, yaml.CollectionStartEvent):
                counter.open_collection(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                counter.close_collection()
            elif isinstance(event, yaml.ScalarEvent):
                counter.add_scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                counter.add_alias(event)
    except yaml.MarkedYAMLError as error:
        if error.problem_mark is not None and error.problem_mark.index >= len(yaml_text):
            # The parsers name the end of the file, which may be far from the mistake.
            for mark in (error.context_mark, counter.innermost_mark):
                opener = yaml_text[mark.index : mark.index + 1] if mark else ""
                if opener in _CLOSERS:
                    error.problem = f"the {opener} here is not closed: add a {_CLOSERS[opener]}"
                    error.problem_mark = mark
                    break
        for parsers_words, plain_words in _PLAIN_PROBLEMS.items():
            if parsers_words in (error.problem or ""):
                error.problem = plain_words
        raise


class _OpenCollection:
    __slots__ = ("anchor", "height", "start_mark", "value_count")

    def __init__(self, event: "yaml.CollectionStartEvent") -> None:
        self.anchor: str | None = event.anchor
        self.start_mark = event.start_mark
        self.value_count = 1
        self.height = 1


class _YamlCounter:
    """Counts the values of a document, and its levels, as if each alias was written out."""

    def __init__(self) -> None:
        self._open_collections: list[_OpenCollection] = []
        self._total_count = 0
        # An anchor of a collection that is not complete has no size.
        self._sizes_by_anchor: dict[str, tuple[int, int] | None] = {}

    @property
    def innermost_mark(self) -> Any:
        """Where the collection begins that is not complete; None outside of all."""
        return self._open_collections[-1].start_mark if self._open_collections else None

    def open_collection(self, event: "yaml.CollectionStartEvent") -> None:
        if event.anchor is not None:
            self._sizes_by_anchor[event.anchor] = None
        self._count_values(event, 1, 1)
        self._open_collections.append(_OpenCollection(event))

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
