"""Owns exportPopRecord: brokers move their records of popped messages out of RocksDB."""

from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrArgument,
    describe_targets,
    distinct_addrs,
    identity_cells,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

POP_RECORD_COLUMNS = (*IDENTITY_COLUMNS, "changes", "result", "error")
_MOVE_TEXT = (
    "moves all pop records from RocksDB to topics of its message store (brokers do not report the number)"
)
_NO_RECORDS_TEXT = "nothing: it keeps no pop records in RocksDB (popConsumerKVServiceInit is off)"


@command(columns=POP_RECORD_COLUMNS)
def export_pop_record(
    session: Session,
    broker_text: BrokerAddrArgument,
    cluster_name: Annotated[
        str | None,
        Option("-c", "--clusterName", metavar="CLUSTER", help="Every master and slave of this cluster."),
    ] = None,
    mqadmin_dry_run: Annotated[
        str | None, Option("-d", "--dryRun", metavar="BOOL", help="Refused. Use --dry-run instead.")
    ] = None,
) -> ResultRows:
    """Make brokers move their records of popped messages from RocksDB to their message stores.

    Use this before you disable popConsumerKVServiceEnable. The broker moves the records of unacknowledged
    messages to the place where a broker without that service reads them, and deletes them from RocksDB.
    nsadmin does not ask a broker without such records. It refuses mqadmin's -d, because -d true makes the
    change in mqadmin, and -d false shows it.

    Examples:
        # Preview which brokers would do it
        nsadmin exportPopRecord -c cluster-a --dry-run
        # Move the records of one broker
        nsadmin exportPopRecord 127.0.0.1:10911 --yes
    """
    if mqadmin_dry_run is not None:
        raise UsageError(
            "-d has the opposite meaning in mqadmin: pass --dry-run for a preview, or omit it to "
            "move the records"
        )
    broker_targets = select_members(session, broker_text, cluster_name)
    record_results = session.admin.pop_records.check_enabled(distinct_addrs(broker_targets))
    addrs_with_records = [broker_addr for broker_addr, has_records, _ in record_results if has_records]
    results_by_addr: dict[str, ServerResult[bool]] = {}
    if addrs_with_records and not session.is_dry_run:
        session.confirm_change(
            f"Move the pop records of {describe_targets(broker_targets)} to their message stores?"
        )
        results_by_addr = {
            order_result.addr: order_result
            for order_result in session.admin.pop_records.move_to_message_store(addrs_with_records)
        }
    order_rows, order_errors = list[ResultRow](), list[RocketMQError | None]()
    for broker_target, record_result in zip(
        broker_targets, match_results(broker_targets, record_results), strict=True
    ):
        order_result = results_by_addr.get(record_result.addr, record_result)
        change_text = (
            None if record_result.error else _MOVE_TEXT if record_result.result else _NO_RECORDS_TEXT
        )
        result_word = "unchanged" if not record_result.result else "dry-run" if session.is_dry_run else "done"
        order_rows.append(
            {
                **identity_cells(broker_target),
                "changes": change_text,
                **outcome_cells(order_result.error, result_word),
            }
        )
        order_errors.append(order_result.error)
    return ResultRows(POP_RECORD_COLUMNS, order_rows, order_errors)
