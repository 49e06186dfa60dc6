"""Owns cleanUnusedTopic, cleanExpiredCQ and deleteExpiredCommitLog, which have brokers delete old files."""

from collections.abc import Callable, Mapping
from time import time
from types import MappingProxyType
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.brokers import RuntimeInfo
from nsadmin.client.targets import Target
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import IDENTITY, AddrWord, addrs, identity, matched, members_at, places
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, "changes", "result", "error")

Cluster = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Every master and slave of it.")
]


@shows(COLUMNS)
def clean_unused_topic(session: Session, broker: AddrWord, cluster: Cluster = None) -> Rows:
    """Have brokers delete the queues of topics that they have no config of any more.

    For one broker, or for every master and slave of a cluster. It cannot be undone: a topic that was taken
    from the config by mistake is readable again as long as its queues are there. Brokers do it after they
    have answered, and do not say what they deleted.

    Examples:
        # Which brokers would do it
        nsadmin cleanUnusedTopic -c cluster-a --dry-run
        # On one broker
        nsadmin cleanUnusedTopic 127.0.0.1:10911 --yes
    """
    targets = members_at(session, "cleanUnusedTopic", broker, cluster)
    session.confirm(f"Delete the queues of topics without config on {places(targets)}?")
    return _rows(session, targets, session.admin.upkeep.clean_unused_topics, _unused)


@shows(COLUMNS)
def clean_expired_cq(session: Session, broker: AddrWord, cluster: Cluster = None) -> Rows:
    """Have brokers delete the parts of queues whose messages have expired from their commit logs.

    For one broker, or for every master and slave of a cluster. No message is lost. Brokers do it after they
    have answered, and do not say what they deleted.

    Examples:
        # On one broker
        nsadmin cleanExpiredCQ 127.0.0.1:10911 --yes
        # On every broker of a cluster
        nsadmin cleanExpiredCQ -c cluster-a --yes
    """
    targets = members_at(session, "cleanExpiredCQ", broker, cluster)
    session.confirm(f"Delete expired parts of queues on {places(targets)}?")
    return _rows(session, targets, session.admin.upkeep.clean_expired_consume_queues, _expired)


@shows(COLUMNS)
def delete_expired_commit_log(session: Session, broker: AddrWord, cluster: Cluster = None) -> Rows:
    """Have brokers delete the files of their commit logs that have expired, now and not at deleteWhen.

    For one broker, or for every master and slave of a cluster; never for all clusters by silence. Files are
    expired whose last message is older than fileReservedTime, consumed or not. Brokers do it within seconds
    after they have answered, a few files at a time, and do not say what they deleted.

    Examples:
        # What would be deleted, and how full disks are
        nsadmin deleteExpiredCommitLog -c cluster-a --dry-run
        # On one broker
        nsadmin deleteExpiredCommitLog 127.0.0.1:10911 --yes
    """
    targets = members_at(session, "deleteExpiredCommitLog", broker, cluster)
    session.confirm(f"Delete expired files of the commit log on {places(targets)}?")
    upkeep = session.admin.upkeep
    kept = upkeep.settings(addrs(targets), ["fileReservedTime"]) if session.dry_run else []
    hours = {found.addr: (found.result or {}).get("fileReservedTime") for found in kept}
    return _rows(session, targets, upkeep.delete_expired_commit_logs, _old, hours)


def _rows(
    session: Session,
    targets: list[Target],
    order: Callable[[list[str]], list[ServerResult[bool]]],
    planned: Callable[[RuntimeInfo, str | None], str],
    hours: Mapping[str, str | None] = MappingProxyType({}),
) -> Rows:
    """A row for each broker with the order's result; in a dry run, with what the broker would do."""
    brokers = addrs(targets)
    changes: dict[str, str] = {}
    found: list[ServerResult[bool]]
    if session.dry_run:
        infos = session.admin.brokers.runtime_infos(brokers)
        changes = {addr: planned(info, hours.get(addr)) for addr, info, _ in infos if info is not None}
        found = [info.then(lambda _: True) for info in infos]
    else:
        found = order(brokers)
    results = matched(targets, found)
    rows: list[Row] = [
        {
            **identity(target),
            "changes": changes.get(target.broker_addr or ""),
            **outcome(result.error, "dry-run" if session.dry_run else "done"),
        }
        for target, result in zip(targets, results, strict=True)
    ]
    return Rows(COLUMNS, rows, [result.error for result in results])


def _old(info: RuntimeInfo, hours: str | None) -> str:
    age, ratio = info.hours(time()), info.number("commitLogDiskRatio")
    oldest = "" if age is None else f"; the oldest message is {age:.1f} hours old"
    disk = "" if ratio is None else f", {ratio:.0%} of the disk is used"
    return f"deletes files of the commit log that are older than {hours or '?'} hours{oldest}{disk}"


def _unused(info: RuntimeInfo, _: str | None) -> str:
    return "deletes the queues of topics without config; which those are, no broker tells"


def _expired(info: RuntimeInfo, _: str | None) -> str:
    begin = info.integer("commitLogMinOffset")
    # A broker with an empty store reports -1.
    where = "" if begin is None or begin < 0 else f", which begins at {begin}"
    return f"deletes queue entries whose messages have left the commit log{where}"
