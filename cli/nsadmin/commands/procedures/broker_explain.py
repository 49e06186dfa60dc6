"""Owns broker explain, which explains why a broker refuses messages or stores them slowly."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import is_silent
from nsadmin.command_line.broker_targets import find_broker
from nsadmin.command_line.declarations import Each, Flags, Values, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.explanations import FINDING_COLUMNS, NEXT, RESULT, SEEN, STEP
from nsadmin.commands.history.journal_source import JournalOption, find_brokers_journal
from nsadmin.console.output import Columns, ResultRows
from nsadmin.console.phrases import format_utc_second
from nsadmin.console.session import Session
from nsadmin.operations.explain import broker_observer
from nsadmin.operations.explain.broker_causes import BROKER_CHECKS
from nsadmin.operations.explain.findings import (
    CauseExplanation,
    describe_verdict,
    explain_causes,
    reach_verdict,
    verdict_errors,
)

if TYPE_CHECKING:
    from namesrv_core.history.records import JournalRecord

EXPLAIN_COLUMNS: Columns[CauseExplanation] = (STEP, RESULT, *FINDING_COLUMNS)
_WEEK_MS = 7 * 86_400_000


@command(columns=(BROKER_NAME, *EXPLAIN_COLUMNS))
def broker_explain(
    session: Session,
    broker_text: Annotated[
        str,
        Argument(metavar="BROKER", help="A broker: HOST:PORT, NAME or NAME:ID. Default: all masters."),
        Flags("-b", "--brokerAddr"),
        Values("brokers"),
        Each("broker"),
    ] = "*",
    journal_folders: JournalOption = None,
) -> ResultRows:
    """Explain why a broker refuses messages ("system busy", "broker busy"), or stores them slowly.

    nsadmin looks at the broker's figures for two seconds, and compares them with the broker's own settings.
    Each row shows a check, its result (`ok`, `warning`, `cause`, `unknown` or `skipped`), the finding and the
    next step with its risk. The row `load` has the number of messages of the last minute, the five topics
    with the most, and who sent their newest messages. A folder of `nsadmin collect --runtime` (from --journal
    or the context) shows since when a limit is reached.

    The exit code is 0 without a cause, 1 if nsadmin found a cause, and 4 if the broker did not answer. It is
    3 if nsadmin found no cause, but some checks were incomplete.

    Examples:
        # Why a broker is slow or rejects messages; this one is healthy
        nsadmin broker explain 127.0.0.1:10911
        # Which brokers are slow or overloaded: all masters, one after another
        nsadmin broker explain --filter 'result~warning|cause'
    """
    target = find_broker(session, broker_text)
    folders = journal_folders or session.options.journal_folders or ()
    journals = [j for name in folders if (j := find_brokers_journal(name)) is not None]
    facts = broker_observer.gather_facts(
        session.admin,
        target,
        _count_slaves(session, target),
        sleep,
        _read_records(journals, target.broker_addr or "", session.admin.clock_ms) if journals else None,
    )
    steps = explain_causes(BROKER_CHECKS, facts, "the broker did not answer" if facts.is_silent else None)
    notes = describe_verdict(
        steps, "for two seconds, the broker was below the limits at which it refuses messages"
    )
    if facts.reached_since is None and {"cause", "warning"} & {s.finding.result for s in steps}:
        notes.append(
            "since when the broker has this problem is unknown: pass --journal DIR with the folder of "
            "`nsadmin collect DIR --runtime`"
        )
    if reach_verdict(steps) != "cause found" and facts.reached_since is None and not facts.is_silent:
        watch = quote_command("broker", "explain", broker_text, "--watch", "5")
        notes.append(
            f"to see a problem that comes and goes: {watch}, or record the figures with "
            "`nsadmin collect DIR --runtime`"
        )
    if facts.changed_ms is not None:
        notes.append(f"a request last changed the broker's settings at {format_utc_second(facts.changed_ms)}")
    look_error = facts.looks[0].error
    errors = [look_error] if is_silent(look_error) else verdict_errors(reach_verdict(steps))
    return ResultRows.from_records(EXPLAIN_COLUMNS, steps, errors, notes, table=(RESULT, STEP, SEEN, NEXT))


def _count_slaves(session: Session, target: BrokerTarget) -> int | None:
    """The slaves of the broker that name servers list; None if none of them lists the broker."""
    with suppress(RocketMQError):
        for group in session.admin.clusters.get_info().broker_groups:
            if target.broker_addr in group.broker_addrs.values():
                return len(group.broker_addrs) - 1
    return None


def _read_records(journals: list[Path], addr: str, now_ms: int) -> Iterator["JournalRecord"]:
    # Imported late, because only reading journals needs this module.
    from namesrv_core.storage.journal import reader

    wanted = reader.RecordFilter(lambda line: addr.encode() in line, event_types=("BrokerRuntime",))
    for journal in journals:
        yield from reader.read_records(journal, now_ms - _WEEK_MS, wanted)
