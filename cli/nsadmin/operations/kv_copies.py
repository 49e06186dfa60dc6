"""KV config as a whole: what makes name servers have the same, and the file that it is kept in. Pure."""

import json
from collections.abc import Mapping

from namesrv_core.errors import RocketMQError
from nsadmin.client.kv import KvChange, KvTables


class BadKvFile(RocketMQError):
    """A text that is no KV config; it says why."""


def plan(wanted: KvTables, present: Mapping[str, KvTables], *, prune: bool) -> list[KvChange]:
    """What has to be changed for each name server to have what is wanted, in the order of names.

    Other keys of the same namespaces stay, unless `prune` says to delete them; other namespaces always stay.
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
    """As name servers of Java and ours keep it (`kvConfigPath`), but indented and in order."""
    return json.dumps({"configTable": tables}, indent=2, sort_keys=True, ensure_ascii=False)


def from_text(text: str) -> dict[str, dict[str, str]]:
    """What `to_text` made, or a name server has written. BadKvFile."""
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
