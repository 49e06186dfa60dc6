"""Copies of the whole KV config: the changes that make name servers equal, and the backup file. Pure."""

import json
from collections.abc import Mapping

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.name_servers.kv_config import KvChange, KvTables


class InvalidKvFileError(RocketMQError):
    """The text is not a valid KV config file; the message says why."""


def plan_kv_changes(
    wanted_tables: KvTables, present_tables: Mapping[str, KvTables], *, prune: bool
) -> list[KvChange]:
    """The changes that give each name server the wanted tables, sorted by namespace and key.

    `prune` deletes other keys of the same namespaces. Other namespaces always stay.
    """
    kv_changes = []
    for namesrv_addr, server_tables in present_tables.items():
        for namespace, wanted_table in sorted(wanted_tables.items()):
            present_table = server_tables.get(namespace, {})
            for kv_key in sorted({**wanted_table, **(present_table if prune else {})}):
                if present_table.get(kv_key) != wanted_table.get(kv_key):
                    kv_changes.append(
                        KvChange(
                            namesrv_addr,
                            namespace,
                            kv_key,
                            present_table.get(kv_key),
                            wanted_table.get(kv_key),
                        )
                    )
    return kv_changes


def format_kv_file(kv_tables: KvTables) -> str:
    """The file format of Java's and our name servers (`kvConfigPath`), indented and sorted."""
    return json.dumps({"configTable": kv_tables}, indent=2, sort_keys=True, ensure_ascii=False)


def parse_kv_file(file_text: str) -> dict[str, dict[str, str]]:
    """The tables by namespace, from a file of `format_kv_file` or of a name server.

    Raises:
        InvalidKvFileError: the text is not a valid KV config file.
    """
    try:
        json_value = operator_files.parse_json(file_text)
    except ValueError as error:
        raise InvalidKvFileError(f"not JSON: {error}") from None
    kv_tables = json_value.get("configTable") if isinstance(json_value, dict) else None
    if not isinstance(kv_tables, dict) or not all(isinstance(table, dict) for table in kv_tables.values()):
        raise InvalidKvFileError('not a KV config: use {"configTable": {NAMESPACE: {KEY: VALUE}}}')
    invalid_keys = [
        f"{namespace} {kv_key}"
        for namespace, table in kv_tables.items()
        for kv_key, value in table.items()
        if not isinstance(value, str)
    ]
    if invalid_keys:
        raise InvalidKvFileError(f"the value of {invalid_keys[0]} is not a string: put it in quotes")
    return {namespace: dict(table) for namespace, table in kv_tables.items()}
