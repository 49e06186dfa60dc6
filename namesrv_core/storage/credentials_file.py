"""The credentials file on disk: its change mark, and its YAML or JSON content as plain values."""

import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core import operator_files
from namesrv_core.errors import BadSettings

_NAMED_PARTS = re.compile(r"\b(alias|anchor|tag)\b")


class FileMark(NamedTuple):
    """Identifies one version of a file. It differs after the file was written or replaced."""

    inode: int
    size_bytes: int
    modified_ns: int


def read_file_mark(file_path: Path) -> FileMark | None:
    """None if the file does not exist or cannot be examined."""
    try:
        file_status = file_path.stat()
    except OSError:
        return None
    return FileMark(file_status.st_ino, file_status.st_size, file_status.st_mtime_ns)


def is_world_readable(file_path: Path) -> bool:
    """Whether every user of this machine can read the file."""
    return bool(file_path.stat().st_mode & stat.S_IROTH)


def load_credentials(file_path: Path) -> object:
    """Parse the file. Raises BadSettings if that fails; the message never quotes the file's secrets."""
    try:
        file_text = operator_files.read_text(file_path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
    except OSError as error:
        raise BadSettings(f"{file_path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSettings(f'invalid credentials file "{file_path}": not UTF-8 text') from None
    return (_parse_json if file_path.suffix == ".json" else _parse_yaml)(file_path, file_text)


def _parse_json(file_path: Path, file_text: str) -> object:
    import json

    try:
        return json.loads(file_text, object_pairs_hook=_require_unique_members)
    except (ValueError, RecursionError) as error:
        raise BadSettings(f'invalid JSON in "{file_path}": {error}') from None


def _require_unique_members(member_pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object and reject duplicate names, because `json` would silently drop the first one."""
    members: dict[str, object] = {}
    for key, value in member_pairs:
        if key in members:
            raise ValueError(f'duplicate key "{key}"')
        members[key] = value
    return members


def _parse_yaml(file_path: Path, file_text: str) -> object:
    try:
        document = operator_files.YamlDocument(file_text)
    except operator_files.InvalidYaml as error:
        if error.problem is None:
            raise BadSettings(f'invalid YAML in "{file_path}"') from None
        line, problem = error.line, _redact_problem(error.problem)
    else:
        duplicates = [bad_key.path for bad_key in document.bad_keys if bad_key.is_duplicate]
        if not duplicates:
            return document.value
        line, problem = document.line_of(duplicates[0][:-1]), f'duplicate key "{duplicates[0][-1]}"'
    line_hint = f", line {line}" if line else ""
    raise BadSettings(f'invalid YAML in "{file_path}"{line_hint}: {problem}')


def _redact_problem(problem_text: str) -> str:
    """Remove the name of an alias or a tag: YAML parses a secret that begins with * or ! as one."""
    return problem_text.partition("'")[0].rstrip() if _NAMED_PARTS.search(problem_text) else problem_text
