"""Owns collect, which polls name servers that write no journals, and writes journals for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.storage.journal.rolling_writer import JournalLimits
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR
from nsadmin.console import stderr
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.session import Session
from nsadmin.operations.collector import BROKERS_JOURNAL
from nsadmin.operations.collector.broker_poller import BrokerQuestions
from nsadmin.operations.collector.name_server_watch import MessageSink
from nsadmin.operations.collector.runner import Collector, CollectorPlan, journal_folder_of


class JournalRound(NamedTuple):
    """What one round added to a journal: a poll of a name server, or a round of the brokers."""

    namesrv_addr: str | None
    broker_count: int | None
    topic_count: int | None
    event_count: int | None
    duration_ms: int
    journal: Path
    error: RocketMQError | None


COLLECT_COLUMNS: Columns[JournalRound] = (
    NAMESRV_ADDR.of(lambda r: r.namesrv_addr),
    Column("result", "done or failed", lambda r: "failed" if r.error else "done"),
    Column("brokers", "brokers on the name server, including slaves", lambda r: r.broker_count),
    Column("topics", "topics on the name server", lambda r: r.topic_count),
    Column("events", "events that the poll added to the journal", lambda r: r.event_count),
    Column("took", "duration of the poll", lambda r: to_millis(r.duration_ms)),
    Column("journal", "folder of the journal", lambda r: str(r.journal)),
    ERROR,
)
_MAX_INTERVAL_SECONDS = 3600.0
_DAY_MS = 24 * 3_600_000


@command(columns=COLLECT_COLUMNS, agent_refusal="it runs until it is stopped")
def collect(
    session: Session,
    journals_folder: Annotated[
        str,
        Argument(metavar="DIR", help="Folder of the journals, with a subfolder for each name server."),
        Flags("--dir"),
    ],
    interval_text: Annotated[
        str,
        Option(
            "--interval", metavar="DURATION", help="Time between two polls: 500ms, 15s, 1m. Default: 15s."
        ),
    ] = "15s",
    max_request_rate: Annotated[
        int,
        Option(
            "--rate",
            metavar="N",
            help="Maximum requests per second, to all servers together. Default: 1000.",
            min=1,
        ),
    ] = 1000,
    kv_namespaces: Annotated[
        list[str] | None,
        Option(
            "-s",
            "--namespace",
            metavar="NS",
            help=f"KV namespace to poll in addition to {ORDER_TOPIC_CONFIG}. Repeatable.",
        ),
    ] = None,
    only_once: Annotated[bool, Option("--once", help="Poll each name server once, for cron.")] = False,
    poll_runtime: Annotated[
        bool, Option("--runtime", help="Also poll brokers: release, TPS, disk, waiting requests.")
    ] = False,
    poll_lag: Annotated[
        bool, Option("--lag", help="Also poll how far each consumer group is behind on each topic.")
    ] = False,
    broker_interval_text: Annotated[
        str,
        Option(
            "--broker-interval", metavar="DURATION", help="Time between two rounds of brokers. Default: 60s."
        ),
    ] = "60s",
    max_broker_rate: Annotated[
        int,
        Option(
            "--broker-rate", metavar="N", help="Maximum requests per second to brokers. Default: 50.", min=1
        ),
    ] = 50,
    keep_days: Annotated[
        int, Option("--keep-days", metavar="N", help="Maximum age of a journal's files. Default: 400.", min=1)
    ] = 400,
    keep_megabytes: Annotated[
        int,
        Option("--keep-megabytes", metavar="N", help="Maximum size of each journal. Default: 2048.", min=1),
    ] = 2048,
) -> ResultRows | Iterator[ResultRows]:
    """Poll name servers, also Java's, and write their changes to journals.

    Each poll asks every name server for its clusters, topics, routes, settings and KV config, and compares
    them with the last poll. nsadmin writes changes of brokers, queues, permissions and values as journal
    events (nsadmin guide journal), with `source: collector`. The `journal` commands read them. Between
    two polls, only the net change is known, and not which client made it. nsadmin also writes failed polls:
    until a poll succeeds, the state is unknown.

    With --runtime or --lag, nsadmin also polls the brokers, with 16 requests at a time. It writes the journal
    DIR/brokers, including brokers that do not answer. --lag needs a request for each consumer group on each
    master. If there is no master, nsadmin asks a slave.

    nsadmin deletes the oldest closed files of each journal if they exceed --keep-megabytes or --keep-days. It
    sends at most --concurrency requests to name servers at a time. Ctrl-C or SIGTERM stops it, and the same
    command resumes. nsadmin looks up the name servers once, at the start.

    Examples:
        # Record the history of name servers once, for cron; without --once, every 15 s
        nsadmin collect --dir collected --once
        # Include a KV namespace
        nsadmin collect --dir collected --namespace DEPLOYMENT --once
        # Include figures of brokers and consumer groups
        nsadmin collect --dir collected --runtime --lag --once
    """
    _require_broker_polling(poll_runtime or poll_lag, broker_interval_text, max_broker_rate)
    collector_plan = CollectorPlan(
        session.open_background_client().addresses.addrs,
        Path(journals_folder).expanduser(),
        None
        if only_once
        else parse_duration_seconds("--interval", interval_text, 0.1, _MAX_INTERVAL_SECONDS),
        session.options.access.concurrency,
        max_request_rate,
        tuple(dict.fromkeys((ORDER_TOPIC_CONFIG, *(kv_namespaces or ())))),
        BrokerQuestions(poll_runtime, poll_lag),
        parse_duration_seconds("--broker-interval", broker_interval_text, 0.1, _MAX_INTERVAL_SECONDS),
        max_broker_rate,
        JournalLimits(keep_bytes=keep_megabytes << 20, keep_millis=keep_days * _DAY_MS),
    )
    collector_voice = MessageSink(
        stderr.write_stderr_line,
        session.write_remark,
        stderr.write_stderr_line if session.options.debug else _discard_text,
    )
    collector = Collector(collector_plan, session.open_background_client, collector_voice)
    return (
        _collect_once(collector, collector_plan)
        if only_once
        else _collect_forever(session, collector, collector_plan)
    )


def _discard_text(_: str) -> None: ...


def _collect_once(collector: Collector, collector_plan: CollectorPlan) -> ResultRows:
    with _folder_errors(collector_plan):
        polls, broker_round = collector.poll_once()
    notes = [f"name server {p.namesrv_addr}: {error_text(p.poll_error)}" for p in polls if p.poll_error]
    rounds = [
        JournalRound(
            p.namesrv_addr,
            p.broker_count,
            p.topic_count,
            p.event_count,
            p.duration_ms,
            journal_folder_of(collector_plan.folder, p.namesrv_addr),
            p.poll_error,
        )
        for p in polls
    ]
    if broker_round is not None:
        event, journal = broker_round.polled_event, collector_plan.folder / BROKERS_JOURNAL
        rounds.append(
            JournalRound(
                None,
                event.brokers,
                None,
                broker_round.event_count,
                event.poll_millis,
                journal,
                broker_round.silence_error,
            )
        )
    return ResultRows.from_records(COLLECT_COLUMNS, rounds, [r.error for r in rounds], notes)


def _collect_forever(
    session: Session, collector: Collector, collector_plan: CollectorPlan
) -> Iterator[ResultRows]:
    def announce_start() -> None:
        session.write_remark(
            f"polling {', '.join(collector_plan.addrs)} every {collector_plan.interval_seconds:g} "
            f"s, journals in {collector_plan.folder}; stop with Ctrl-C or SIGTERM"
        )

    with _folder_errors(collector_plan):
        stop_reason = collector.poll_until_stopped(announce_start)
    session.write_remark(f"stopped by {stop_reason}: run the same command to resume")
    yield from ()


@contextmanager
def _folder_errors(collector_plan: CollectorPlan) -> Iterator[None]:
    """Turn an error of the journals' folder into a one-line UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {error.filename or collector_plan.folder}: {error.strerror}"
        ) from None


def _require_broker_polling(asks_brokers: bool, broker_interval_text: str, max_broker_rate: int) -> None:
    """Reject options for brokers if brokers are not polled, because they would have no effect."""
    for option_flag, is_given in (
        ("--broker-interval", broker_interval_text != "60s"),
        ("--broker-rate", max_broker_rate != 50),
    ):
        if is_given and not asks_brokers:
            raise UsageError(f"{option_flag} needs --runtime or --lag")
