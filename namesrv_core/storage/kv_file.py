"""kvConfig.json, interchangeable with Java's: one line `{"configTable":{"NAMESPACE":{"key":"value"}}}`."""

from collections.abc import Mapping
from pathlib import Path

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson
from namesrv_core.storage import durable

Tables = Mapping[str, Mapping[str, str | None]]


class CorruptFile(RocketMQError):
    """A file that is there cannot be understood; the text names it and says why."""


def load(path: Path) -> Tables:
    """The tables of a file; empty where there is no file or nothing in it. CorruptFile, OSError."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    if not content.strip():
        return {}
    try:
        tables = fastjson.loads(content)
    except ValueError as error:
        raise CorruptFile(f"{path} is no KV file: {error}") from None
    if tables == {}:
        return {}
    if not isinstance(tables, dict) or not isinstance(tables.get("configTable"), dict):
        raise CorruptFile(f"{path} is no KV file: it has no configTable")
    return {namespace: _table(path, namespace, table) for namespace, table in tables["configTable"].items()}


def _table(path: Path, namespace: str, table: object) -> Mapping[str, str | None]:
    if not isinstance(table, dict):
        raise CorruptFile(f"{path} is no KV file: its namespace {namespace} is no object")
    try:
        return {key: fastjson.to_text(value) for key, value in table.items()}
    except ValueError as error:
        raise CorruptFile(f"{path} is no KV file: {error}") from None


def save(path: Path, tables: Tables) -> None:
    """Write the tables; on the disk when this returns. OSError."""
    durable.replace(
        path, fastjson.dumps({"configTable": {name: dict(table) for name, table in tables.items()}})
    )
