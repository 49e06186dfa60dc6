"""Files that an operator or another program wrote: reads text, JSON and YAML within limits.

Rule: what is too large, too deep or too often repeated is refused before values are made of it. The C parser
of YAML crashes on deep nesting, and twenty lines of nested aliases stand for gigabytes.
"""

import errno
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 64 * 1024 * 1024
MAX_CONFIG_CHARACTERS = 1024 * 1024
"""The limit for files that are read by Python's YAML parser, which is slow."""
MAX_YAML_DEPTH = 50
MAX_YAML_VALUES = 2_000_000
"""Keys, values, lists and maps, counted as often as aliases and merge keys repeat them."""
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


def parse_yaml(yaml_text: str, loader_class: Any = None) -> Any:
    """Like `yaml.safe_load`, or `yaml.load` with this loader, within the limits. Raises only YAMLError."""
    import yaml

    default_loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check_yaml(yaml_text)
    except yaml.composer.ComposerError:
        raise
    except yaml.YAMLError:
        # Python's parser accepts a little more than the C parser, and reports the line of a mistake better.
        default_loader = yaml.SafeLoader
        check_yaml(yaml_text, default_loader)
    try:
        return yaml.load(yaml_text, loader_class or default_loader)
    except _ODD_VALUE_ERRORS:
        raise yaml.YAMLError("invalid value") from None


def check_yaml(yaml_text: str, parser_class: Any = None) -> None:
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
