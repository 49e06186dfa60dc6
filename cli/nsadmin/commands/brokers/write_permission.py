"""Owns wipeWritePerm and addWritePerm, which change a broker's write permission on every name server."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from typer import Argument

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NoneReachable, error_text
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import AFTER, BEFORE, CHANGES, RESULT, summarize_perm_changes
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session

_READ_WRITE = Perm.READ | Perm.WRITE


class PermChange(NamedTuple):
    """The permissions of a broker's topics on a name server; the number only, after a change."""

    addr: str
    topic_count: int | None
    error: RocketMQError | None
    before: Mapping[str, int] | None = None
    after: Mapping[str, int] | None = None
    done: str = "done"

    @property
    def changes(self) -> str | None:
        return summarize_perm_changes(self.before, self.after) if self.before and self.after else None

    @property
    def result(self) -> str:
        return outcome_word(self.error, self.done)


PERM_COLUMNS: Columns[PermChange] = (
    NAMESRV_ADDR,
    BROKER_NAME,
    Column("topicCount", "number of topics that changed, or would change", lambda r: r.topic_count),
    CHANGES,
    BEFORE.means("the permission of each topic before the change; only in a dry run"),
    AFTER.means("the permission of each topic after the change; only in a dry run"),
    RESULT,
    ERROR,
)

WritableBrokerArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker, from clusterList."), Flags("-b", "--brokerName")
]


@command(columns=PERM_COLUMNS, undo_lines=lambda rows: [["repair", "wipe", rows[0]["brokerName"]]])
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
        # Stop traffic: make producers leave broker-a-0 within 30 seconds
        nsadmin wipeWritePerm broker-a-0 --yes
    """
    session.confirm_change(
        f"Remove the write permission of {broker_name} on {_list_name_servers(session)}? The broker's next "
        "registration may restore it (nsadmin drain then removes it again)"
    )
    if session.is_dry_run:
        return _preview(session, broker_name, lambda perm: perm & ~Perm.WRITE)
    return _count_rows(broker_name, session.admin.brokers.wipe_write_perm(broker_name))


@command(columns=PERM_COLUMNS)
def add_write_perm(session: Session, broker_name: WritableBrokerArgument) -> ResultRows:
    """Give all topics of a broker the permission rw-, on every name server.

    Read-only topics also become writable: nsadmin names those that the broker itself has read-only. `repair
    wipe` restores the permission that each topic has on the broker instead.

    Examples:
        # Let producers write to broker-a-0 again
        nsadmin addWritePerm broker-a-0 --yes
    """
    is_before = session.is_dry_run or session.can_ask
    read_only = _describe_read_only(
        session, broker_name, "will be writable" if is_before else "are writable now"
    )
    if is_before:
        _write_remarks(session, read_only)
    session.confirm_change(
        f"Make all topics of {broker_name} readable and writable on {_list_name_servers(session)}?"
    )
    if session.is_dry_run:
        return _preview(session, broker_name, lambda perm: _READ_WRITE)
    results = session.admin.brokers.add_write_perm(broker_name)
    if not is_before and any(result.error is None for result in results):
        _write_remarks(session, read_only)
    return _count_rows(broker_name, results)


def _describe_read_only(session: Session, broker_name: str, outcome: str) -> list[str]:
    """Name the topics that the broker has read-only: its name servers would let clients write to them."""
    with suppress(NoneReachable, NotFound):
        master_addr = find_broker_addr(session, broker_name)
        [(_, configs, error)] = session.admin.topic_configs.list_broker_topics([master_addr])
        read_only = sorted(c.topic_name for c in configs or () if c.perm & _READ_WRITE == Perm.READ)
        if error is not None:
            return [f"the topics that {broker_name} has read-only are unknown: {error_text(error)}"]
        if read_only:
            names, command = abbreviate_names(read_only, 5), quote_command("repair", "wipe", broker_name)
            return [
                f"topics that {broker_name} itself has read-only {outcome} ({names}): `{command}` restores "
                "the broker's own permissions"
            ]
    return []


def _write_remarks(session: Session, remarks: Sequence[str]) -> None:
    for remark in remarks:
        session.write_remark(remark)


def _list_name_servers(session: Session) -> str:
    return ", ".join(session.admin.addresses.addrs)


def _preview(session: Session, broker_name: str, change_perm: Callable[[int], int]) -> ResultRows:
    changes: list[PermChange] = []
    for addr, before, error in session.admin.brokers.get_topic_permissions(broker_name):
        after = None if before is None else {topic: int(change_perm(perm)) for topic, perm in before.items()}
        count = None if before is None else len(before)
        changes.append(PermChange(addr, count, error, before, after, "dry-run"))
    errors = [change.error for change in changes]
    return ResultRows.from_records(PERM_COLUMNS, changes, errors, common={BROKER_NAME: broker_name})


def _count_rows(
    broker_name: str, results: Sequence[ServerResult[int]], notes: Sequence[str] = ()
) -> ResultRows:
    columns = replace_columns(PERM_COLUMNS, CHANGES.in_wide())
    changes = [PermChange(*result) for result in results]
    errors = [result.error for result in results]
    return ResultRows.from_records(columns, changes, errors, notes, common={BROKER_NAME: broker_name})
