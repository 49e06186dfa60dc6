"""Copies of the whole KV config: the changes that make name servers equal, and the backup file. Pure."""

import json
from collections.abc import Mapping

from namesrv_core.errors import RocketMQError
from nsadmin.client.kv import KvChange, KvTables


class BadKvFile(RocketMQError):
    """The text is not a valid KV config file; the message says why."""


def plan(wanted: KvTables, present: Mapping[str, KvTables], *, prune: bool) -> list[KvChange]:
    """The changes that give each name server the wanted tables, sorted by namespace and key.

    `prune` deletes other keys of the same namespaces. Other namespaces always stay.
    """
    found = []
    for addr, tables in present.items():
        for namespace, table in sorted(wanted.items()):
            there = tables.get(namespace, {})
            for key in sorted({**table, **(there if prune else {})}):
                if there.get(key) != table.get(key):
                    found.append(KvChange(addr, namespace, key, there.get(key), table.get(key)))
    return found


def to_text(tables: KvTables) -> str:
    """The file format of Java's and our name servers (`kvConfigPath`), indented and sorted."""
    return json.dumps({"configTable": tables}, indent=2, sort_keys=True, ensure_ascii=False)


def from_text(text: str) -> dict[str, dict[str, str]]:
    """The tables by namespace, from a file of `format_kv_file` or of a name server.

    Raises:
        InvalidKvFileError: the text is not a valid KV config file.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadKvFile(f"it is no JSON: {error}") from None
    tables = value.get("configTable") if isinstance(value, dict) else None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise BadKvFile('it is no KV config: {"configTable": {NAMESPACE: {KEY: VALUE}}}')
    wrong = [
        f"{name} {key}"
        for name, table in tables.items()
        for key, item in table.items()
        if not isinstance(item, str)
    ]
    if wrong:
        raise BadKvFile(f"the value of {wrong[0]} is no text")
    return {name: dict(table) for name, table in tables.items()}
