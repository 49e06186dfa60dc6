"""Owns cleanUnusedTopic, cleanExpiredCQ and deleteExpiredCommitLog, which make brokers delete old files."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from time import time
from types import MappingProxyType
from typing import Annotated

from typer import Option

from nsadmin.client import ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.broker_targets import (
    BrokerAddrArgument,
    describe_targets,
    distinct_addrs,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import CHANGES, RESULT, ServerChange, broker_change_rows
from nsadmin.commands.columns.servers import ERROR
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.session import Session

UPKEEP_COLUMNS: Columns[tuple[BrokerTarget, ServerChange]] = (
    *TARGET_COLUMNS,
    *of_part(itemgetter(1), (CHANGES, RESULT, ERROR)),
)

EveryMemberOption = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Every master and slave of this cluster.")
]


@command(columns=UPKEEP_COLUMNS)
def clean_unused_topic(
    session: Session, broker_text: BrokerAddrArgument, cluster_name: EveryMemberOption = None
) -> ResultRows:
    """Make brokers delete the queues of topics without a topic config.

    This applies to one broker, or to every master and slave of a cluster. It cannot be undone. Until then,
    you can still restore a topic whose config was deleted by mistake. Brokers delete the queues after they
    answer, and they do not report which queues they deleted.

    Examples:
        # Preview which brokers would do it
        nsadmin cleanUnusedTopic -c cluster-a --dry-run
        # Clean one broker
        nsadmin cleanUnusedTopic 127.0.0.1:10911 --yes
    """
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f"Delete the queues of topics without config on {describe_targets(targets)}?")
    rows = _upkeep_rows(session, targets, session.admin.upkeep.clean_unused_topics, _describe_topic_cleanup)
    return _add_notes(
        session, rows, "brokers delete the queues of topics without config now, and do not report which ones"
    )


@command(columns=UPKEEP_COLUMNS)
def clean_expired_cq(
    session: Session, broker_text: BrokerAddrArgument, cluster_name: EveryMemberOption = None
) -> ResultRows:
    """Make brokers delete queue entries whose messages have expired from the commit log.

    This applies to one broker, or to every master and slave of a cluster. No message is lost. Brokers delete
    the entries after they answer, and they do not report which entries they deleted.

    Examples:
        # Purge the old queue entries of one broker
        nsadmin cleanExpiredCQ 127.0.0.1:10911 --yes
        # Clean every broker of a cluster
        nsadmin cleanExpiredCQ -c cluster-a --yes
    """
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f"Delete expired parts of queues on {describe_targets(targets)}?")
    rows = _upkeep_rows(
        session, targets, session.admin.upkeep.clean_expired_consume_queues, _describe_queue_cleanup
    )
    return _add_notes(
        session, rows, "brokers delete queue entries of expired messages now, and do not report which ones"
    )


@command(columns=UPKEEP_COLUMNS)
def delete_expired_commit_log(
    session: Session, broker_text: BrokerAddrArgument, cluster_name: EveryMemberOption = None
) -> ResultRows:
    """Make brokers delete expired files of their commit logs now, instead of at deleteWhen.

    This applies to one broker, or to every master and slave of a cluster. A file is expired if its last
    message is older than fileReservedTime, even if consumers have not read it. Brokers delete a few files at
    a time, within seconds after they answer. They do not report which files they deleted.

    Examples:
        # Preview the deletion, and show how full the disks are
        nsadmin deleteExpiredCommitLog -c cluster-a --dry-run
        # Free disk space: delete expired files on one broker
        nsadmin deleteExpiredCommitLog 127.0.0.1:10911 --yes
    """
    targets = select_members(session, broker_text, cluster_name)
    session.confirm_change(f"Delete expired files of the commit log on {describe_targets(targets)}?")
    upkeep = session.admin.upkeep
    addrs = distinct_addrs(targets)
    settings_results = upkeep.get_settings(addrs, ["fileReservedTime"])
    hours_by_addr = {r.addr: (r.result or {}).get("fileReservedTime") for r in settings_results}
    freeing = [
        r.addr
        for r in session.admin.brokers.get_runtime_info(addrs)
        if not _remark_nothing_expired(session, r.addr, r.result, hours_by_addr.get(r.addr))
    ]
    rows = _upkeep_rows(
        session,
        targets,
        upkeep.delete_expired_commit_logs,
        _describe_commit_log_deletion,
        hours_by_addr,
    )
    if not freeing:
        return rows
    hours = min((int(h) for a in freeing if (h := hours_by_addr.get(a)) and h.isdigit()), default=72)
    target = ("-b", broker_text) if broker_text is not None else ("-c", cluster_name or "", "-a", "true")
    advice = quote_command("updateBrokerConfig", "fileReservedTime", f"{max(1, hours // 2)}", *target)
    return _add_notes(
        session,
        rows,
        "brokers delete expired files from now on, a few at a time: "
        f"{quote_command('check', 'disk')} shows how full the disks are then",
        f"if they are still too full, keep messages for fewer hours, then run this again: {advice}",
    )


def _add_notes(session: Session, rows: ResultRows, *notes: str) -> ResultRows:
    """Say what brokers do now, unless none of them got the order."""
    return rows if session.is_dry_run or all(rows.errors) else rows.with_notes(*notes)


def _upkeep_rows(
    session: Session,
    targets: list[BrokerTarget],
    send_order: Callable[[list[str]], list[ServerResult[bool]]],
    describe_plan: Callable[[RuntimeInfo, str | None], str],
    hours_by_addr: Mapping[str, str | None] = MappingProxyType({}),
) -> ResultRows:
    """Return a row for each broker with the result; in a dry run, with the action that it would take."""
    addrs = distinct_addrs(targets)
    plans: dict[str, str] = {}
    if session.is_dry_run:
        infos = session.admin.brokers.get_runtime_info(addrs)
        plans = {r.addr: describe_plan(r.result, hours_by_addr.get(r.addr)) for r in infos if r.result}
        results = [r.then(lambda _: True) for r in infos]
    else:
        results = send_order(addrs)
    done = "dry-run" if session.is_dry_run else "done"
    changes = [
        ServerChange(addr, None, None, error, done, words=plans.get(addr))
        for addr, _, error in match_results(targets, results)
    ]
    return broker_change_rows(UPKEEP_COLUMNS, targets, changes)


def _remark_nothing_expired(session: Session, addr: str, info: RuntimeInfo | None, hours: str | None) -> bool:
    """Say that this frees no space on a broker, and what does. Returns whether that is so."""
    oldest_hours = None if info is None else info.oldest_message_hours(time())
    if oldest_hours is None or hours is None or not hours.isdigit() or oldest_hours >= int(hours):
        return False
    advice = quote_command(
        "updateBrokerConfig", "fileReservedTime", f"{max(1, int(oldest_hours / 2))}", "-b", addr
    )
    session.write_remark(
        f"{addr} has no expired file: it keeps messages for {hours} hours, and its oldest message is "
        f"{oldest_hours:.1f} hours old"
    )
    session.write_remark(f"to delete more, keep messages for fewer hours, then run this again: {advice}")
    return True


def _describe_commit_log_deletion(info: RuntimeInfo, hours: str | None) -> str:
    oldest_hours, disk_ratio = info.oldest_message_hours(time()), info.get_number("commitLogDiskRatio")
    age_text = "" if oldest_hours is None else f"; the oldest message is {oldest_hours:.1f} hours old"
    disk_text = "" if disk_ratio is None else f", {disk_ratio:.0%} of the disk is used"
    limit = f"{hours or 'fileReservedTime'} hours"
    return f"deletes files of the commit log that are older than {limit}{age_text}{disk_text}"


def _describe_topic_cleanup(info: RuntimeInfo, _: str | None) -> str:
    return "deletes the queues of topics without config (brokers do not report which)"


def _describe_queue_cleanup(info: RuntimeInfo, _: str | None) -> str:
    min_offset = info.get_integer("commitLogMinOffset")
    # A broker with an empty store reports -1.
    offset_text = "" if min_offset is None or min_offset < 0 else f", which begins at {min_offset}"
    return f"deletes queue entries whose messages have left the commit log{offset_text}"
