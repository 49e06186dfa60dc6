"""collect: journals of name servers that keep none, written by polling them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from nsadmin import diagnostics
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.units import millis
from nsadmin.diagnostics import UsageError
from nsadmin.operations.collector.running import Collector, Plan, folder_of
from nsadmin.operations.collector.watching import Turn, Voice
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "result", "brokers", "topics", "events", "took", "journal", "error")

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 3600.0


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
) -> Rows | Iterator[Rows]:
    """Write down what happens to name servers, Java's or others, by looking at them again and again.

    Each poll asks every name server of the list for its clusters, topics, routes, settings and KV config,
    and compares them with what was known: brokers that came or went, queues and permissions before and
    after, and values that changed are written as events of the journal (docs/journal.md), with
    `source: collector`. The journal* commands read them. Between two polls only the net change is known,
    and never who made it. A poll that fails is written down too: until one succeeds nobody knows the tables.

    At most --concurrency requests are under way at a time. It ends with Ctrl-C or SIGTERM, and goes on from
    there when it is started again. Name servers are looked for once, at the start.

    Examples:
        # One poll of each name server, for cron; without --once it polls every 15 s until it is stopped
        nsadmin collect --dir collected --once
        # Values of a KV namespace of your own as well
        nsadmin collect --dir collected --namespace DEPLOYMENT --once
    """
    plan = Plan(
        session.onlooker().addresses.addrs,
        Path(folder).expanduser(),
        None if once else _seconds(interval),
        session.options.access.concurrency,
        rate,
        tuple(dict.fromkeys((ORDER_TOPIC_CONFIG, *(namespace or ())))),
    )
    voice = Voice(diagnostics.say, session.remark, diagnostics.say if session.options.debug else _nothing)
    collector = Collector(plan, session.onlooker, voice)
    return _once(collector, plan) if once else _forever(session, collector, plan)


def _nothing(_: str) -> None: ...


def _once(collector: Collector, plan: Plan) -> Rows:
    with _opening(plan):
        turns = collector.once()
    notes = [f"name server {turn.addr}: {error_text(turn.error)}" for turn in turns if turn.error]
    return Rows(COLUMNS, [_row(plan, turn) for turn in turns], [turn.error for turn in turns], notes)


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
    """One line for a folder that cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"collect: {error.filename or plan.folder}: {error.strerror}") from None


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0.1 <= seconds <= _LONGEST:
        raise UsageError(f"collect: --interval {text} cannot be: give 100ms to 1h, such as 15s or 1m")
    return seconds


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
