"""kvConfig.json in the format of Java, one line: `{"configTable":{"NAMESPACE":{"key":"value"}}}`."""

from collections.abc import Mapping
from pathlib import Path

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson
from namesrv_core.storage import atomic_write

KvFileTables = Mapping[str, Mapping[str, str | None]]


class CorruptFileError(RocketMQError):
    """A file exists but cannot be parsed. The message names the file and the reason."""


def load_kv_tables(file_path: Path) -> KvFileTables:
    """Read the tables; empty if the file is missing or empty. Raises CorruptFileError and OSError."""
    try:
        file_content = file_path.read_bytes()
    except FileNotFoundError:
        return {}
    if not file_content.strip():
        return {}
    try:
        parsed_tables = fastjson.decode_json(file_content)
    except ValueError as error:
        raise CorruptFileError(f'invalid KV file "{file_path}": {error}') from None
    if parsed_tables == {}:
        return {}
    if not isinstance(parsed_tables, dict) or not isinstance(parsed_tables.get("configTable"), dict):
        raise CorruptFileError(f'invalid KV file "{file_path}": no configTable')
    return {
        namespace: _parse_table(file_path, namespace, kv_table)
        for namespace, kv_table in parsed_tables["configTable"].items()
    }


def _parse_table(file_path: Path, namespace: str, kv_table: object) -> Mapping[str, str | None]:
    if not isinstance(kv_table, dict):
        raise CorruptFileError(f'invalid KV file "{file_path}": namespace "{namespace}" is not an object')
    try:
        return {kv_key: fastjson.to_text(kv_value) for kv_key, kv_value in kv_table.items()}
    except ValueError as error:
        raise CorruptFileError(f'invalid KV file "{file_path}": {error}') from None


def save_kv_tables(file_path: Path, kv_tables: KvFileTables) -> None:
    """Write the tables durably. Raises OSError."""
    atomic_write.replace_file(
        file_path,
        fastjson.encode_json(
            {"configTable": {namespace: dict(kv_table) for namespace, kv_table in kv_tables.items()}}
        ),
    )
