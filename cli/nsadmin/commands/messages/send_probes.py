"""Owns sendMsgStatus, checkMsgSendRT and clusterRT, which write test messages and measure the time."""

from collections.abc import Iterator, Sequence
from functools import partial
from time import time
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.send_probes import SendProbe
from nsadmin.command_line import argument_values
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

PROBE_COLUMNS = (
    "brokerName",
    "brokerAddr",
    "queueId",
    "offsetMsgId",
    "queueOffset",
    "rt",
    "result",
    "error",
)
BROKER_RT_COLUMNS = (
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
BROKER_RT_TABLE_COLUMNS = (
    "clusterName",
    "brokerName",
    "rt",
    "maxRt",
    "successCount",
    "failCount",
    "result",
    "error",
)
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
        f"Write {count} messages of {body_bytes} bytes to the topic {queue.topic} at {queue.broker_addr}?"
    )
    if session.is_dry_run:
        return ResultRows(PROBE_COLUMNS, [{**_queue_cells(queue), "result": "dry-run"}])
    send_probes = list(session.admin.send_probes.send_probes(queue, body_bytes, count))
    return _probe_rows(send_probes)


@command(
    columns=PROBE_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("broker", "simulated brokers take no messages"),
)
def check_msg_send_rt(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    message_count: Annotated[
        int, Option("-a", "--amount", metavar="N", help="Number of messages, sent one after another.", min=1)
    ] = 100,
    body_bytes: Annotated[
        int, Option("-s", "--size", metavar="BYTES", help="Bytes of each body.", min=1)
    ] = 128,
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
    send_queues = session.admin.send_probes.list_queues(topic)
    session.confirm_change(
        f"Write {message_count} messages of {body_bytes} bytes to {topic}, which its consumers will receive?"
    )
    queue_turns = [send_queues[turn_index % len(send_queues)] for turn_index in range(message_count)]
    if session.is_dry_run:
        return ResultRows(
            PROBE_COLUMNS, [{**_queue_cells(send_queue), "result": "dry-run"} for send_queue in queue_turns]
        )
    send_probes = [
        send_probe
        for send_queue in queue_turns
        for send_probe in session.admin.send_probes.send_probes(send_queue, body_bytes, 1)
    ]
    probe_rows, seen_addrs = _probe_rows(send_probes), set[str]()
    warm_ms: list[float] = []
    for send_probe in send_probes:
        if send_probe.error is None and send_probe.send_queue.broker_addr in seen_addrs:
            warm_ms.append(send_probe.elapsed_ms)
        seen_addrs.add(send_probe.send_queue.broker_addr)
    mean_note = (
        [f"mean of {len(warm_ms)} messages over open connections: {sum(warm_ms) / len(warm_ms):.3f} ms"]
        if warm_ms
        else []
    )
    return probe_rows._replace(notes=[*probe_rows.notes, *mean_note])


def _probe_rows(send_probes: Sequence[SendProbe]) -> ResultRows:
    """A row for each message."""
    probe_rows: list[ResultRow] = [
        {
            **_queue_cells(send_probe.send_queue),
            "offsetMsgId": send_probe.sent_message and send_probe.sent_message.offset_msg_id,
            "queueOffset": send_probe.sent_message and send_probe.sent_message.queue_offset,
            "rt": to_fine_millis(round(send_probe.elapsed_ms, 3)),
            **outcome_cells(send_probe.error),
        }
        for send_probe in send_probes
    ]
    probe_errors = [send_probe.error for send_probe in send_probes]
    failed_count = sum(error is not None for error in probe_errors)
    failure_notes = [f"{failed_count} of {len(send_probes)} messages failed"] if failed_count else []
    return ResultRows(PROBE_COLUMNS, probe_rows, probe_errors, failure_notes)


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
    body_bytes: Annotated[
        int, Option("-s", "--size", metavar="BYTES", help="Bytes of each body.", min=1)
    ] = 128,
    cluster_name: Annotated[
        str | None,
        Option("-c", "--cluster", metavar="CLUSTER", help="Only this cluster."),
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
    broker_groups = session.admin.clusters.get_info().groups_in_cluster(cluster_name)
    broker_names = ", ".join(broker_group.broker_name for broker_group in broker_groups)
    session.confirm_change(f"Write {message_count} messages of {body_bytes} bytes to each of {broker_names}?")
    measure_once = partial(
        _measure_brokers, session, broker_groups, message_count, body_bytes, machine_room, as_lines
    )
    return (
        measure_once()
        if interval_seconds is None or session.is_dry_run
        else session.repeat_every(interval_seconds, measure_once)
    )


def _measure_brokers(
    session: Session,
    broker_groups: Sequence[BrokerAddrGroup],
    message_count: int,
    body_bytes: int,
    machine_room: str | None,
    as_lines: bool,
) -> ResultRows | str:
    broker_rows: list[ResultRow] = []
    broker_errors: list[RocketMQError | None] = []
    for broker_group in broker_groups:
        broker_row, broker_error = _measure_broker(
            session, broker_group.broker_name, message_count, body_bytes
        )
        now_text = format_utc(int(time() * 1000))
        broker_rows.append(
            {
                "time": now_text,
                "machineRoom": machine_room,
                "clusterName": broker_group.cluster_name,
                **broker_row,
            }
        )
        broker_errors.append(broker_error)
    if as_lines and not any(broker_errors):
        line_columns = ("time", "machineRoom", "clusterName", "brokerName", "rt")
        return "\n".join(
            "|".join(
                "" if broker_row.get(column_name) is None else str(broker_row[column_name])
                for column_name in line_columns
            )
            for broker_row in broker_rows
        )
    return ResultRows(BROKER_RT_COLUMNS, broker_rows, broker_errors, (), BROKER_RT_TABLE_COLUMNS)


def _measure_broker(
    session: Session, broker_name: str, message_count: int, body_bytes: int
) -> tuple[ResultRow, RocketMQError | None]:
    try:
        send_queue = session.admin.send_probes.choose_queue(broker_name)
    except RocketMQError as error:
        return {"brokerName": broker_name, **outcome_cells(error)}, error
    broker_cells = {"brokerName": broker_name, "brokerAddr": send_queue.broker_addr}
    if session.is_dry_run:
        return {**broker_cells, "result": "dry-run"}, None
    send_probes = list(session.admin.send_probes.send_probes(send_queue, body_bytes, message_count))
    first_error = next((send_probe.error for send_probe in send_probes if send_probe.error is not None), None)
    return {**broker_cells, **_rt_cells(send_probes), **outcome_cells(first_error)}, first_error


def _rt_cells(send_probes: Sequence[SendProbe]) -> ResultRow:
    good_ms = [send_probe.elapsed_ms for send_probe in send_probes if send_probe.error is None]
    warm_ms = [send_probe.elapsed_ms for send_probe in send_probes[1:] if send_probe.error is None] or good_ms
    return {
        "rt": to_fine_millis(round(sum(warm_ms) / len(warm_ms), 3) if warm_ms else None),
        "maxRt": to_fine_millis(round(max(warm_ms), 3) if warm_ms else None),
        "successCount": len(good_ms),
        "failCount": len(send_probes) - len(good_ms),
    }


def _queue_cells(send_queue: SendQueue) -> ResultRow:
    return {
        "brokerName": send_queue.broker_name,
        "brokerAddr": send_queue.broker_addr,
        "queueId": send_queue.queue_id,
    }


def _require_size(body_bytes: int) -> None:
    if body_bytes > MAX_BODY_BYTES:
        raise UsageError(f'invalid value "{body_bytes}" for -s: expected 0 to {MAX_BODY_BYTES} bytes')
