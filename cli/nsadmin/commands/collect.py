"""collect: writes journals for name servers that write none, by polling them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.storage.journal import Limits
from nsadmin import diagnostics
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.units import millis
from nsadmin.commands.values import duration
from nsadmin.diagnostics import UsageError
from nsadmin.operations.collector.asking import Questions
from nsadmin.operations.collector.rounds import WHOSE, Round
from nsadmin.operations.collector.running import Collector, Plan, folder_of
from nsadmin.operations.collector.watching import Turn, Voice
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "result", "brokers", "topics", "events", "took", "journal", "error")

_LONGEST = 3600.0
_DAY = 24 * 3_600_000


@shows(COLUMNS)
def collect(
    session: Session,
    folder: Annotated[str, Word(("--dir",), "DIR", "Where the journals are: a folder for each name server.")],
    interval: Annotated[
        str,
        Option(
            "--interval", metavar="TIME", help="From one poll to the next: 500ms, 15s, 1m; 15s if left out."
        ),
    ] = "15s",
    rate: Annotated[
        int,
        Option(
            "--rate",
            metavar="N",
            help="Requests a second at most, over all servers; 1000 if left out.",
            minimum=1,
        ),
    ] = 1000,
    namespace: Annotated[
        list[str] | None,
        Option(
            "--namespace", metavar="NS", help=f"KV namespace to poll beside {ORDER_TOPIC_CONFIG}. Repeatable."
        ),
    ] = None,
    once: Annotated[bool, Option("--once", help="One poll of each name server, for cron.")] = False,
    runtime: Annotated[
        bool, Option("--runtime", help="Ask brokers too: release, TPS, disk, what waits in their queues.")
    ] = False,
    lag: Annotated[
        bool, Option("--lag", help="Ask brokers too how far each consumer group is behind on each topic.")
    ] = False,
    broker_interval: Annotated[
        str,
        Option("--broker-interval", metavar="TIME", help="From one round of brokers to the next; 60s."),
    ] = "60s",
    broker_rate: Annotated[
        int,
        Option("--broker-rate", metavar="N", help="Requests to brokers a second at most; 50.", minimum=1),
    ] = 50,
    keep_days: Annotated[
        int, Option("--keep-days", metavar="N", help="What each journal keeps; 400 if left out.", minimum=1)
    ] = 400,
    keep_megabytes: Annotated[
        int,
        Option(
            "--keep-megabytes",
            metavar="N",
            help="What each journal keeps at most; 2048 if left out.",
            minimum=1,
        ),
    ] = 2048,
) -> Rows | Iterator[Rows]:
    """Write down what happens to name servers, Java's or others, by looking at them again and again.

    Each poll asks every name server of the list for its clusters, topics, routes, settings and KV config,
    and compares them with what was known: brokers that came or went, queues and permissions before and
    after, and values that changed are written as events of the journal (docs/journal.md), with
    `source: collector`. The journal* commands read them. Between two polls only the net change is known,
    and never who made it. A poll that fails is written down too: until one succeeds nobody knows the tables.

    With --runtime or --lag the brokers that the name servers know are asked as well, in rounds at a pace of
    their own, 16 requests at a time, and DIR/brokers has their journal: a broker that does not tell is
    written down like one that does. With --lag that is a request for each consumer group on each master, or
    on a slave where there is no master.

    The oldest closed files of each journal go when they are more than --keep-megabytes, or older than
    --keep-days, as a name server's own. At most --concurrency requests to name servers are under way. It ends
    with Ctrl-C or SIGTERM, and goes on from there when it is started again. Name servers are looked for once,
    at the start.

    Examples:
        # One poll of each name server, for cron; without --once it polls every 15 s until it is stopped
        nsadmin collect --dir collected --once
        # Values of a KV namespace of your own as well
        nsadmin collect --dir collected --namespace DEPLOYMENT --once
        # And what brokers tell of themselves and of consumer groups
        nsadmin collect --dir collected --runtime --lag --once
    """
    _check(runtime or lag, broker_interval, broker_rate)
    plan = Plan(
        session.onlooker().addresses.addrs,
        Path(folder).expanduser(),
        None if once else duration("collect", "--interval", interval, 0.1, _LONGEST),
        session.options.access.concurrency,
        rate,
        tuple(dict.fromkeys((ORDER_TOPIC_CONFIG, *(namespace or ())))),
        Questions(runtime, lag),
        duration("collect", "--broker-interval", broker_interval, 0.1, _LONGEST),
        broker_rate,
        Limits(keep_bytes=keep_megabytes << 20, keep_millis=keep_days * _DAY),
    )
    voice = Voice(diagnostics.say, session.remark, diagnostics.say if session.options.debug else _nothing)
    collector = Collector(plan, session.onlooker, voice)
    return _once(collector, plan) if once else _forever(session, collector, plan)


def _nothing(_: str) -> None: ...


def _once(collector: Collector, plan: Plan) -> Rows:
    with _opening(plan):
        turns, asked = collector.once()
    notes = [f"name server {turn.addr}: {error_text(turn.error)}" for turn in turns if turn.error]
    rows, errors = [_row(plan, turn) for turn in turns], [turn.error for turn in turns]
    if asked is not None:
        rows.append(_row_of_brokers(plan, asked))
        errors.append(asked.error)
    return Rows(COLUMNS, rows, errors, notes)


def _forever(session: Session, collector: Collector, plan: Plan) -> Iterator[Rows]:
    def started() -> None:
        session.remark(
            f"collecting from {', '.join(plan.addrs)} every {plan.interval:g} s into {plan.folder};"
            " Ctrl-C or SIGTERM ends it"
        )

    with _opening(plan):
        reason = collector.run(started)
    session.remark(f"stopped by {reason}; start it again to go on")
    yield from ()


@contextmanager
def _opening(plan: Plan) -> Iterator[None]:
    """Turn an error of the journals' folder into a one-line UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"collect: {error.filename or plan.folder}: {error.strerror}") from None


def _check(asks_brokers: bool, interval: str, rate: int) -> None:
    """Reject options for brokers if brokers are not polled, because they would have no effect."""
    for name, is_given in (("--broker-interval", interval != "60s"), ("--broker-rate", rate != 50)):
        if is_given and not asks_brokers:
            raise UsageError(f"collect: {name} is about brokers: add --runtime or --lag, or both")


def _row(plan: Plan, turn: Turn) -> Row:
    return {
        "namesrvAddr": turn.addr,
        "result": "failed" if turn.error else "done",
        "brokers": turn.brokers,
        "topics": turn.topics,
        "events": turn.events,
        "took": millis(turn.millis),
        "journal": str(folder_of(plan.folder, turn.addr)),
        "error": turn.error and error_text(turn.error),
    }


def _row_of_brokers(plan: Plan, asked: Round) -> Row:
    return {
        "namesrvAddr": None,
        "result": "failed" if asked.error else "done",
        "brokers": asked.polled.brokers,
        "topics": None,
        "events": asked.events,
        "took": millis(asked.polled.poll_millis),
        "journal": str(plan.folder / WHOSE),
        "error": asked.error and error_text(asked.error),
    }
