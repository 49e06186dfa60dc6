"""kvConfig.json in the format of Java, one line: `{"configTable":{"NAMESPACE":{"key":"value"}}}`."""

from collections.abc import Mapping
from pathlib import Path

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson
from namesrv_core.storage import atomic_write

KvFileTables = Mapping[str, Mapping[str, str | None]]


class CorruptFileError(RocketMQError):
    """A file exists but cannot be parsed. The message names the file and the reason."""


def load_kv_tables(path: Path) -> KvFileTables:
    """Read the tables; empty if the file is missing or empty. Raises CorruptFileError and OSError."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    if not content.strip():
        return {}
    try:
        tables = fastjson.decode_json(content)
    except ValueError as error:
        raise CorruptFileError(f'invalid KV file "{path}": {error}') from None
    if tables == {}:
        return {}
    if not isinstance(tables, dict) or not isinstance(tables.get("configTable"), dict):
        raise CorruptFileError(f'invalid KV file "{path}": no configTable')
    return {n: _parse_table(path, n, t) for n, t in tables["configTable"].items()}


def _parse_table(path: Path, namespace: str, table: object) -> Mapping[str, str | None]:
    if not isinstance(table, dict):
        raise CorruptFileError(f'invalid KV file "{path}": namespace "{namespace}" is not an object')
    try:
        return {key: fastjson.to_text(value) for key, value in table.items()}
    except ValueError as error:
        raise CorruptFileError(f'invalid KV file "{path}": {error}') from None


def save_kv_tables(path: Path, kv_tables: KvFileTables) -> None:
    """Write the tables durably. Raises OSError."""
    atomic_write.replace_file(
        path, fastjson.encode_json({"configTable": {n: dict(t) for n, t in kv_tables.items()}})
    )
