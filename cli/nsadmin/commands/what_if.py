"""whatIf: predicts what would be lost if some brokers or name servers stopped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from time import time_ns
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.addresses import parse_addrs
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, shows
from nsadmin.diagnostics import UsageError
from nsadmin.operations.what_if.brokers import Outlook, without_brokers
from nsadmin.operations.what_if.lists import ListLoss
from nsadmin.operations.what_if.losses import GroupLoss, Loss, Worst
from nsadmin.operations.what_if.name_servers import Lists, without_name_servers
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "what", "name", "count", "finding", "lostRatio", "writeQueues", "writeQueuesLeft", "readQueues",
    "readQueuesLeft", "brokersLost", "topics", "clients", "namesrvAddrs",
)  # fmt: skip
IN_TABLE = (
    "what", "name", "count", "finding", "lostRatio", "writeQueues", "writeQueuesLeft", "clients"
)  # fmt: skip
LIST_COLUMNS = ("what", "name", "count", "finding", "nameServers", "nameServersLeft")


class WouldStandStill(RocketMQError):
    """Some topic, group or client would stop working."""


@shows(COLUMNS, LIST_COLUMNS)
def what_if(
    session: Session,
    down: Annotated[
        str | None,
        Option(
            "--down",
            metavar="BROKERS",
            help="Names of brokers, with commas; broker-a:0 is only its master.",
            values="brokers",
        ),
    ] = None,
    down_namesrv: Annotated[
        str | None, Option("--down-namesrv", metavar="ADDRS", help="Addresses of name servers, with commas.")
    ] = None,
    detail: Annotated[
        bool, Option("--detail", help="Each topic, broker and client by itself, also those that lose a part.")
    ] = False,
    system: Annotated[
        bool, Option("--system", help="Also topics of RocketMQ's own, of retries and of dead letters.")
    ] = False,
) -> Rows:
    """Show what topics and groups would lose without some brokers, or who would lose name servers.

    Nothing is changed. Topics are looked at on each name server: first those that would have no queue to
    write to, no master, nothing to read, or whose order configuration or static queues have clients go on
    sending to what is gone. Others lose lostRatio of their queues for writing. Groups are those that read
    topics of these brokers, as they say now. Which name servers clients know, only consumers tell.

    The exit code is 1 where something would stand still, 3 where not everything could be asked, else 0.

    Examples:
        # Before broker-a-0 is stopped: what stands still is there only (exit code 1)
        nsadmin whatIf --down broker-a-0
        # While its master is restarted: can all topics be written elsewhere? (exit code 1)
        nsadmin whatIf --down broker-a-0:0 --detail --filter what=topic
        # Who would have no name server left (exit code 1)
        nsadmin whatIf --down-namesrv 127.0.0.1:9876
    """
    if (down is None) == (down_namesrv is None):
        raise UsageError("whatIf: type either --down BROKER or --down-namesrv ADDR")
    if down_namesrv is not None:
        return _lists(without_name_servers(session.admin, parse_addrs(down_namesrv), _same()), detail)
    words = [word.strip() for word in (down or "").split(",") if word.strip()]
    if not words:
        raise UsageError("whatIf: --down names no broker: type --down BROKER,BROKER")
    now = time_ns() // 1_000_000
    return _outlook(without_brokers(session.admin, words, now, system=system), detail)


def _outlook(found: Outlook, detail: bool) -> Rows:
    rows = [*_topics(found.topics, detail), *map(_group, found.groups)]
    stopped = [item for item in found.topics if item.loss.stands_still]
    behind = [group for group in found.groups if group.stands_still]
    unknown = {addr: error for addr, error in found.errors.items() if error is not None}
    notes = [
        f"{len(found.topics)} of {found.asked} topics lose something: {len(stopped)} stand still, "
        f"{len(found.topics) - len(stopped)} lose a part; of {len(found.groups)} groups "
        f"{len(behind)} cannot read a topic any more; "
        f"{found.write_share:.0%} of all queues for writing go",
        *(f"unknown is what {addr} knows: {error_text(error)}" for addr, error in unknown.items()),
    ]
    return Rows(COLUMNS, rows, _errors(unknown.values(), bool(stopped or behind)), notes, IN_TABLE)


def _errors(unknown: Iterable[RocketMQError], stands_still: bool) -> list[RocketMQError | None]:
    failures = list(unknown)
    if failures:
        return [None, *failures]
    return [WouldStandStill("something would stand still")] if stands_still else []


def _topics(found: Sequence[Worst], detail: bool) -> Iterator[Row]:
    """A row for each topic that would stop; the others grouped by their loss, or one by one with --detail."""
    for key, items in groupby(found, lambda item: None if detail or item.loss.stands_still else _alike(item)):
        if key is None:
            yield from (_topic(item) for item in items)
        else:
            yield _together(list(items))


def _alike(item: Worst) -> tuple[object, ...]:
    return item.loss.write_share, item.loss.lost, item.addrs


def _topic(item: Worst) -> Row:
    loss = item.loss
    return {
        **_common(item),
        "what": "topic",
        "name": loss.topic,
        "count": 1,
        "writeQueues": loss.before.write_queues,
        "writeQueuesLeft": loss.after.write_queues,
        "readQueues": loss.before.read_queues,
        "readQueuesLeft": loss.after.read_queues,
    }


def _together(items: Sequence[Worst]) -> Row:
    if len(items) == 1:
        return _topic(items[0])
    return {**_common(items[0]), "what": "topics", "name": f"{items[0].loss.topic}, ...", "count": len(items)}


def _common(item: Worst) -> Row:
    return {
        "finding": ", ".join(_findings(item.loss)),
        "lostRatio": round(item.loss.write_share, 3),
        "brokersLost": list(item.loss.lost),
        "namesrvAddrs": list(item.addrs),
    }


def _findings(loss: Loss) -> list[str]:
    found = {
        "no queue to write to": loss.stops_writes,
        "no master": loss.loses_masters,
        "nothing to read": loss.stops_reads,
        f"its order configuration names {', '.join(loss.ordered_by)}": bool(loss.ordered_by),
        "its static queues stay in use": loss.is_static,
    }
    return [text for text, holds in found.items() if holds] or ["loses a part"]


def _group(group: GroupLoss) -> Row:
    first = ", ".join([*group.stops[:3], *(["..."] if len(group.stops) > 3 else [])])
    finding = f"cannot read {first}" if group.stands_still else "reads less"
    return {
        "what": "group",
        "name": group.group,
        "count": len(group.stops) + len(group.loses),
        "finding": finding,
        "topics": [*group.stops, *group.loses],
        "clients": group.clients,
    }


def _lists(found: Lists, detail: bool) -> Rows:
    every = [
        *(_alone(f"{name}:{number}") for name, ids in found.alone.items() for number in sorted(ids)),
        *(_list("broker", item, item.name in found.fetching) for item in found.brokers),
        *(_list("client", item, False) for item in found.clients),
    ]
    stranded = [row for row in every if row["finding"] not in _HARMLESS]
    rows = every if detail else list(_joined(every))
    unknown = {addr: error for addr, error in found.errors.items() if error is not None}
    brokers, clients = found.asked
    notes = [
        f"asked for their lists: {brokers} brokers and {clients} consumers; "
        f"{found.producers} producers cannot be asked, {found.silent} consumers did not tell",
        *(f"unknown is what {addr} knows: {error_text(error)}" for addr, error in unknown.items()),
    ]
    return Rows(LIST_COLUMNS, rows, _errors(unknown.values(), bool(stranded)), notes)


_FEWER, _FETCHES = "fewer left", "none left until it fetches a new list"
_HARMLESS = (_FEWER, _FETCHES)


def _joined(rows: Sequence[Row]) -> Iterator[Row]:
    """Combine brokers or clients that keep a name server and have the same list into one row."""
    for (harmless, *_), items in groupby(rows, lambda row: (row["finding"] in _HARMLESS, *_but_name(row))):
        alike = list(items)
        if harmless and len(alike) > 1:
            yield {
                **alike[0],
                "what": f"{alike[0]['what']}s",
                "name": f"{alike[0]['name']}, ...",
                "count": len(alike),
            }
        else:
            yield from alike


def _but_name(row: Row) -> list[object]:
    return [value for key, value in row.items() if key != "name"]


def _alone(name: str) -> Row:
    return {"what": "broker", "name": name, "count": 1, "finding": "registered nowhere else"}


def _list(what: str, item: ListLoss, fetches: bool) -> Row:
    none = _FETCHES if fetches else "none left"
    return {
        "what": what,
        "name": item.name,
        "count": 1,
        "finding": _FEWER if item.left else none,
        "nameServers": list(item.name_servers),
        "nameServersLeft": list(item.left),
    }


def _same() -> Callable[[str, str], bool]:
    """A predicate for two addresses of the same server: one list can have a host name, another its IP."""
    from functools import cache
    from socket import SOCK_STREAM, getaddrinfo

    @cache
    def places(addr: str) -> frozenset[object]:
        host, _, port = addr.rpartition(":")
        try:
            return frozenset(info[4] for info in getaddrinfo(host.strip("[]"), port, type=SOCK_STREAM))
        except (OSError, ValueError):
            return frozenset()

    return lambda one, other: one == other or not places(one).isdisjoint(places(other))
