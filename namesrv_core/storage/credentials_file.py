"""The credentials file as it is on the disk: when it changed, and YAML or JSON as a plain value."""

import re
import stat
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import BadSettings

_NAMES = re.compile(r"\b(alias|anchor|tag)\b")


class Mark(NamedTuple):
    """Another one: somebody wrote the file, or put another in its place."""

    inode: int
    size: int
    modified: int


def mark(path: Path) -> Mark | None:
    """None where there is no file that can be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Mark(found.st_ino, found.st_size, found.st_mtime_ns)


def is_exposed(path: Path) -> bool:
    """Whether everybody on this machine may read the file."""
    return bool(path.stat().st_mode & stat.S_IROTH)


def load(path: Path) -> object:
    """What the file says; BadSettings, which never shows a piece of the file, where it cannot be read."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadSettings(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSettings(f"{path} is no text in UTF-8") from None
    return (_json if path.suffix == ".json" else _yaml)(path, text)


def _json(path: Path, text: str) -> object:
    import json

    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise BadSettings(f"{path} is no JSON: {error}") from None


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """The members of an object: of two with one name, the first would be gone without a word."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError(_twice([key for key, _ in pairs]))
    return members


def _twice(keys: Sequence[str]) -> str:
    return f"{next(key for at, key in enumerate(keys) if key in keys[:at])!r} is there twice"


def _yaml(path: Path, text: str) -> object:
    # Imported late: most name servers have no such file.
    import yaml

    class Strict(yaml.SafeLoader):
        """No name twice in a mapping."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                raise yaml.MarkedYAMLError(problem=_twice(keys), problem_mark=node.start_mark)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Strict)
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadSettings(f"{path} is no YAML{where}: {_harmless(error.problem or '')}") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BadSettings(f"{path} is no YAML") from None


def _harmless(problem: str) -> str:
    """Without the name of an alias or a tag: a secret that begins with * or ! is taken for one."""
    return problem.partition("'")[0].rstrip() if _NAMES.search(problem) else problem
