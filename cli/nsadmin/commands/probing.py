"""Owns sendMsgStatus, checkMsgSendRT and clusterRT, which write test messages and measure the time."""

from collections.abc import Iterator, Sequence
from functools import partial
from time import time
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.clusters import BrokerGroup
from nsadmin.client.probing import Probe
from nsadmin.client.sending import Place
from nsadmin.commands import values
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.times import utc
from nsadmin.commands.units import fine_millis
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

STATUS_COLUMNS = (
    "brokerName",
    "brokerAddr",
    "queueId",
    "offsetMsgId",
    "queueOffset",
    "rt",
    "result",
    "error",
)
RT_COLUMNS = (
    "time",
    "machineRoom",
    "clusterName",
    "brokerName",
    "brokerAddr",
    "rt",
    "maxRt",
    "successCount",
    "failCount",
    "result",
    "error",
)
RT_IN_TABLE = ("clusterName", "brokerName", "rt", "maxRt", "successCount", "failCount", "result", "error")
LARGEST = 4 << 20
"""The largest message body in bytes that brokers accept by default (maxMessageSize)."""


@shows(STATUS_COLUMNS)
def send_msg_status(
    session: Session,
    broker: Annotated[str, Word(("-b", "--brokerName"), "BROKER", "Name of a broker.")],
    size: Annotated[
        int, Option("-s", "--messageSize", metavar="BYTES", minimum=1, help="Size of each body.")
    ] = 128,
    count: Annotated[
        int, Option("-c", "--count", metavar="N", minimum=1, help="So many messages, one after another.")
    ] = 50,
) -> Rows:
    """Write test messages to a broker, and show how long it took for each.

    They go, with the tag PROBE, to the topic that every broker has under its own name; nobody reads it, and
    they stay until the broker deletes its oldest files. rt of the first has the opening of the connection.

    Examples:
        # Ten messages of 1 KiB
        nsadmin sendMsgStatus broker-a-0 -s 1024 -c 10
    """
    _check_size("sendMsgStatus", size)
    place = session.admin.probing.place(broker)
    session.confirm(
        f"Write {count} messages of {size} bytes to the topic {place.topic} at {place.broker_addr}?"
    )
    if session.dry_run:
        return Rows(STATUS_COLUMNS, [{**_where(place), "result": "dry-run"}])
    probes = list(session.admin.probing.send(place, size, count))
    return _each(probes)


@shows(STATUS_COLUMNS)
def check_msg_send_rt(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    amount: Annotated[
        int, Option("-a", "--amount", metavar="N", minimum=1, help="So many messages, one after another.")
    ] = 100,
    size: Annotated[int, Option("-s", "--size", metavar="BYTES", minimum=1, help="Size of each body.")] = 128,
) -> Rows:
    """Write test messages to all queues of a topic in turns, and show how long it took for each.

    They have the tag PROBE, and whoever consumes the topic gets them: clusterRT measures without that. rt of
    the first at each broker has the opening of the connection; the note has the mean of the others.

    Examples:
        # Ten messages of 1 KiB
        nsadmin checkMsgSendRT payments -a 10 -s 1024 --yes
    """
    _check_size("checkMsgSendRT", size)
    places = session.admin.probing.places(topic)
    session.confirm(f"Write {amount} messages of {size} bytes to {topic}, whose consumers get them?")
    turns = [places[turn % len(places)] for turn in range(amount)]
    if session.dry_run:
        return Rows(STATUS_COLUMNS, [{**_where(place), "result": "dry-run"} for place in turns])
    probes = [probe for place in turns for probe in session.admin.probing.send(place, size, 1)]
    rows, seen = _each(probes), set[str]()
    warm: list[float] = []
    for probe in probes:
        if probe.error is None and probe.place.broker_addr in seen:
            warm.append(probe.millis)
        seen.add(probe.place.broker_addr)
    mean = (
        [f"mean of {len(warm)} messages over open connections: {sum(warm) / len(warm):.3f} ms"]
        if warm
        else []
    )
    return rows._replace(notes=[*rows.notes, *mean])


def _each(probes: Sequence[Probe]) -> Rows:
    """A row for each message."""
    rows: list[Row] = [
        {
            **_where(probe.place),
            "offsetMsgId": probe.sent and probe.sent.offset_msg_id,
            "queueOffset": probe.sent and probe.sent.queue_offset,
            "rt": fine_millis(round(probe.millis, 3)),
            **outcome(probe.error),
        }
        for probe in probes
    ]
    errors = [probe.error for probe in probes]
    failed = sum(error is not None for error in errors)
    notes = [f"{failed} of {len(probes)} messages failed"] if failed else []
    return Rows(STATUS_COLUMNS, rows, errors, notes)


@shows(RT_COLUMNS)
def cluster_rt(
    session: Session,
    amount: Annotated[
        int, Option("-a", "--amount", metavar="N", minimum=1, help="So many messages for each broker.")
    ] = 100,
    size: Annotated[int, Option("-s", "--size", metavar="BYTES", minimum=1, help="Size of each body.")] = 128,
    cluster: Annotated[
        str | None,
        Option("-c", "--cluster", metavar="CLUSTER", help="Only this cluster."),
    ] = None,
    print_log: Annotated[
        str | None,
        Option("-p", "--print", metavar="true|false", help="true: lines of TIME|ROOM|CLUSTER|BROKER|MS."),
    ] = None,
    machine_room: Annotated[
        str | None,
        Option("-m", "--machineRoom", metavar="ROOM", help="Where it is measured; a column."),
    ] = None,
    interval: Annotated[
        float | None, Option("-i", "--interval", metavar="SECONDS", help="Again and again, until Ctrl-C.")
    ] = None,
) -> Rows | str | Iterator[Rows | str]:
    """Write test messages to every master, one broker after another, and show how long it took.

    The messages go where those of sendMsgStatus go, and stay there: with -i more and more of them. rt is the
    mean of all that succeeded but the first, which has the opening of the connection, if there are two.

    Examples:
        # What each broker of a cluster takes for a message of 1 KiB
        nsadmin clusterRT -c cluster-a -a 20 -s 1024
    """
    command = "clusterRT"
    _check_size(command, size)
    values.seconds(command, interval)
    as_lines = values.flag(command, "-p", print_log) is True
    groups = session.admin.clusters.info().in_cluster(cluster)
    names = ", ".join(group.broker_name for group in groups)
    session.confirm(f"Write {amount} messages of {size} bytes to each of {names}?")
    once = partial(_measured, session, groups, amount, size, machine_room, as_lines)
    return once() if interval is None or session.dry_run else session.repeat(interval, once)


def _measured(
    session: Session,
    groups: Sequence[BrokerGroup],
    amount: int,
    size: int,
    room: str | None,
    as_lines: bool,
) -> Rows | str:
    rows: list[Row] = []
    errors: list[RocketMQError | None] = []
    for group in groups:
        row, error = _of_broker(session, group.broker_name, amount, size)
        now = utc(int(time() * 1000))
        rows.append({"time": now, "machineRoom": room, "clusterName": group.cluster_name, **row})
        errors.append(error)
    if as_lines and not any(errors):
        names = ("time", "machineRoom", "clusterName", "brokerName", "rt")
        return "\n".join(
            "|".join("" if row.get(name) is None else str(row[name]) for name in names) for row in rows
        )
    return Rows(RT_COLUMNS, rows, errors, (), RT_IN_TABLE)


def _of_broker(session: Session, name: str, amount: int, size: int) -> tuple[Row, RocketMQError | None]:
    try:
        place = session.admin.probing.place(name)
    except RocketMQError as error:
        return {"brokerName": name, **outcome(error)}, error
    where = {"brokerName": name, "brokerAddr": place.broker_addr}
    if session.dry_run:
        return {**where, "result": "dry-run"}, None
    probes = list(session.admin.probing.send(place, size, amount))
    first = next((probe.error for probe in probes if probe.error is not None), None)
    return {**where, **_figures(probes), **outcome(first)}, first


def _figures(probes: Sequence[Probe]) -> Row:
    good = [probe.millis for probe in probes if probe.error is None]
    warm = [probe.millis for probe in probes[1:] if probe.error is None] or good
    return {
        "rt": fine_millis(round(sum(warm) / len(warm), 3) if warm else None),
        "maxRt": fine_millis(round(max(warm), 3) if warm else None),
        "successCount": len(good),
        "failCount": len(probes) - len(good),
    }


def _where(place: Place) -> Row:
    return {"brokerName": place.broker_name, "brokerAddr": place.broker_addr, "queueId": place.queue_id}


def _check_size(command: str, size: int) -> None:
    if size > LARGEST:
        raise UsageError(f"{command}: -s {size} cannot be: brokers take up to {LARGEST} bytes")
