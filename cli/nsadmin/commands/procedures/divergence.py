"""Owns divergence, which compares the state of all name servers and explains the differences."""

from collections.abc import Iterator, Sequence
from time import monotonic, sleep
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import error_text
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Values, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import DurationMillis, ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.phrases import quote_command
from nsadmin.console.session import Session
from nsadmin.operations.divergence.comparison import STATE_SECTIONS, hash_sections
from nsadmin.operations.divergence.findings import (
    DriftFinding,
    describe_difference,
    format_item_name,
    map_by_server,
)
from nsadmin.operations.divergence.observer import (
    DivergenceObservation,
    DivergenceObserver,
    find_missing_brokers,
)
from nsadmin.operations.inventory.keeper import BrokerMissingError, describe_missing
from nsadmin.operations.inventory.records import MissingBroker

DIVERGENCE_COLUMNS = (
    "what", "name", "brokerName", "count", "state", "seenFor", "differs", "cause", "causeKind", "advice",
    "values",
)  # fmt: skip
DIVERGENCE_TABLE_COLUMNS = ("what", "name", "brokerName", "count", "state", "seenFor", "differs", "cause")
HASH_COLUMNS = (
    "namesrvAddr", "brokers", "topics", "brokerHash", "topicHash", "kvHash", "settingHash", "error",
)  # fmt: skip

_MAX_SETTLE_SECONDS = 86_400


class NameServersDivergeError(RocketMQError):
    """Name servers have different state that does not converge."""


class DivergenceUnknownError(RocketMQError):
    """Too few name servers answered to compare them."""


@command(columns=(*DIVERGENCE_COLUMNS, *HASH_COLUMNS))
def divergence(
    session: Session,
    show_each: Annotated[
        bool, Option("--detail", help="Show a row for each item instead of one for each kind of difference.")
    ] = False,
    show_hashes: Annotated[
        bool, Option("--hashes", help="Show a row for each name server instead, with a hash of each section.")
    ] = False,
    settle_seconds: Annotated[
        float | None,
        Option(
            "--settle",
            metavar="SECONDS",
            help="How long brokers may take to make name servers equal. Default: 60.",
        ),
    ] = None,
    section_names: Annotated[
        list[str] | None,
        Option("--section", metavar="SECTION", help="Only broker, topic, kv or setting. Repeatable."),
        Values("|".join(STATE_SECTIONS)),
    ] = None,
    kv_namespaces: IncludedNamespacesOption = None,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Compare all name servers: brokers and their addresses, queues of topics, KV config, settings.

    Name servers do not exchange data. Each broker registers with all of them every 30 s, which removes most
    differences. So nsadmin compares repeatedly for up to --settle seconds (default: 60, two heartbeats). A
    difference that remains has the state `drift`. A difference that appeared in between has the state `new`.
    Differences in KV config and settings are drift after 2 s, because brokers do not remove them. With
    --settle 0 or --hashes, nsadmin compares once, and every difference is drift. With --watch, nsadmin
    remembers earlier comparisons.

    A row shows all items that differ in the same way: `name` is the first of `count` items. nsadmin asks the
    affected brokers, and shows the likely `cause`. It compares the KV namespaces that nsadmin's name servers
    list, ORDER_TOPIC_CONFIG, and those that you pass with -s: Apache's name servers cannot list theirs. It
    compares the settings that all name servers have, except names and paths. A broker that left all name
    servers has the state `missing` (see `nsadmin inventory list`).

    The exit code is 0 if all name servers agree or still converge. It is 1 if they diverge or a broker is
    missing. It is 3 if the result is unknown, because too few name servers answered.

    Examples:
        # Compare the name servers; here they differ (exit code 1)
        nsadmin divergence
        # Compare only once, show every item, as JSON (exit code 1)
        nsadmin divergence --settle 0 --detail --json
        # A hash for each name server and section
        nsadmin divergence --section topic --hashes
    """
    patience_seconds = settle_seconds if settle_seconds is not None else 0.0 if show_hashes else 60.0
    if not 0 <= patience_seconds <= _MAX_SETTLE_SECONDS:
        raise UsageError(
            f'invalid value "{patience_seconds:g}" for --settle: expected seconds, 0 to {_MAX_SETTLE_SECONDS}'
        )
    unknown_sections = [
        section_name for section_name in section_names or () if section_name not in STATE_SECTIONS
    ]
    if unknown_sections:
        raise UsageError(f'unknown section "{unknown_sections[0]}": use {", ".join(STATE_SECTIONS)}')
    inventory = open_expected_inventory(session, "divergence", expectation)
    divergence_observer = session.remember_first(
        lambda: DivergenceObserver(
            session.admin,
            lambda: int(monotonic() * 1000),
            namespaces=tuple(kv_namespaces or ()),
            sections=tuple(section_names or STATE_SECTIONS),
            settle_ms=int(patience_seconds * 1000),
            reads_single=show_hashes,
        )
    )
    if session.options.watch is not None:
        observed_look = divergence_observer.observe_once()
    else:
        observed_look = divergence_observer.observe_until_settled(
            sleep,
            lambda first_look, wait_seconds: session.write_remark(_waiting_remark(first_look, wait_seconds)),
        )
    missing_brokers = find_missing_brokers(observed_look, inventory)
    if "broker" not in (section_names or STATE_SECTIONS):
        missing_brokers = ()
    if show_hashes:
        return _hash_rows(observed_look, missing_brokers)
    return _finding_rows(observed_look, show_each, missing_brokers)


def _waiting_remark(observed_look: DivergenceObservation, wait_seconds: float) -> str:
    difference_count = sum(
        len(finding.differences) for finding in observed_look.findings if finding.state == "new"
    )
    return f"{count_noun(difference_count, 'difference')}; comparing again for up to {wait_seconds:.0f} s"


def _finding_rows(
    observed_look: DivergenceObservation, show_each: bool, missing_brokers: Sequence[MissingBroker]
) -> ResultRows:
    namesrv_addrs = observed_look.comparison.server_addrs
    finding_rows = [
        row
        for finding in observed_look.findings
        for row in (
            _difference_rows(finding, namesrv_addrs) if show_each else [_finding_row(finding, namesrv_addrs)]
        )
    ]
    finding_rows += [_missing_row(missing_broker) for missing_broker in missing_brokers]
    notes = [
        _summarize_look(observed_look),
        *_namespace_notes(observed_look),
        *_missing_notes(missing_brokers),
        *_failure_notes(observed_look),
    ]
    drift_findings = [
        drift_finding for drift_finding in observed_look.findings if drift_finding.state == "drift"
    ]
    notes += [
        f"next: {advice_text}"
        for advice_text in dict.fromkeys(drift_finding.cause.advice for drift_finding in drift_findings)
    ]
    return ResultRows(
        DIVERGENCE_COLUMNS,
        finding_rows,
        _exit_errors(observed_look, missing_brokers),
        notes,
        DIVERGENCE_TABLE_COLUMNS,
    )


def _namespace_notes(observed_look: DivergenceObservation) -> list[str]:
    """Name the compared KV namespaces: agreement says nothing about others."""
    names, unlisted_addrs = observed_look.namespaces
    if not names or observed_look.verdict == "unknown":
        return []
    unlisted_text = (
        f"; {', '.join(unlisted_addrs)} cannot list theirs: pass others with -s NAMESPACE"
        if unlisted_addrs
        else ""
    )
    return [f"compared KV namespaces: {', '.join(names)}{unlisted_text}"]


def _missing_row(missing_broker: MissingBroker) -> ResultRow:
    forget_command = quote_command("inventory", "forget", missing_broker.broker.label)
    return {
        "what": "broker",
        "name": missing_broker.broker.label,
        "brokerName": missing_broker.broker.broker_name,
        "count": 1,
        "state": "missing",
        "seenFor": None,
        "differs": "on no name server",
        "cause": f"{describe_missing(missing_broker)}: it stopped, or it reaches none of them",
        "causeKind": "missing",
        "advice": f"start it, or if you removed it, run: {forget_command}",
        "values": {},
    }


def _missing_notes(missing_brokers: Sequence[MissingBroker]) -> list[str]:
    return [
        f"{missing_broker.broker.label} is {describe_missing(missing_broker)}"
        for missing_broker in missing_brokers
    ]


def _finding_row(finding: DriftFinding, namesrv_addrs: Sequence[str]) -> ResultRow:
    first_difference = finding.differences[0]
    implied_text = (
        f", with {count_noun(len(finding.implied_topics), 'topic')}" if finding.implied_topics else ""
    )
    return {
        "what": finding.section_name,
        "name": format_item_name(first_difference.item),
        "brokerName": _finding_broker_name(finding),
        "count": len(finding.differences),
        "state": finding.state,
        "seenFor": DurationMillis(finding.age_ms),
        "differs": describe_difference(first_difference, namesrv_addrs) + implied_text,
        "cause": finding.cause.text,
        "causeKind": finding.cause.kind,
        "advice": finding.cause.advice,
        "values": map_by_server(first_difference, namesrv_addrs),
    }


def _difference_rows(finding: DriftFinding, namesrv_addrs: Sequence[str]) -> Iterator[ResultRow]:
    """A row for each difference, including topics that differ only because their broker does."""
    for difference in finding.differences:
        yield _finding_row(finding._replace(differences=(difference,), implied_topics=()), namesrv_addrs)
    for difference in finding.implied_topics:
        yield {
            **_finding_row(
                finding._replace(section_name="topic", differences=(difference,), implied_topics=()),
                namesrv_addrs,
            ),
            "cause": f"its broker {difference.item.parent_name} is missing",
        }


def _finding_broker_name(finding: DriftFinding) -> str | None:
    compared_item = finding.differences[0].item
    if finding.section_name == "topic":
        return compared_item.parent_name or None
    return compared_item.name if finding.section_name == "broker" else None


def _summarize_look(observed_look: DivergenceObservation) -> str:
    asked_count, answered_count = len(observed_look.snapshot_results), len(observed_look.server_snapshots)
    drift_count = sum(
        len(finding.differences) for finding in observed_look.findings if finding.state == "drift"
    )
    new_count = sum(len(finding.differences) for finding in observed_look.findings if finding.state == "new")
    if observed_look.verdict == "unknown":
        advice = ": pass all of them with -n 'HOST:PORT;HOST:PORT'" if asked_count == 1 else ""
        return (
            f"unknown: {answered_count} of {asked_count} name servers answered, "
            f"a comparison needs two{advice}"
        )
    if observed_look.verdict == "diverge":
        return f"name servers diverge: {count_noun(drift_count, 'difference')}" + (
            f", and {new_count} newer" if new_count else ""
        )
    if observed_look.verdict == "partial":
        return f"incomplete: {answered_count} of {asked_count} name servers answered" + (
            f"; {count_noun(new_count, 'difference')} younger than two heartbeats"
            if new_count
            else ", and agree"
        )
    if observed_look.verdict == "converging":
        return f"no drift: {count_noun(new_count, 'difference')} younger than two heartbeats"
    first_snapshot = observed_look.server_snapshots[0]
    known_counts = (
        count_noun(len(first_snapshot.brokers), "broker"),
        count_noun(len(first_snapshot.topics), "topic"),
    )
    return f"{answered_count} name servers agree: {', '.join(known_counts)}"


def _failure_notes(observed_look: DivergenceObservation) -> list[str]:
    return [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in observed_look.snapshot_results
        if error is not None
    ]


def _exit_errors(
    observed_look: DivergenceObservation, missing_brokers: Sequence[MissingBroker]
) -> list[RocketMQError | None]:
    """The errors that decide the exit code: 1 if name servers diverge or miss a broker, 3 if unknown."""
    if missing_brokers:
        return [BrokerMissingError(missing_note) for missing_note in _missing_notes(missing_brokers)]
    if observed_look.verdict == "diverge":
        return [NameServersDivergeError("name servers diverge")]
    return (
        [None, DivergenceUnknownError("some name servers did not answer")]
        if observed_look.verdict in ("unknown", "partial")
        else []
    )


def _hash_rows(observed_look: DivergenceObservation, missing_brokers: Sequence[MissingBroker]) -> ResultRows:
    server_rows: list[ResultRow] = []
    for namesrv_addr, server_snapshot, error in observed_look.snapshot_results:
        if server_snapshot is None:
            server_rows.append({"namesrvAddr": namesrv_addr, "error": error and error_text(error)})
            continue
        server_rows.append(
            {
                "namesrvAddr": namesrv_addr,
                "brokers": len(server_snapshot.brokers),
                "topics": len(server_snapshot.topics),
                **{
                    f"{section_name}Hash": section_hash
                    for section_name, section_hash in hash_sections(server_snapshot).items()
                },
            }
        )
    return ResultRows(
        HASH_COLUMNS,
        server_rows,
        _exit_errors(observed_look, missing_brokers),
        [
            _summarize_look(observed_look),
            *_namespace_notes(observed_look),
            *_missing_notes(missing_brokers),
            *_failure_notes(observed_look),
        ],
    )
