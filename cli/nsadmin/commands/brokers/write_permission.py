"""Owns wipeWritePerm and addWritePerm, which change a broker's write permission on every name server."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, NamedTuple

from typer import Argument

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NoneReachable, error_text
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import AFTER, BEFORE, CHANGES, RESULT, summarize_perm_changes
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.risks import find_lone_topics, find_master_addr

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
    _write_remarks(session, _describe_closed(session, broker_name))
    session.confirm_change(
        f"Remove the write permission of {broker_name} on {_list_name_servers(session)}? The broker's next "
        "registration may restore it (nsadmin drain then removes it again)"
    )
    if session.is_dry_run:
        return _preview(session, broker_name, lambda perm: perm & ~Perm.WRITE)
    rows = _count_rows(broker_name, session.admin.brokers.wipe_write_perm(broker_name))
    if all(rows.errors):
        return rows
    note = (
        "this lasts until the broker restarts or its topics change: to keep writes away longer, run "
        f"{quote_command('drain', broker_name)}"
    )
    return rows.with_notes(note)


@command(columns=PERM_COLUMNS)
def add_write_perm(session: Session, broker_name: WritableBrokerArgument) -> ResultRows:
    """Give all topics of a broker the permission rw-, on every name server.

    Read-only topics and RocketMQ's own ones also get it: nsadmin names those that have another permission on
    the broker. `repair wipe` restores the permission that each topic has on the broker instead.

    Examples:
        # Let producers write to broker-a-0 again, after wipeWritePerm; after a drain, use undrain
        nsadmin addWritePerm broker-a-0 --yes
    """
    warn_of_drains(session, [broker_name], opens=True)
    is_before = session.is_dry_run or session.can_ask
    other_perms = _describe_other_perms(session, broker_name, "will be rw-" if is_before else "are rw- now")
    if is_before:
        _write_remarks(session, other_perms)
    session.confirm_change(
        f"Make all topics of {broker_name} readable and writable on {_list_name_servers(session)}?"
    )
    if session.is_dry_run:
        return _preview(session, broker_name, lambda perm: _READ_WRITE)
    results = session.admin.brokers.add_write_perm(broker_name)
    if not is_before and any(result.error is None for result in results):
        _write_remarks(session, other_perms)
    return _count_rows(broker_name, results)


def _describe_closed(session: Session, broker_name: str) -> list[str]:
    """Name the topics that no other broker takes messages of."""
    environment = ClusterEnvironment(session.admin, broker_name)
    servers = [server for server in environment.read_servers() if server.is_registered]
    master_addr, cluster_name = find_master_addr(servers), next((s.cluster_name for s in servers), None)
    system_topics = environment.read_system_topics(master_addr or "", cluster_name or "")
    closed = {topic for server in servers for topic in find_lone_topics(server, {}, system_topics)}
    if not closed:
        return []
    names = abbreviate_names(sorted(closed), 5)
    return [f"clients cannot send to {count_noun(len(closed), 'topic')} without {broker_name}: {names}"]


def _describe_other_perms(session: Session, broker_name: str, outcome: str) -> list[str]:
    """Name the topics that the broker has with another permission than addWritePerm gives them."""
    with suppress(NoneReachable, NotFound):
        master_addr = find_broker_addr(session, broker_name)
        [(_, configs, error)] = session.admin.topic_configs.list_broker_topics([master_addr])
        if error is not None:
            return [f"the permissions that topics have on {broker_name} are unknown: {error_text(error)}"]
        # Topics of applications are read-only; only RocketMQ's own ones have the other permissions.
        others = sorted(
            (c for c in configs or () if c.perm != _READ_WRITE), key=lambda c: (c.perm != Perm.READ, c)
        )
        if others:
            names = abbreviate_names([f"{c.topic_name} {perm_text(c.perm)}" for c in others], 5)
            return [
                f"on the name servers, {count_noun(len(others), 'topic')} of {broker_name} {outcome}, unlike "
                f"on the broker ({names}). It refuses what it does not allow itself: to give only these "
                f"topics their permissions back, run {quote_command('repair', 'wipe', broker_name)}"
            ]
    return []


def _write_remarks(session: Session, remarks: Sequence[str]) -> None:
    for remark in remarks:
        session.write_remark(remark)


def _list_name_servers(session: Session) -> str:
    return ", ".join(session.admin.addresses.addrs)


def _preview(session: Session, broker_name: str, change_perm: Callable[[int], int]) -> ResultRows:
    changes: list[PermChange] = []
    for addr, before, error in session.admin.broker_routes.get_topic_permissions(broker_name):
        after = None if before is None else {topic: int(change_perm(perm)) for topic, perm in before.items()}
        count = None if before is None else len(before)
        changes.append(PermChange(addr, count, error, before, after, "dry-run"))
    errors = [change.error for change in changes]
    return ResultRows.from_records(PERM_COLUMNS, changes, errors, common={BROKER_NAME: broker_name})


def _count_rows(broker_name: str, results: Sequence[ServerResult[int]]) -> ResultRows:
    columns = replace_columns(PERM_COLUMNS, CHANGES.in_wide())
    changes = [PermChange(*result) for result in results]
    errors = [result.error for result in results]
    return ResultRows.from_records(columns, changes, errors, common={BROKER_NAME: broker_name})
