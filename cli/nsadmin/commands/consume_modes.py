"""Owns getConsumeMode and setConsumeMode: the clients of a group either pull or pop."""

from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.consume_modes import MODES, ConsumeMode, ModeChange, SetMode
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    MasterOption,
    MastersOption,
    MembersOption,
    addrs,
    identity,
    masters_at,
    matched,
    members_at,
    places,
)
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, "topic", "consumerGroup", "mode", "popShareQueueNum", "error")
CHANGE_COLUMNS = (*IDENTITY, "topic", "consumerGroup", *CHANGE)
IN_TABLE = (*IDENTITY, "topic", "consumerGroup", *CHANGE_IN_TABLE)


@shows(COLUMNS)
def get_consume_mode(
    session: Session,
    broker: AddrOption = None,
    cluster: MembersOption = None,
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic.")
    ] = None,
    group: Annotated[
        str | None, Option("-g", "--groupName", metavar="GROUP", help="Only this group.")
    ] = None,
) -> Rows:
    """Show for which groups and topics a consume mode was set, on a broker or on every broker of a cluster.

    A row without topic and group is the broker's default, which counts for all others. Slaves have their
    masters' a minute later. mqadmin can set modes and not read them. Brokers since 5.0 have them.

    Examples:
        # All that were set in a cluster
        nsadmin getConsumeMode -c cluster-a
        # Whether one group pops
        nsadmin getConsumeMode -c cluster-a -g search-indexer
    """
    targets = members_at(session, "getConsumeMode", broker, cluster)
    modes = session.admin.consume_modes
    found = matched(targets, modes.each(addrs(targets)))
    defaults = matched(targets, modes.defaults([item.addr for item in found if item.error is None]))
    rows = [
        row
        for target, set_, default in zip(targets, found, defaults, strict=True)
        for row in _rows(target, set_, default, topic, group)
    ]
    return Rows(COLUMNS, rows, [item.error for item in found])


def _rows(
    target: Target,
    found: ServerResult[tuple[SetMode, ...]],
    default: ServerResult[ConsumeMode],
    topic: str | None,
    group: str | None,
) -> list[Row]:
    if found.result is None:
        return [{**identity(target), "error": found.error and error_text(found.error)}]
    general: list[Row] = [{**identity(target), **_shown(default.result)}]
    return general + [
        {**identity(target), "topic": item.topic, "consumerGroup": item.group, **_shown(item.mode)}
        for item in found.result
        if topic in (None, item.topic) and group in (None, item.group)
    ]


def _shown(mode: ConsumeMode | None) -> dict[str, object]:
    return {} if mode is None else {"mode": mode.mode, "popShareQueueNum": mode.pop_share_queue_num}


@shows(CHANGE_COLUMNS)
def set_consume_mode(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topicName"), "TOPIC", "Name of a topic.")],
    group: Annotated[str, Word(("-g", "--groupName"), "GROUP", "Name of a group.")],
    mode: Annotated[str, Word(("-m", "--mode"), "MODE", "PULL or POP.", values="PULL|POP")],
    share: Annotated[
        int,
        Option("-q", "--popShareQueueNum", metavar="N", help="Of POP: how many more clients share a queue."),
    ] = 0,
    broker: MasterOption = None,
    cluster: MastersOption = None,
) -> Rows:
    """Have the clients of a group pull from a topic's queues, or pop, on one master or on all of a cluster.

    It counts for clients that leave it to brokers who gets which queue, and for those that are connected
    within seconds. With -q -1 every client pops from every queue. A group or topic that a broker does not
    know is an error: brokers would make the group. The mode is read before and after.

    Examples:
        # What would change
        nsadmin setConsumeMode payments search-indexer POP -c cluster-a --dry-run
        # Pop, each queue shared by all clients
        nsadmin setConsumeMode payments search-indexer POP -q -1 -b 127.0.0.1:10911 --yes
    """
    command = "setConsumeMode"
    wanted = ConsumeMode(mode.upper(), share)
    if wanted.mode not in MODES:
        raise UsageError(f"{command}: {mode!r} is no mode: give PULL or POP")
    targets = masters_at(session, command, broker, cluster)
    session.confirm(f"Let {group} {wanted.mode} from {topic} on {places(targets)}?")
    modes = session.admin.consume_modes
    act = modes.plan if session.dry_run else modes.set
    results = matched(targets, act(addrs(targets), topic, group, wanted))
    word = "dry-run" if session.dry_run else "done"
    rows: list[Row] = [
        {
            **identity(target),
            "topic": topic,
            "consumerGroup": group,
            **(_change(item.result) if item.result else {}),
            **outcome(item.error, _word(item, word)),
        }
        for target, item in zip(targets, results, strict=True)
    ]
    return Rows(CHANGE_COLUMNS, rows, [item.error for item in results], (), IN_TABLE)


def _change(found: ModeChange) -> dict[str, object]:
    return change(_shown(found.before) or None, _shown(found.after))


def _word(found: ServerResult[ModeChange], done: str) -> str:
    return "unchanged" if found.result is not None and found.result.before == found.result.after else done
