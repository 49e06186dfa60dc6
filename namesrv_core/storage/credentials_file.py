"""The credentials file on disk: its change mark, and its YAML or JSON content as plain values."""

import re
import stat
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.errors import BadSettings

_NAMED_PARTS = re.compile(r"\b(alias|anchor|tag)\b")


class FileMark(NamedTuple):
    """Identifies one version of a file. It differs after the file was written or replaced."""

    inode: int
    size_bytes: int
    modified_ns: int


def read_file_mark(path: Path) -> FileMark | None:
    """None if the file does not exist or cannot be examined."""
    try:
        status = path.stat()
    except OSError:
        return None
    return FileMark(status.st_ino, status.st_size, status.st_mtime_ns)


def is_world_readable(path: Path) -> bool:
    """Whether every user of this machine can read the file."""
    return bool(path.stat().st_mode & stat.S_IROTH)


def load_credentials(path: Path) -> object:
    """Parse the file. Raises BadSettings if that fails; the message never quotes the file's secrets."""
    try:
        text = operator_files.read_text(path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
    except OSError as error:
        raise BadSettings(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSettings(f'invalid credentials file "{path}": not UTF-8 text') from None
    return (_parse_json if path.suffix == ".json" else _parse_yaml)(path, text)


def _parse_json(path: Path, text: str) -> object:
    import json

    try:
        return json.loads(text, object_pairs_hook=_require_unique_members)
    except (ValueError, RecursionError) as error:
        raise BadSettings(f'invalid JSON in "{path}": {error}') from None


def _require_unique_members(member_pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object and reject duplicate names, because `json` would silently drop the first one."""
    members = dict(member_pairs)
    if len(members) < len(member_pairs):
        raise ValueError(_describe_duplicate([key for key, _ in member_pairs]))
    return members


def _describe_duplicate(keys: Sequence[str]) -> str:
    counts = Counter(keys)
    key = next(key for key in keys if counts[key] > 1)
    return f'duplicate key "{key}"'


def _parse_yaml(path: Path, text: str) -> object:
    # Imported late, because most name servers have no credentials file.
    import yaml

    class StrictLoader(yaml.SafeLoader):
        """Rejects duplicate keys in a mapping."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [node.value for node, _ in node.value if isinstance(node, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                raise yaml.MarkedYAMLError(problem=_describe_duplicate(keys), problem_mark=node.start_mark)
            return super().construct_mapping(node, deep)

    try:
        return operator_files.parse_yaml(text, StrictLoader)
    except yaml.MarkedYAMLError as error:
        hint = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadSettings(f'invalid YAML in "{path}"{hint}: {_redact_problem(error.problem or "")}') from None
    except yaml.YAMLError:
        raise BadSettings(f'invalid YAML in "{path}"') from None


def _redact_problem(problem_text: str) -> str:
    """Remove the name of an alias or a tag: YAML parses a secret that begins with * or ! as one."""
    return problem_text.partition("'")[0].rstrip() if _NAMED_PARTS.search(problem_text) else problem_text
