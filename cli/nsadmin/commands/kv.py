"""Owns kvGet, kvList, updateKvConfig and deleteKvConfig; each name server has a KV config of its own."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.results import is_not_found
from nsadmin.commands.changes import CHANGE, forgiving, per_name_server
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import outcome, per_server
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "namespace", "key", "value", "result", "error")
CHANGE_COLUMNS = ("namesrvAddr", "namespace", "key", *CHANGE)

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


@shows(CHANGE_COLUMNS)
def update_kv_config(session: Session, namespace: Namespace, key: Key, value: Value) -> Rows:
    """Write a value of the KV config on every name server.

    Examples:
        # Write a value
        nsadmin updateKvConfig DEPLOYMENT stage canary --yes
        # What would be written, and where
        nsadmin updateKvConfig DEPLOYMENT stage canary --dry-run
    """
    session.confirm(f"Write {namespace} {key} = {value!r} on {', '.join(session.admin.addresses.addrs)}?")
    kv = session.admin.kv
    before = kv.get_each(namespace, key)
    if session.dry_run:
        done = [_planned(found, value) for found in before]
        return per_name_server({"namespace": namespace, "key": key}, before, done, "dry-run")
    return per_name_server({"namespace": namespace, "key": key}, before, kv.put(namespace, key, value))


@shows(CHANGE_COLUMNS)
def delete_kv_config(session: Session, namespace: Namespace, key: Key) -> Rows:
    """Delete a value of the KV config on every name server.

    `before` is what was deleted. A name server that had no such key says "not found", which is an error
    only if none of them had it.

    Examples:
        # Delete a value
        nsadmin deleteKvConfig ORDER_TOPIC_CONFIG orders --yes
    """
    session.confirm(f"Delete {namespace} {key} on {', '.join(session.admin.addresses.addrs)}?")
    kv = session.admin.kv
    before = kv.get_each(namespace, key) if session.dry_run else kv.delete(namespace, key)
    done = [ServerResult[str](addr, None, error) for addr, _, error in before]
    word = "dry-run" if session.dry_run else "done"
    return forgiving(per_name_server({"namespace": namespace, "key": key}, before, done, word))


def _rows(namespace: str, key: str, results: Sequence[ServerResult[str]], done: str) -> Rows:
    return per_server(COLUMNS, {"namespace": namespace, "key": key}, results, "value", done)


def _planned(found: ServerResult[str], value: str) -> ServerResult[str]:
    """The result that a write would have; a missing key is no error, because the write creates it."""
    if found.error is None or is_not_found(found.error):
        return ServerResult(found.addr, value, None)
    return found
