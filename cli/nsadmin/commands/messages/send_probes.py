"""Owns sendMsgStatus, checkMsgSendRT and clusterRT, which write test messages and measure the time."""

from collections.abc import Iterator, Sequence
from time import time
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import BrokerAddrGroup, find_shared_addrs
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.send_probes import SendProbe
from nsadmin.command_line import argument_values
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import OFFSET_MSG_ID, QUEUE_OFFSET
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import QUEUE_ID
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class ProbeRow(NamedTuple):
    """A test message; without a probe, of a dry run."""

    queue: SendQueue
    probe: SendProbe | None

    @property
    def error(self) -> RocketMQError | None:
        return self.probe and self.probe.error

    @property
    def result(self) -> str:
        return outcome_word(self.error, "done" if self.probe else "dry-run")


RT: Column[SendProbe] = Column(
    "rt", "ms from the request to the answer", lambda p: to_fine_millis(round(p.elapsed_ms, 3))
)
PROBE_COLUMNS: Columns[ProbeRow] = (
    *of_part(lambda r: r.queue, (BROKER_NAME, BROKER_ADDR, QUEUE_ID)),
    *of_part(lambda r: r.probe and r.probe.sent_message, (OFFSET_MSG_ID, QUEUE_OFFSET)),
    *of_part(lambda r: r.probe, (RT,)),
    RESULT,
    ERROR,
)
TOPIC_PROBE_COLUMNS = tuple(c.means("done, dry-run or failed") if c is RESULT else c for c in PROBE_COLUMNS)


class BrokerTimes(NamedTuple):
    """The times of the test messages of a broker; the broker has no address without a queue for them.

    `probes` are None if none was sent.
    """

    group: BrokerAddrGroup
    time: str | None
    broker_addr: str | None
    probes: Sequence[SendProbe] | None
    error: RocketMQError | None

    @property
    def good_ms(self) -> list[float]:
        return [p.elapsed_ms for p in self.probes or () if p.error is None]

    @property
    def warm_ms(self) -> list[float]:
        """The times over an open connection, if there are any."""
        return [p.elapsed_ms for p in (self.probes or ())[1:] if p.error is None] or self.good_ms

    @property
    def result(self) -> str:
        return outcome_word(self.error, "dry-run" if self.probes is None else "done")


MACHINE_ROOM: Column[BrokerTimes] = Column(
    "machineRoom", "location of the measurement, from -m", lambda b: None, wide=True
)
MEAN_RT: Column[BrokerTimes] = Column(
    "rt",
    "ms from the request to the answer, as mean without the first message",
    lambda b: to_fine_millis(round(sum(b.warm_ms) / len(b.warm_ms), 3) if b.warm_ms else None),
)
BROKER_RT_COLUMNS: Columns[BrokerTimes] = (
    Column("time", "time of the measurement (UTC)", lambda b: b.time, wide=True),
    MACHINE_ROOM,
    *of_part(lambda b: b.group, (CLUSTER_NAME, BROKER_NAME)),
    BROKER_ADDR.in_wide(),
    MEAN_RT,
    Column(
        "maxRt",
        "the longest of these waits, in ms",
        lambda b: to_fine_millis(round(max(b.warm_ms), 3) if b.warm_ms else None),
    ),
    Column(
        "successCount",
        "messages that the broker stored",
        lambda b: None if b.probes is None else len(b.good_ms),
    ),
    Column(
        "failCount",
        "messages that the broker did not store",
        lambda b: None if b.probes is None else len(b.probes) - len(b.good_ms),
    ),
    RESULT,
    ERROR,
)
SizeOption = Annotated[int, Option("-s", "--size", metavar="BYTES", help="Bytes of each body.", min=1)]
MAX_BODY_BYTES = 4 << 20
"""The largest message body in bytes that brokers accept by default (maxMessageSize)."""


@command(
    columns=PROBE_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("broker", "simulated brokers take no messages"),
)
def send_msg_status(
    session: Session,
    broker_name: Annotated[
        str, Argument(metavar="BROKER", help="Name of a broker."), Flags("-b", "--brokerName")
    ],
    body_bytes: Annotated[
        int, Option("-s", "--messageSize", metavar="BYTES", help="Bytes of each body.", min=1)
    ] = 128,
    count: Annotated[
        int, Option("-c", "--count", metavar="N", help="Number of messages, sent one after another.", min=1)
    ] = 50,
) -> ResultRows:
    """Write test messages to a broker, and measure the time of each.

    The messages have the tag PROBE. They go to the topic with the broker's own name, which has no consumers.
    They stay until the broker deletes its oldest files. The first rt includes opening the connection.

    Examples:
        # Ten messages of 1 KiB
        nsadmin sendMsgStatus broker-a-0 -s 1024 -c 10
    """
    _require_size(body_bytes)
    queue = session.admin.send_probes.choose_queue(broker_name)
    session.confirm_change(
        f"Write {count_noun(count, 'message')} of {body_bytes} bytes to the topic {queue.topic} at "
        f"{queue.broker_addr}?"
    )
    if session.is_dry_run:
        return ResultRows.from_records(PROBE_COLUMNS, [ProbeRow(queue, None)])
    return _probe_rows(list(session.admin.send_probes.send_probes(queue, body_bytes, count)))


@command(
    columns=TOPIC_PROBE_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("broker", "simulated brokers take no messages"),
)
def check_msg_send_rt(
    session: Session,
    topic: MessageTopicArgument,
    message_count: Annotated[
        int, Option("-a", "--amount", metavar="N", help="Number of messages, sent one after another.", min=1)
    ] = 100,
    body_bytes: SizeOption = 128,
) -> ResultRows:
    """Write test messages to all queues of a topic in turns, and measure the time of each.

    The messages have the tag PROBE, and the consumers of the topic receive them. Use clusterRT to measure
    without consumers. The first rt of each broker includes opening the connection. A line on stderr shows the
    mean of the others.

    Examples:
        # Ten messages of 1 KiB
        nsadmin checkMsgSendRT payments -a 10 -s 1024 --yes
    """
    _require_size(body_bytes)
    queues = session.admin.send_probes.list_queues(topic)
    session.confirm_change(
        f"Write {count_noun(message_count, 'message')} of {body_bytes} bytes to {topic} and its consumers?"
    )
    turns = [queues[turn % len(queues)] for turn in range(message_count)]
    if session.is_dry_run:
        return ResultRows.from_records(PROBE_COLUMNS, [ProbeRow(queue, None) for queue in turns])
    probes = [p for queue in turns for p in session.admin.send_probes.send_probes(queue, body_bytes, 1)]
    warm_ms, seen_addrs = list[float](), set[str]()
    for probe in probes:
        if probe.error is None and probe.send_queue.broker_addr in seen_addrs:
            warm_ms.append(probe.elapsed_ms)
        seen_addrs.add(probe.send_queue.broker_addr)
    rows = _probe_rows(probes)
    if not warm_ms:
        return rows
    mean_ms = sum(warm_ms) / len(warm_ms)
    mean = f"mean of {count_noun(len(warm_ms), 'message')} over open connections: {mean_ms:.3f} ms"
    return rows._replace(notes=[*rows.notes, mean])


def _probe_rows(probes: Sequence[SendProbe]) -> ResultRows:
    """A row for each message."""
    errors = [p.error for p in probes]
    failed_count = sum(error is not None for error in errors)
    notes = [f"{failed_count} of {len(probes)} messages failed"] if failed_count else []
    rows = [ProbeRow(p.send_queue, p) for p in probes]
    return ResultRows.from_records(PROBE_COLUMNS, rows, errors, notes)


@command(
    columns=BROKER_RT_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("broker", "simulated brokers take no messages"),
)
def cluster_rt(
    session: Session,
    message_count: Annotated[
        int, Option("-a", "--amount", metavar="N", help="Number of messages for each broker.", min=1)
    ] = 100,
    body_bytes: SizeOption = 128,
    cluster_name: Annotated[
        str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Only this cluster.")
    ] = None,
    lines_flag: Annotated[
        str | None,
        Option(
            "-p", "--print", metavar="true|false", help="true: print lines of TIME|ROOM|CLUSTER|BROKER|MS."
        ),
    ] = None,
    machine_room: Annotated[
        str | None,
        Option("-m", "--machineRoom", metavar="ROOM", help="Location of the measurement, for a column."),
    ] = None,
    interval_seconds: Annotated[
        float | None,
        Option("-i", "--interval", metavar="SECONDS", help="Repeat after this time, until Ctrl-C."),
    ] = None,
) -> ResultRows | str | Iterator[ResultRows | str]:
    """Write test messages to every master, one broker after another, and measure the time.

    The messages go to the same topics as those of sendMsgStatus, and stay there. With -i, their number grows.
    rt is the mean of the successful messages, without the first one, which includes opening the connection.

    Examples:
        # The time that each broker of a cluster needs for a message of 1 KiB
        nsadmin clusterRT -c cluster-a -a 20 -s 1024
    """
    _require_size(body_bytes)
    argument_values.validate_interval(interval_seconds)
    as_lines = argument_values.parse_boolean("-p", lines_flag) is True
    cluster_info = session.admin.clusters.get_info()
    groups = cluster_info.processes_in_cluster(cluster_name)
    shared_addrs = find_shared_addrs(cluster_info.groups_in_cluster(cluster_name))
    names = ", ".join(g.broker_name for g in groups)
    session.confirm_change(
        f"Write {count_noun(message_count, 'message')} of {body_bytes} bytes to each of {names}?"
    )

    def measure_once() -> ResultRows | str:
        brokers = [
            _measure_broker(
                session, g, shared_addrs.get(g.master_addr or "", [g.broker_name]), message_count, body_bytes
            )
            for g in groups
        ]
        errors = [b.error for b in brokers]
        common = {MACHINE_ROOM: machine_room}
        rows = ResultRows.from_records(BROKER_RT_COLUMNS, brokers, errors, common=common)
        if not as_lines or any(errors):
            return rows
        names = ("time", "machineRoom", "clusterName", "brokerName", "rt")
        return "\n".join(
            "|".join("" if row[name] is None else str(row[name]) for name in names) for row in rows.rows
        )

    if interval_seconds is None or session.is_dry_run:
        return measure_once()
    return session.repeat_every(interval_seconds, measure_once)


def _measure_broker(
    session: Session, group: BrokerAddrGroup, names: Sequence[str], message_count: int, body_bytes: int
) -> BrokerTimes:
    """Measure a broker with the topic of one of its names: a renamed one still has the former topic."""
    send_probes, queue = session.admin.send_probes, None
    for name in names:
        try:
            queue = send_probes.choose_queue(name)
            break
        except RocketMQError as name_error:
            error = name_error
    if queue is None:
        return BrokerTimes(group, format_utc(int(time() * 1000)), None, None, error)
    probes = None if session.is_dry_run else list(send_probes.send_probes(queue, body_bytes, message_count))
    first_error = next((p.error for p in probes or () if p.error is not None), None)
    return BrokerTimes(group, format_utc(int(time() * 1000)), queue.broker_addr, probes, first_error)


def _require_size(body_bytes: int) -> None:
    if body_bytes > MAX_BODY_BYTES:
        raise UsageError(f'invalid value "{body_bytes}" for -s: expected 0 to {MAX_BODY_BYTES} bytes')
