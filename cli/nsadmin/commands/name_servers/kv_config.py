"""Owns kv get, kv list, updateKvConfig and deleteKvConfig. Each name server has its own KV config."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument

from nsadmin.client import ServerResult
from nsadmin.client.results import is_not_found
from nsadmin.command_line.completion.value_sources import ORDER_TOPIC_CONFIG
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, forgive_missing, rows_per_name_server
from nsadmin.commands.columns.result_rows import outcome_cells, rows_per_server
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

KV_COLUMNS = ("namesrvAddr", "namespace", "key", "value", "result", "error")
KV_CHANGE_COLUMNS = ("namesrvAddr", "namespace", "key", *CHANGE_RESULT_COLUMNS)

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


@command(columns=KV_COLUMNS)
def kv_get(session: Session, namespace: NamespaceArgument, key: KvKeyArgument) -> ResultRows:
    """Show one value of the KV config on every name server.

    Examples:
        # The order configuration of a topic
        nsadmin kv get ORDER_TOPIC_CONFIG orders
        # A missing key (exit code 5)
        nsadmin kv get ORDER_TOPIC_CONFIG no-such-topic
    """
    return _value_rows(namespace, key, session.admin.kv.get_value_each(namespace, key), "found")


@command(columns=KV_COLUMNS)
def kv_list(session: Session, namespace: NamespaceArgument) -> ResultRows:
    """Show all values of a KV config namespace on every name server.

    Name servers do not list their namespaces. RocketMQ itself uses only ORDER_TOPIC_CONFIG.

    Examples:
        # The order configuration of all topics
        nsadmin kv list ORDER_TOPIC_CONFIG
    """
    entry_results = session.admin.kv.get_entries_each(namespace)
    entry_rows: list[ResultRow] = []
    for namesrv_addr, kv_entries, error in entry_results:
        common_cells = {"namesrvAddr": namesrv_addr, "namespace": namespace}
        if not kv_entries:
            entry_rows.append({**common_cells, **outcome_cells(error, "empty")})
        else:
            entry_rows += [
                {**common_cells, "key": key, "value": value, "result": "found"}
                for key, value in kv_entries.items()
            ]
    errors = [entry_result.error for entry_result in entry_results]
    notes = (
        [f'no namespace "{namespace}": RocketMQ itself uses {ORDER_TOPIC_CONFIG}, whose keys are topics']
        if all(map(is_not_found, errors))
        else []
    )
    return ResultRows(KV_COLUMNS, entry_rows, errors, notes)


@command(columns=KV_CHANGE_COLUMNS)
def update_kv_config(
    session: Session, namespace: NamespaceArgument, key: KvKeyArgument, value: KvValueArgument
) -> ResultRows:
    """Write a value of the KV config on every name server.

    Examples:
        # Write a value
        nsadmin updateKvConfig DEPLOYMENT stage canary --yes
        # Preview the change
        nsadmin updateKvConfig DEPLOYMENT stage canary --dry-run
    """
    session.confirm_change(
        f'Write {namespace} {key} = "{value}" on {", ".join(session.admin.addresses.addrs)}?'
    )
    kv_admin = session.admin.kv
    results_before = kv_admin.get_value_each(namespace, key)
    if session.is_dry_run:
        planned_results = [_plan_write(value_result, value) for value_result in results_before]
        return rows_per_name_server(
            {"namespace": namespace, "key": key}, results_before, planned_results, "dry-run"
        )
    return rows_per_name_server(
        {"namespace": namespace, "key": key}, results_before, kv_admin.put_value(namespace, key, value)
    )


@command(columns=KV_CHANGE_COLUMNS)
def delete_kv_config(session: Session, namespace: NamespaceArgument, key: KvKeyArgument) -> ResultRows:
    """Delete a value of the KV config on every name server.

    The column `before` has the deleted value. A name server without the key reports "not found". That is an
    error only if no name server has the key.

    Examples:
        # Delete a value
        nsadmin deleteKvConfig ORDER_TOPIC_CONFIG orders --yes
    """
    session.confirm_change(f"Delete {namespace} {key} on {', '.join(session.admin.addresses.addrs)}?")
    kv_admin = session.admin.kv
    results_before = (
        kv_admin.get_value_each(namespace, key) if session.is_dry_run else kv_admin.delete_key(namespace, key)
    )
    delete_results = [
        ServerResult[str](namesrv_addr, None, error) for namesrv_addr, _, error in results_before
    ]
    done_word = "dry-run" if session.is_dry_run else "done"
    return forgive_missing(
        rows_per_name_server({"namespace": namespace, "key": key}, results_before, delete_results, done_word)
    )


def _value_rows(
    namespace: str, key: str, value_results: Sequence[ServerResult[str]], done_word: str
) -> ResultRows:
    return rows_per_server(
        KV_COLUMNS, {"namespace": namespace, "key": key}, value_results, "value", done_word
    )


def _plan_write(value_result: ServerResult[str], new_value: str) -> ServerResult[str]:
    """The result that a write would have; it ignores a missing key, because the write creates it."""
    if value_result.error is None or is_not_found(value_result.error):
        return ServerResult(value_result.addr, new_value, None)
    return value_result
