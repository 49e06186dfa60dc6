"""Owns wipeWritePerm and addWritePerm, which change a broker's write permission on every name server."""

from collections.abc import Callable, Sequence
from typing import Annotated

from typer import Argument

from namesrv_core.protocol.codes import Perm
from nsadmin.client import ServerResult
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.change_rows import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    summarize_perm_changes,
)
from nsadmin.commands.columns.result_rows import outcome_cells, rows_per_server
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

WRITE_PERM_COLUMNS = ("namesrvAddr", "brokerName", "topicCount", *CHANGE_RESULT_COLUMNS)
WRITE_PERM_TABLE_COLUMNS = ("namesrvAddr", "brokerName", "topicCount", *CHANGE_RESULT_IN_TABLE)

WritableBrokerArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker, from clusterList."), Flags("-b", "--brokerName")
]


@command(columns=WRITE_PERM_COLUMNS)
def wipe_write_perm(session: Session, broker_name: WritableBrokerArgument) -> ResultRows:
    """Remove the write permission from all topics of a broker, on every name server.

    Producers stop writing to the broker within 30 seconds. Consumers continue to read. The change lasts until
    the broker restarts or until its topics change. To keep writes away until you stop the broker, use drain.

    To undo a wipe, run `repair wipe`, which restores the permission of each topic. addWritePerm instead gives
    every topic the permission rw-, even a topic that was read-only before. With --dry-run, nsadmin reads the
    permission of each topic and shows the change.

    Examples:
        # Preview how many topics would change on each name server
        nsadmin wipeWritePerm broker-a-0 --dry-run
        # Make producers leave broker-a-0 within 30 seconds
        nsadmin wipeWritePerm broker-a-0 --yes
    """
    session.confirm_change(f"Wipe the write permission of {broker_name} on {_list_name_servers(session)}?")
    if session.is_dry_run:
        return _dry_run_rows(session, broker_name, _without_write_perm)
    return _changed_count_rows(broker_name, session.admin.brokers.wipe_write_perm(broker_name))


@command(columns=WRITE_PERM_COLUMNS)
def add_write_perm(session: Session, broker_name: WritableBrokerArgument) -> ResultRows:
    """Give all topics of a broker the permission rw-, on every name server.

    Read-only topics also become writable. `repair wipe` restores the permission that each topic has on the
    broker.

    Examples:
        # Let producers write to broker-a-0 again
        nsadmin addWritePerm broker-a-0 --yes
    """
    session.confirm_change(
        f"Make all topics of {broker_name} readable and writable on {_list_name_servers(session)}?"
    )
    if session.is_dry_run:
        return _dry_run_rows(session, broker_name, _with_write_perm)
    return _changed_count_rows(broker_name, session.admin.brokers.add_write_perm(broker_name))


def _list_name_servers(session: Session) -> str:
    return ", ".join(session.admin.addresses.addrs)


def _without_write_perm(perm_bits: int) -> int:
    return perm_bits & ~Perm.WRITE


def _with_write_perm(perm_bits: int) -> int:
    return Perm.READ | Perm.WRITE


def _dry_run_rows(session: Session, broker_name: str, change_perm: Callable[[int], int]) -> ResultRows:
    plan_rows: list[ResultRow] = []
    perm_results = session.admin.brokers.get_topic_permissions(broker_name)
    for namesrv_addr, perms_before, error in perm_results:
        plan_row: ResultRow = {
            "namesrvAddr": namesrv_addr,
            "brokerName": broker_name,
            **outcome_cells(error, "dry-run"),
        }
        if perms_before is not None:
            perms_after = {topic: int(change_perm(perm_bits)) for topic, perm_bits in perms_before.items()}
            exact_cells = {"before": perms_before, "after": perms_after, "topicCount": len(perms_before)}
            plan_row = {
                **plan_row,
                **exact_cells,
                "changes": summarize_perm_changes(perms_before, perms_after),
            }
        plan_rows.append(plan_row)
    return ResultRows(
        WRITE_PERM_COLUMNS,
        plan_rows,
        [perm_result.error for perm_result in perm_results],
        (),
        WRITE_PERM_TABLE_COLUMNS,
    )


def _changed_count_rows(broker_name: str, count_results: Sequence[ServerResult[int]]) -> ResultRows:
    result_rows = rows_per_server(
        WRITE_PERM_COLUMNS, {"brokerName": broker_name}, count_results, "topicCount"
    )
    return result_rows._replace(table_columns=("namesrvAddr", "brokerName", "topicCount", "result", "error"))
