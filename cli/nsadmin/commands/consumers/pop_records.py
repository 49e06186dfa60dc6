"""Owns exportPopRecord: brokers move their records of popped messages out of RocksDB."""

from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.broker_targets import (
    BrokerAddrArgument,
    describe_targets,
    distinct_addrs,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_COLUMNS
from nsadmin.commands.columns.changes import CHANGES, RESULT
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.session import Session


class PopMove(NamedTuple):
    """The move of a broker's records. `has_records` is None if the broker did not say."""

    target: BrokerTarget
    has_records: bool | None
    error: RocketMQError | None
    result: str


POP_MOVE_COLUMNS: Columns[PopMove] = (
    *of_part(lambda m: m.target, BROKER_COLUMNS),
    CHANGES.of(
        lambda m: None if m.has_records is None else _MOVE_TEXT if m.has_records else _NO_RECORDS_TEXT
    ),
    RESULT.means("done, dry-run, failed, or unchanged (nothing to move)"),
    ERROR,
)
_MOVE_TEXT = (
    "moves all pop records from RocksDB to topics of its message store (brokers do not report the number)"
)
_NO_RECORDS_TEXT = "nothing: it keeps no pop records in RocksDB (popConsumerKVServiceInit is off)"


@command(columns=POP_MOVE_COLUMNS)
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
    targets = select_members(session, broker_text, cluster_name)
    pop_records = session.admin.pop_records
    record_results = pop_records.check_enabled(distinct_addrs(targets))
    addrs_with_records = [addr for addr, has_records, _ in record_results if has_records]
    moved: dict[str, ServerResult[bool]] = {}
    if addrs_with_records and not session.is_dry_run:
        session.confirm_change(
            f"Move the pop records of {describe_targets(targets)} to their message stores?"
        )
        moved = {r.addr: r for r in pop_records.move_to_message_store(addrs_with_records)}
    done = "dry-run" if session.is_dry_run else "done"
    moves = []
    for target, records in zip(targets, match_results(targets, record_results), strict=True):
        error = moved.get(records.addr, records).error
        result = outcome_word(error, done if records.result else "unchanged")
        moves.append(PopMove(target, records.result, error, result))
    return ResultRows.from_records(POP_MOVE_COLUMNS, moves, [m.error for m in moves])
