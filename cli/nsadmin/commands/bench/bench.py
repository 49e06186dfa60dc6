"""Owns `bench produce`, `bench consume` and `bench latency`, which measure a cluster with a bounded load."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.messages import FAILED
from nsadmin.commands.columns.servers import ERROR, failure_notes, outcome_word
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, ByteSize, Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.bench.bench_topic import choose_cluster, list_left_topics, open_bench_topic
from nsadmin.operations.bench.latency_figures import Percentiles, draw_histogram, find_percentiles
from nsadmin.operations.bench.load_runs import BrokerLoad, run_consume, run_latency, run_produce

MESSAGE_COUNT: AnyColumn = Column(
    "messageCount", "messages that were measured on this broker", lambda r: r.message_count
)
LOAD_FAILED: Column[BrokerLoad] = FAILED.of(lambda r: r.failed_count)
LOAD_RESULT: Column[BrokerLoad] = Column(
    "result", "done, dry-run or failed", lambda r: outcome_word(r.error, "done" if r.seconds else "dry-run")
)
THROUGHPUT_COLUMNS: Columns[BrokerLoad] = (
    BROKER_NAME,
    MESSAGE_COUNT,
    Column("bodyBytes", "size of these bodies, in bytes", lambda r: ByteSize(r.body_bytes)),
    Column("seconds", "duration of the run, in seconds", lambda r: round(r.seconds, 3)),
    Column(
        "messagesPerSecond",
        "messages per second on this broker",
        lambda r: round(r.message_count / r.seconds, 1) if r.seconds else None,
    ),
    Column(
        "bytesPerSecond",
        "bytes of bodies per second on this broker",
        lambda r: ByteSize(r.body_bytes / r.seconds) if r.seconds else None,
    ),
    LOAD_FAILED,
    LOAD_RESULT,
    ERROR,
)


class Latencies(NamedTuple):
    """The latencies of one kind on a broker."""

    load: BrokerLoad
    kind: str
    message_count: int
    percentiles: Percentiles


def _percentile(key: str, meaning: str, read: Callable[[Percentiles], float | None]) -> Column[Latencies]:
    def read_rounded(latencies: Latencies) -> object:
        value = read(latencies.percentiles)
        return to_fine_millis(None if value is None else round(value, 3))

    return Column(key, meaning, read_rounded)


LATENCY_COLUMNS: Columns[Latencies] = (
    *of_part(lambda r: r.load, (BROKER_NAME,)),
    Column(
        "kind",
        "ack (until the broker answered) or end to end (until a consumer had the message)",
        lambda r: r.kind,
    ),
    MESSAGE_COUNT,
    _percentile("p50", "half of the latencies are at most this long, in ms", lambda p: p.p50),
    _percentile("p90", "90 % of the latencies are at most this long, in ms", lambda p: p.p90),
    _percentile("p99", "99 % of the latencies are at most this long, in ms", lambda p: p.p99),
    _percentile("p999", "99.9 % of the latencies are at most this long, in ms", lambda p: p.p999),
    _percentile("max", "the longest latency, in ms", lambda p: p.maximum),
    *of_part(lambda r: r.load, (LOAD_FAILED, LOAD_RESULT, ERROR)),
)
MAX_TOTAL_BYTES = 10 << 30
"""A benchmark is refused beyond 10 GiB: the commit log keeps the messages until they expire."""

BenchClusterOption = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="The cluster. Default: the only one.")
]
SizeOption = Annotated[int, Option("--size", metavar="BYTES", help="Size of each body.", min=1)]
QueuesOption = Annotated[
    int, Option("--queues", metavar="N", help="Queues of the topic on each broker.", min=1)
]


class LoadSize(NamedTuple):
    """The load of one command; `message_count` is for each broker if `is_per_broker`."""

    command_name: str
    cluster_name: str | None
    message_count: int
    body_bytes: int
    queue_count: int
    is_per_broker: bool = False


@command(
    columns=THROUGHPUT_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def bench_produce(
    session: Session,
    cluster_name: BenchClusterOption = None,
    message_count: Annotated[
        int, Option("--count", metavar="N", help="Send N messages in all.", min=1)
    ] = 20_000,
    body_bytes: SizeOption = 1024,
    queue_count: QueuesOption = 4,
    rate: Annotated[
        float | None, Option("--rate", metavar="N", help="Send at most N messages per second.")
    ] = None,
) -> ResultRows:
    """Measure how many messages per second the brokers of a cluster store.

    nsadmin creates a topic with a new name on every master, and deletes it at the end. The commit logs keep
    the messages until they expire. One process sends, with up to 64 messages at once. So the figure is a
    lower bound: a fast broker can store more.

    Examples:
        # Load test: the throughput of 50,000 messages of 1 KiB
        nsadmin bench produce --count 50000 --yes
    """
    if rate is not None and not rate > 0:
        raise UsageError(f'bench produce: invalid number "{rate:g}" for --rate: use more than 0')

    def measure(topic: str, advance_progress: Callable[[int], None]) -> list[BrokerLoad]:
        return run_produce(session.admin, topic, message_count, body_bytes, rate, advance_progress)

    load_size = LoadSize("bench produce", cluster_name, message_count, body_bytes, queue_count)
    loads = _run_on_topic(session, load_size, measure)
    return _throughput_rows(loads)


@command(
    columns=THROUGHPUT_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def bench_consume(
    session: Session,
    cluster_name: BenchClusterOption = None,
    message_count: Annotated[
        int, Option("--count", metavar="N", help="Write and read N messages in all.", min=1)
    ] = 20_000,
    body_bytes: SizeOption = 1024,
    queue_count: QueuesOption = 4,
) -> ResultRows:
    """Measure how many messages per second a client reads from the brokers of a cluster.

    nsadmin writes the messages to a new topic first, and does not measure that. It reads all queues at once,
    32 messages of each at a time. The messages are in the memory of the brokers, not only on their disks.

    Examples:
        # Load test: how fast a client reads 50,000 messages of 1 KiB
        nsadmin bench consume --count 50000 --yes
    """

    def measure(topic: str, advance_progress: Callable[[int], None]) -> list[BrokerLoad]:
        written_loads = run_produce(session.admin, topic, message_count, body_bytes, None, lambda _: None)
        failed_loads = [load for load in written_loads if load.error is not None]
        return failed_loads or run_consume(session.admin, topic, message_count, advance_progress)

    load_size = LoadSize("bench consume", cluster_name, message_count, body_bytes, queue_count)
    loads = _run_on_topic(session, load_size, measure)
    return _throughput_rows(loads)


@command(
    columns=LATENCY_COLUMNS,
    agent_refusal="it puts load on the cluster",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def bench_latency(
    session: Session,
    cluster_name: BenchClusterOption = None,
    message_count: Annotated[
        int, Option("--count", metavar="N", help="Send N messages to each broker.", min=1)
    ] = 500,
    body_bytes: SizeOption = 1024,
    rate: Annotated[
        float, Option("--rate", metavar="N", help="Send N messages per second, one after another.")
    ] = 100.0,
) -> ResultRows:
    """Measure the latency of each broker of a cluster, one broker after another.

    The kind "ack" is the time from the send to the answer of the broker. The kind "end to end" is the time
    from the send until a waiting consumer has the message. Both are measured in one process, so its clock is
    the only one. A histogram of the end-to-end latencies follows on stderr.

    Examples:
        # 500 messages per broker, 100 per second
        nsadmin bench latency --yes
        # End to end test: send 10 test messages to each broker, and check that a consumer receives them
        nsadmin bench latency -c cluster-a --count 10 --yes
    """
    if not rate > 0:
        raise UsageError(f'bench latency: invalid number "{rate:g}" for --rate: use more than 0')

    def measure(topic: str, advance_progress: Callable[[int], None]) -> list[BrokerLoad]:
        return [
            run_latency(session.admin, send_queue, message_count, body_bytes, rate, advance_progress)
            for send_queue in session.admin.message_sender.list_queues(topic)
            if send_queue.queue_id == 0
        ]

    load_size = LoadSize("bench latency", cluster_name, message_count, body_bytes, 1, True)
    loads = _run_on_topic(session, load_size, measure)
    latencies = [
        Latencies(load, kind, len(measured), find_percentiles(measured))
        for load in loads
        for kind, measured in (("ack", load.ack_latencies), ("end to end", load.end_latencies))
    ]
    notes = _failure_notes(loads)
    for load in loads:
        if load.end_latencies:
            notes += [f"{load.broker_name}, end to end:", *draw_histogram(load.end_latencies)]
    return ResultRows.from_records(LATENCY_COLUMNS, latencies, [load.error for load in loads], notes)


def _run_on_topic(
    session: Session, load_size: LoadSize, measure: Callable[[str, Callable[[int], None]], list[BrokerLoad]]
) -> list[BrokerLoad]:
    """Ask, create the topic, run the load, and delete the topic. A dry run returns no figures."""
    cluster_name, masters = choose_cluster(session.admin, load_size.cluster_name)
    total_count = load_size.message_count * (len(masters) if load_size.is_per_broker else 1)
    total_bytes = total_count * load_size.body_bytes
    if total_bytes > MAX_TOTAL_BYTES:
        raise UsageError(
            f"{load_size.command_name}: too much data, {total_bytes / (1 << 30):,.1f} GiB, limit "
            f"{MAX_TOTAL_BYTES >> 30} GiB: use a smaller --count or --size"
        )
    for left_topic in list_left_topics(session.admin, cluster_name):
        delete_command = quote_command("deleteTopic", left_topic, cluster_name)
        session.write_remark(
            f"topic {left_topic} is of another benchmark: if that has ended, run {delete_command}"
        )
    messages_text = f"{count_noun(total_count, 'message')} of {load_size.body_bytes} bytes"
    cost_text = f"{messages_text}, {total_bytes / (1 << 20):.1f} MiB, to a new topic on {', '.join(masters)}"
    session.confirm_change(f"Write {cost_text}, and delete the topic afterwards?")
    if session.is_dry_run:
        session.write_remark(f"would write {cost_text}")
        return [BrokerLoad(broker_name) for broker_name in masters]
    with (
        open_bench_topic(
            session.admin, cluster_name, masters, load_size.queue_count, session.write_remark
        ) as topic,
        session.show_progress("measuring", total_count) as advance_progress,
    ):
        return measure(topic, advance_progress)


def _throughput_rows(loads: Sequence[BrokerLoad]) -> ResultRows:
    return ResultRows.from_records(
        THROUGHPUT_COLUMNS, loads, [load.error for load in loads], _failure_notes(loads)
    )


def _failure_notes(loads: Sequence[BrokerLoad]) -> list[str]:
    return failure_notes((load.broker_name, load.error) for load in loads)
