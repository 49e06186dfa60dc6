"""Owns divergence, which compares the state of all name servers and explains the differences."""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic, sleep
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import error_text
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Values, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.divergence.causes import DivergenceCause
from nsadmin.operations.divergence.comparison import STATE_SECTIONS, hash_sections
from nsadmin.operations.divergence.observer import (
    DivergenceObservation,
    DivergenceObserver,
    find_missing_brokers,
)
from nsadmin.operations.divergence.verdict import (
    DriftFinding,
    describe_difference,
    format_item_name,
    map_by_server,
)
from nsadmin.operations.inventory.keeper import BrokerMissingError, describe_missing
from nsadmin.operations.inventory.records import MissingBroker


class DivergenceRow(NamedTuple):
    """Items that differ in the same way, by the first of them; or a broker that left all name servers."""

    section: str
    name: str
    broker_name: str | None
    item_count: int
    state: str
    age_ms: int | None
    differs: str
    cause: DivergenceCause
    values: Mapping[str, object]


DIVERGENCE_COLUMNS: Columns[DivergenceRow] = (
    Column("what", "broker, topic (its queues on a broker), kv or setting", lambda r: r.section),
    Column(
        "name", "the first item: NAME:ID of a broker, a topic, NAMESPACE KEY, or a setting", lambda r: r.name
    ),
    BROKER_NAME.means("name of the broker; null if the row is not about one broker"),
    Column("count", "number of items that differ in this way", lambda r: r.item_count),
    Column(
        "state",
        "new, drift (lasts longer than convergence takes), or missing on all name servers",
        lambda r: r.state,
    ),
    Column("seenFor", "for how long nsadmin has seen the difference", lambda r: to_millis(r.age_ms)),
    Column(
        "differs", "the difference of the first item: which name server has which value", lambda r: r.differs
    ),
    Column("cause", "the probable cause of the difference, in words", lambda r: r.cause.text),
    Column(
        "causeKind",
        "the probable cause as one word, such as partial-list, partition, wiped or kv-written-to-some",
        lambda r: r.cause.kind,
        wide=True,
    ),
    Column("advice", "recommended action", lambda r: r.cause.advice, wide=True),
    Column(
        "values",
        "the value of the first item on each name server; null for none",
        lambda r: r.values,
        wide=True,
    ),
)


class ServerHashes(NamedTuple):
    """The state of a name server, and a hash of each section; None and none if it did not answer."""

    addr: str
    snapshot: ClusterSnapshot | None
    hashes: Mapping[str, str]
    error: RocketMQError | None


HASH_COLUMNS: Columns[ServerHashes] = (
    NAMESRV_ADDR,
    *of_part(
        lambda s: s.snapshot,
        (
            Column("brokers", "number of broker names that the name server has", lambda s: len(s.brokers)),
            Column("topics", "number of topics", lambda s: len(s.topics)),
        ),
    ),
    Column(
        "brokerHash",
        "hash of brokers and addresses; equal if all of these are equal",
        lambda s: s.hashes.get("broker"),
    ),
    Column("topicHash", "hash of the queues of all topics", lambda s: s.hashes.get("topic")),
    Column("kvHash", "hash of the compared KV namespaces", lambda s: s.hashes.get("kv")),
    Column(
        "settingHash",
        "hash of the settings, without settings that contain paths or addresses",
        lambda s: s.hashes.get("setting"),
    ),
    ERROR,
)

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
        Option(
            "--section",
            metavar="SECTION",
            help="Only broker, topic, kv or setting. Repeatable, or a list: A,B.",
        ),
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
    unknown_sections = [name for name in section_names or () if name not in STATE_SECTIONS]
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


def _waiting_remark(look: DivergenceObservation, wait_seconds: float) -> str:
    count = sum(len(f.differences) for f in look.findings if f.state == "new")
    return (
        f"{count_noun(count, 'difference')}: waiting up to {wait_seconds:.0f} s to see which of them remain "
        "(--settle 0 shows them now)"
    )


def _finding_rows(
    look: DivergenceObservation, show_each: bool, missing_brokers: Sequence[MissingBroker]
) -> ResultRows:
    addrs = look.comparison.server_addrs
    rows = [
        row
        for finding in look.findings
        for row in (_list_differences(finding, addrs) if show_each else [_describe_finding(finding, addrs)])
    ]
    rows += map(_describe_missing, missing_brokers)
    advice = dict.fromkeys(f.cause.advice for f in look.findings if f.state == "drift")
    notes = [*_look_notes(look, missing_brokers), *(f"next: {text}" for text in advice)]
    return ResultRows.from_records(DIVERGENCE_COLUMNS, rows, _exit_errors(look, missing_brokers), notes)


def _look_notes(look: DivergenceObservation, missing_brokers: Sequence[MissingBroker]) -> list[str]:
    return [
        _summarize_look(look),
        *_namespace_notes(look),
        *_missing_notes(missing_brokers),
        *(
            f"name server {r.addr}: {error_text(r.error)}"
            for r in look.snapshot_results
            if r.error is not None
        ),
    ]


def _namespace_notes(look: DivergenceObservation) -> list[str]:
    """Name the compared KV namespaces: agreement says nothing about others."""
    names, unlisted_addrs = look.namespaces
    if not names or look.verdict == "unknown":
        return []
    unlisted = f"; {', '.join(unlisted_addrs)} cannot list theirs: pass others with -s NAMESPACE"
    return [f"compared KV namespaces: {', '.join(names)}{unlisted if unlisted_addrs else ''}"]


def _describe_missing(missing_broker: MissingBroker) -> DivergenceRow:
    broker = missing_broker.broker
    forget_command = quote_command("inventory", "forget", broker.label)
    cause = DivergenceCause(
        "missing",
        f"{describe_missing(missing_broker)}: it stopped, or it reaches none of them",
        f"start it, or if you removed it, run: {forget_command}",
    )
    return DivergenceRow(
        "broker", broker.label, broker.broker_name, 1, "missing", None, "on no name server", cause, {}
    )


def _missing_notes(missing_brokers: Sequence[MissingBroker]) -> list[str]:
    return [f"{m.broker.label} is {describe_missing(m)}" for m in missing_brokers]


def _describe_finding(finding: DriftFinding, addrs: Sequence[str]) -> DivergenceRow:
    first = finding.differences[0]
    implied = f", with {count_noun(len(finding.implied_topics), 'topic')}" if finding.implied_topics else ""
    broker_names = {"topic": first.item.parent_name or None, "broker": first.item.name}
    return DivergenceRow(
        finding.section_name,
        format_item_name(first.item),
        broker_names.get(finding.section_name),
        len(finding.differences),
        finding.state,
        finding.age_ms,
        describe_difference(first, addrs) + implied,
        finding.cause,
        map_by_server(first, addrs),
    )


def _list_differences(finding: DriftFinding, addrs: Sequence[str]) -> Iterator[DivergenceRow]:
    """A row for each difference, including topics that differ only because their broker does."""
    for difference in finding.differences:
        yield _describe_finding(finding._replace(differences=(difference,), implied_topics=()), addrs)
    for difference in finding.implied_topics:
        cause = finding.cause._replace(text=f"its broker {difference.item.parent_name} is missing")
        topic = finding._replace(
            section_name="topic", differences=(difference,), implied_topics=(), cause=cause
        )
        yield _describe_finding(topic, addrs)


def _summarize_look(look: DivergenceObservation) -> str:
    asked_count, answered_count = len(look.snapshot_results), len(look.server_snapshots)
    drift_count, new_count = (
        sum(len(f.differences) for f in look.findings if f.state == state) for state in ("drift", "new")
    )
    young = f"{count_noun(new_count, 'new difference')}, which brokers may still remove"
    match look.verdict:
        case "unknown" if not answered_count:
            return "unknown: no name server answered"
        case "unknown":
            advice = ": pass all of them with -n 'HOST:PORT;HOST:PORT'" if asked_count == 1 else ""
            return (
                f"unknown: {answered_count} of {asked_count} name servers answered, "
                f"a comparison needs two{advice}"
            )
        case "diverge":
            newer = f", and {new_count} newer" if new_count else ""
            return f"name servers diverge: {count_noun(drift_count, 'difference')}{newer}"
        case "partial":
            rest = f"; {young}" if new_count else ", and agree"
            return f"incomplete: {answered_count} of {asked_count} name servers answered{rest}"
        case "converging":
            return f"no lasting difference: {young}"
    first = look.server_snapshots[0]
    broker_count = sum(len(broker["brokerAddrs"]) for broker in first.brokers.values())
    counts = f"{count_noun(broker_count, 'broker')}, {count_noun(len(first.topics), 'topic')}"
    return f"{answered_count} name servers agree: {counts}"


def _exit_errors(
    look: DivergenceObservation, missing_brokers: Sequence[MissingBroker]
) -> list[RocketMQError | None]:
    """The errors that decide the exit code: 1 if name servers diverge or miss a broker, 3 if unknown."""
    if missing_brokers:
        return [BrokerMissingError(note) for note in _missing_notes(missing_brokers)]
    if look.verdict == "diverge":
        return [NameServersDivergeError("name servers diverge")]
    if look.verdict in ("unknown", "partial"):
        return [None, DivergenceUnknownError("some name servers did not answer")]
    return []


def _hash_rows(look: DivergenceObservation, missing_brokers: Sequence[MissingBroker]) -> ResultRows:
    servers = [
        ServerHashes(addr, snapshot, {} if snapshot is None else hash_sections(snapshot), error)
        for addr, snapshot, error in look.snapshot_results
    ]
    return ResultRows.from_records(
        HASH_COLUMNS, servers, _exit_errors(look, missing_brokers), _look_notes(look, missing_brokers)
    )
