"""Owns exportPopRecord: brokers move their records of popped messages out of RocksDB."""

from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import IDENTITY, AddrWord, addrs, identity, matched, members_at, places
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, "changes", "result", "error")
_MOVES = "moves all pop records from RocksDB to topics of its message store; how many, no broker tells"
_NOTHING = "nothing: it keeps no pop records in RocksDB (popConsumerKVServiceInit is off)"


@shows(COLUMNS)
def export_pop_record(
    session: Session,
    broker: AddrWord,
    cluster: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master and slave of it.")
    ] = None,
    refused: Annotated[
        str | None, Option("-d", "--dryRun", metavar="BOOL", help="Refused: type --dry-run, or leave it out.")
    ] = None,
) -> Rows:
    """Have brokers move their records of popped messages from RocksDB to their message stores.

    That is the way back from popConsumerKVServiceEnable: records of what was popped and not acknowledged go
    where a broker without that service looks for them, and are deleted in RocksDB. A broker that keeps none
    there is not asked. mqadmin's -d is refused, as it does the opposite of what it says: there, -d true makes
    the change, and -d false shows it.

    Examples:
        # Which brokers would do it
        nsadmin exportPopRecord -c cluster-a --dry-run
        # On one broker
        nsadmin exportPopRecord 127.0.0.1:10911 --yes
    """
    if refused is not None:
        raise UsageError(
            "exportPopRecord: -d means the opposite in mqadmin: type --dry-run to look, leave it out to move"
        )
    targets = members_at(session, "exportPopRecord", broker, cluster)
    kept = session.admin.pop_records.kept(addrs(targets))
    having = [addr for addr, is_kept, _ in kept if is_kept]
    moved: dict[str, ServerResult[bool]] = {}
    if having and not session.dry_run:
        session.confirm(f"Move the pop records of {places(targets)} to their message stores?")
        moved = {result.addr: result for result in session.admin.pop_records.to_message_store(having)}
    rows, errors = list[Row](), list[RocketMQError | None]()
    for target, found in zip(targets, matched(targets, kept), strict=True):
        result = moved.get(found.addr, found)
        changes = None if found.error else _MOVES if found.result else _NOTHING
        word = "unchanged" if not found.result else "dry-run" if session.dry_run else "done"
        rows.append({**identity(target), "changes": changes, **outcome(result.error, word)})
        errors.append(result.error)
    return Rows(COLUMNS, rows, errors)
