"""kvGet, kvList, updateKvConfig, deleteKvConfig: the KV config, which each name server keeps for itself."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.results import is_not_found
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import outcome, per_server
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "namespace", "key", "value", "result", "error")

Namespace = Annotated[
    str, Word(("-s", "--namespace"), "NAMESPACE", "For example ORDER_TOPIC_CONFIG, whose keys are topics.")
]
Key = Annotated[str, Word(("-k", "--key"), "KEY", "Key within the namespace.", values="kv-keys")]
Value = Annotated[str, Word(("-v", "--value"), "VALUE", "Text to store; may be empty.", may_be_empty=True)]


@shows(COLUMNS)
def kv_get(session: Session, namespace: Namespace, key: Key) -> Rows:
    """Show one value of the KV config, as every name server has it.

    Examples:
        # The order configuration of a topic
        nsadmin kvGet ORDER_TOPIC_CONFIG orders
        # A key that is nowhere (exit code 5)
        nsadmin kvGet ORDER_TOPIC_CONFIG no-such-topic
    """
    return _rows(namespace, key, session.admin.kv.get_each(namespace, key), "found")


@shows(COLUMNS)
def kv_list(session: Session, namespace: Namespace) -> Rows:
    """Show all values of a namespace of the KV config, as every name server has them.

    Examples:
        # The order configuration of all topics
        nsadmin kvList ORDER_TOPIC_CONFIG
    """
    results = session.admin.kv.entries_each(namespace)
    rows: list[Row] = []
    for addr, table, error in results:
        place = {"namesrvAddr": addr, "namespace": namespace}
        if not table:
            rows.append({**place, **outcome(error, "empty")})
        else:
            rows += [{**place, "key": key, "value": value, "result": "found"} for key, value in table.items()]
    return Rows(COLUMNS, rows, [result.error for result in results])


@shows(COLUMNS)
def update_kv_config(session: Session, namespace: Namespace, key: Key, value: Value) -> Rows:
    """Write a value of the KV config on every name server.

    Examples:
        # Write a value
        nsadmin updateKvConfig DEPLOYMENT stage canary --yes
        # What would be written, and where
        nsadmin updateKvConfig DEPLOYMENT stage canary --dry-run
    """
    session.confirm(f"Write {namespace} {key} = {value!r} on {', '.join(session.admin.addresses.addrs)}?")
    if session.dry_run:
        return _planned(namespace, key, session.admin.kv.get_each(namespace, key), value)
    return _rows(namespace, key, session.admin.kv.put(namespace, key, value))


@shows(COLUMNS)
def delete_kv_config(session: Session, namespace: Namespace, key: Key) -> Rows:
    """Delete a value of the KV config on every name server.

    `value` is what was deleted. A name server that had no such key says "not found", which is an error
    only if none of them had it.

    Examples:
        # Delete a value
        nsadmin deleteKvConfig ORDER_TOPIC_CONFIG orders --yes
    """
    session.confirm(f"Delete {namespace} {key} on {', '.join(session.admin.addresses.addrs)}?")
    if session.dry_run:
        return _forgiving(_rows(namespace, key, session.admin.kv.get_each(namespace, key), "dry-run"))
    return _forgiving(_rows(namespace, key, session.admin.kv.delete(namespace, key)))


def _rows(namespace: str, key: str, results: Sequence[ServerResult[str]], done: str = "done") -> Rows:
    return per_server(COLUMNS, {"namespace": namespace, "key": key}, results, "value", done)


def _planned(namespace: str, key: str, now: Sequence[ServerResult[str]], value: str) -> Rows:
    """What a write would do: a key that is not there yet is no failure."""
    writable = [
        ServerResult(addr, value, None)
        if is_not_found(error) or error is None
        else ServerResult(addr, None, error)
        for addr, _, error in now
    ]
    return _rows(namespace, key, writable, "dry-run")


def _forgiving(rows: Rows) -> Rows:
    """Where one server had the key, its absence from others is what was wanted."""
    if None not in rows.errors:
        return rows
    return rows._replace(errors=[None if is_not_found(error) else error for error in rows.errors])
