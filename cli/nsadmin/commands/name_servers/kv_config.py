"""Owns kv get, kv list, updateKvConfig and deleteKvConfig. Each name server has its own KV config."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import is_not_found
from nsadmin.command_line.completion.value_sources import ORDER_TOPIC_CONFIG
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import (
    RESULT,
    ServerChange,
    forgive_not_found,
    name_server_change_columns,
    name_server_change_rows,
    plan_write,
    undo_on_name_servers,
)
from nsadmin.commands.columns.name_servers import KV_KEY, NAMESPACE
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.commands.name_servers.order_confs import warn_of_conf_problems
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.session import Session


class KvEntry(NamedTuple):
    """A value of the KV config on a name server; `done` is the result without an error."""

    addr: str
    key: str | None = None
    value: str | None = None
    error: RocketMQError | None = None
    done: str = "found"

    @property
    def result(self) -> str:
        return outcome_word(self.error, self.done)


KV_VALUE: Column[KvEntry] = Column("value", "text of the value", lambda e: e.value)
KV_LIST_COLUMNS: Columns[KvEntry] = (
    NAMESRV_ADDR,
    NAMESPACE,
    KV_KEY,
    KV_VALUE,
    RESULT.means("found, empty, failed or not found"),
    ERROR,
)
KV_GET_COLUMNS = replace_columns(KV_LIST_COLUMNS, RESULT.means("found, failed or not found"))
KV_UPDATE_COLUMNS = name_server_change_columns(NAMESPACE, KV_KEY, after="the new text")
KV_DELETION_COLUMNS = name_server_change_columns(NAMESPACE, KV_KEY, before="the value that was deleted")
NamespaceArgument = Annotated[
    str,
    Argument(
        metavar="NAMESPACE", help=f"Namespace, for example {ORDER_TOPIC_CONFIG}, whose keys are topics."
    ),
    Flags("-s", "--namespace", example=ORDER_TOPIC_CONFIG),
]
KvKeyArgument = Annotated[
    str, Argument(metavar="KEY", help="Key in the namespace."), Flags("-k", "--key"), Values("kv-keys")
]
KvValueArgument = Annotated[
    str,
    Argument(metavar="VALUE", help="Text to store. May be empty."),
    Flags("-v", "--value", may_be_empty=True),
]


@command(columns=KV_GET_COLUMNS)
def kv_get(session: Session, namespace: NamespaceArgument, key: KvKeyArgument) -> ResultRows:
    """Show one value of the KV config on every name server.

    Examples:
        # The order configuration of a topic
        nsadmin kv get ORDER_TOPIC_CONFIG orders
        # A missing key (exit code 5)
        nsadmin kv get ORDER_TOPIC_CONFIG no-such-topic
    """
    results = session.admin.kv.get_value_each(namespace, key)
    entries = [KvEntry(r.addr, key, r.result, r.error) for r in results]
    errors = [r.error for r in results]
    notes = _note_missing_key(namespace, key, errors)
    return ResultRows.from_records(KV_GET_COLUMNS, entries, errors, notes, common={NAMESPACE: namespace})


def _note_missing_key(namespace: str, key: str, errors: Sequence[RocketMQError | None]) -> list[str]:
    return [f'no key "{key}" in {namespace}'] if all(map(is_not_found, errors)) else []


@command(columns=KV_LIST_COLUMNS)
def kv_list(session: Session, namespace: NamespaceArgument) -> ResultRows:
    """Show all values of a KV config namespace on every name server.

    Name servers do not list their namespaces. RocketMQ itself uses only ORDER_TOPIC_CONFIG.

    Examples:
        # The order configuration of all topics
        nsadmin kv list ORDER_TOPIC_CONFIG
    """
    results = session.admin.kv.get_entries_each(namespace)
    entries: list[KvEntry] = []
    for addr, values, error in results:
        if values:
            entries += [KvEntry(addr, key, value) for key, value in values.items()]
        else:
            entries.append(KvEntry(addr, error=error, done="empty"))
    errors = [r.error for r in results]
    notes = (
        [f'no namespace "{namespace}": RocketMQ itself uses {ORDER_TOPIC_CONFIG}, whose keys are topics']
        if all(map(is_not_found, errors))
        else []
    )
    return ResultRows.from_records(KV_LIST_COLUMNS, entries, errors, notes, common={NAMESPACE: namespace})


def _undo_write(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Write the former value again, or delete a key that no name server had."""
    words = ("-s", rows[0]["namespace"], "-k", rows[0]["key"])
    if all(row.get("before") is None for row in rows if row["result"] != "failed"):
        return [["deleteKvConfig", *words]]
    return undo_on_name_servers(rows, "updateKvConfig", *words)


@command(
    columns=KV_UPDATE_COLUMNS,
    undo_lines=_undo_write,
)
def update_kv_config(
    session: Session, namespace: NamespaceArgument, key: KvKeyArgument, value: KvValueArgument
) -> ResultRows:
    """Write a value of the KV config on every name server.

    Examples:
        # Put a key and its value on every name server
        nsadmin updateKvConfig DEPLOYMENT stage canary --yes
        # Preview the change
        nsadmin updateKvConfig DEPLOYMENT stage canary --dry-run
    """
    if namespace == ORDER_TOPIC_CONFIG:
        warn_of_conf_problems(session, key, value)
    session.confirm_change(
        f'Write {namespace} {key} = "{value}" on {", ".join(session.admin.addresses.addrs)}?'
    )
    kv, common = session.admin.kv, {NAMESPACE: namespace, KV_KEY: key}
    before = kv.get_value_each(namespace, key)
    if session.is_dry_run:
        planned = [plan_write(r, value) for r in before]
        return name_server_change_rows(KV_UPDATE_COLUMNS, before, planned, "dry-run", common)
    results = kv.put_value(namespace, key, value)
    return name_server_change_rows(KV_UPDATE_COLUMNS, before, results, "done", common)


@command(columns=KV_DELETION_COLUMNS)
def delete_kv_config(session: Session, namespace: NamespaceArgument, key: KvKeyArgument) -> ResultRows:
    """Delete a value of the KV config on every name server.

    The column `before` has the deleted value. A name server without the key reports "not found". That is an
    error only if no name server has the key.

    Examples:
        # Delete a value
        nsadmin deleteKvConfig ORDER_TOPIC_CONFIG orders --yes
    """
    session.confirm_change(f"Delete {namespace} {key} on {', '.join(session.admin.addresses.addrs)}?")
    kv = session.admin.kv
    results = kv.get_value_each(namespace, key) if session.is_dry_run else kv.delete_key(namespace, key)
    done = "dry-run" if session.is_dry_run else "done"
    changes = [ServerChange(r.addr, r.result, None, r.error, done) for r in results]
    errors = forgive_not_found([r.error for r in results])
    common = {NAMESPACE: namespace, KV_KEY: key}
    notes = _note_missing_key(namespace, key, errors)
    return ResultRows.from_records(KV_DELETION_COLUMNS, changes, errors, notes, common=common)
