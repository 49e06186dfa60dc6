"""Owns route explain, which explains why a client gets "No route info of this topic"."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.connection.addresses import DEFAULT_BROKER_PORT, parse_addr
from nsadmin.client.results import NotANameServer
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Each, command
from nsadmin.commands.columns.explanations import FINDING_COLUMNS, NEXT, RESULT, SEEN, STEP
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.history.journal_source import (
    JournalOption,
    ServerJournal,
    call_with_usage_errors,
    find_journals,
)
from nsadmin.commands.topics.topics import TopicArgument
from nsadmin.console import contexts, settings
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.drain.drained_brokers import list_drained_names
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.explain import observer
from nsadmin.operations.explain.facts import JournalEvidence, OtherContextRoute, RouteFacts, RouteQuestion
from nsadmin.operations.explain.findings import (
    CauseExplanation,
    describe_verdict,
    reach_verdict,
    verdict_errors,
)
from nsadmin.operations.explain.route_causes import explain_route
from nsadmin.operations.installation import Installation

SERVERS: Column[CauseExplanation] = Column(
    "namesrvAddrs",
    "the name servers with this finding; empty if it is not about one name server",
    lambda e: e.namesrv_addrs,
)
EXPLAIN_COLUMNS: Columns[CauseExplanation] = (
    STEP,
    RESULT,
    SERVERS,
    *FINDING_COLUMNS,
)


@command(columns=(TOPIC, *EXPLAIN_COLUMNS))
def route_explain(
    session: Session,
    topic: Annotated[TopicArgument, Each("topic")],
    cluster_name: Annotated[
        str | None,
        Option(
            "-c", "--clusterName", metavar="CLUSTER", help="The cluster where the client expects the topic."
        ),
    ] = None,
    broker_addrs: Annotated[
        list[str] | None,
        Option(
            "-b",
            "--brokerAddr",
            metavar="ADDR",
            help="A broker that should have it, if no name server has it. Repeatable, or a list: A,B.",
        ),
    ] = None,
    client_namesrv_list: Annotated[
        str | None,
        Option(
            "--client",
            metavar="ADDRS",
            help="The name servers in the client's configuration. nsadmin also asks these.",
        ),
    ] = None,
    zone_name: Annotated[
        str | None, Option("--zone", metavar="NAME", help="The client's zone (rocketmq.zone).")
    ] = None,
    all_contexts: Annotated[
        bool, Option("--contexts", help="Also look for the topic in all other contexts.")
    ] = False,
    journal_folders: JournalOption = None,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Explain why a client gets "No route info of this topic".

    nsadmin asks every name server, and the brokers that concern the topic. It checks the possible causes in a
    fixed order. Each row shows a check, its result (`ok`, `warning`, `cause`, `unknown` or `skipped`), the
    place, the finding and the next step. A warning is a problem that does not cause the error. Journals (from
    --journal or the context) show when the change was made, and by which client.

    If a broker with the topic left all name servers, a row names the broker, from journals and the inventory
    (see `nsadmin inventory list`). The result of the row is `cause`, or `warning` if other brokers have the
    topic.

    The exit code is 0 without a cause, 1 if nsadmin found a cause, and 4 if no name server answered. It is 3
    if it found no cause, but some server did not answer or a broker of the topic left.

    Examples:
        # A healthy topic: each step is ok
        nsadmin route explain orders
        # A topic that clients cannot find: it is unknown (exit code 1)
        nsadmin route explain no-such-topic
        # A client's list with a comma in it; only causes, as JSON (exit code 1)
        nsadmin route explain orders --client 127.0.0.1:9876,127.0.0.1:9876 --filter result=cause --json
    """
    other_contexts = _other_contexts(session)
    question = RouteQuestion(
        topic, cluster_name, zone_name, client_namesrv_list, () if all_contexts else other_contexts
    )
    gathered_facts = observer.gather_facts(
        session.admin,
        question,
        [parse_addr(broker_addr, DEFAULT_BROKER_PORT) for broker_addr in broker_addrs or ()],
        _read_memories(session, topic, journal_folders),
        [_ask_other_context(session, context_name, topic) for context_name in other_contexts]
        if all_contexts
        else None,
        open_expected_inventory(session, "routeExplain", expectation),
    )
    installation = Installation(session.admin)
    drains = installation.keep_own(load_drains(installation.state_home))
    gathered_facts = gathered_facts._replace(drained_brokers=list_drained_names(drains))
    errors = [view.route.error for view in gathered_facts.server_views]
    wrong_servers = [error for error in errors if isinstance(error, NotANameServer)]
    if wrong_servers and len(wrong_servers) == len(errors):
        raise wrong_servers[0]
    steps = explain_route(gathered_facts)
    unread_notes = [f"journal of {m.namesrv_name}: {m.error}" for m in gathered_facts.memories if m.error]
    return ResultRows.from_records(
        EXPLAIN_COLUMNS,
        steps,
        _exit_errors(gathered_facts, steps),
        [*_verdict_notes(steps), *unread_notes],
        table=(RESULT, STEP, SERVERS, SEEN, NEXT),
    )


def _other_contexts(session: Session) -> tuple[str, ...]:
    known_contexts = contexts.load_contexts(contexts.contexts_path()).contexts_by_name
    return tuple(
        sorted(context_name for context_name in known_contexts if context_name != session.options.context)
    )


def _ask_other_context(session: Session, context_name: str, topic: str) -> OtherContextRoute:
    """Ask another context's name servers for the topic; an error becomes part of the result."""
    setting_values: Any = defaultdict(
        lambda: None, context=context_name, allows_unverified=session.shared_values.get("insecure")
    )
    try:
        context_options = settings.resolve_options(setting_values)
        with session.open_other_client(context_options.namesrv_addr, context_options.access) as admin:
            return observer.find_route_in_context(context_name, admin, topic)
    except (RocketMQError, UsageError, contexts.InvalidContextsError) as error:
        return OtherContextRoute(context_name, None, error=str(error))


def _read_memories(session: Session, topic: str, journal_folders: list[str] | None) -> list[JournalEvidence]:
    if not (journal_folders or session.options.journal_folders):
        return []
    # Imported late, because only reading journals needs these modules.
    from nsadmin.operations.explain.journal_evidence import read_journal_evidence

    return [
        _read_memory(read_journal_evidence, server_journal, topic)
        for server_journal in find_journals(session, journal_folders, None)
    ]


def _read_memory(
    remember_topic: Callable[[Path, str, str], JournalEvidence], server_journal: ServerJournal, topic: str
) -> JournalEvidence:
    try:
        return call_with_usage_errors(
            server_journal, lambda folder: remember_topic(folder, server_journal.server_name, topic)
        )
    except RocketMQError as error:
        return JournalEvidence(server_journal.server_name, error=str(error))


def _exit_errors(facts: RouteFacts, steps: Sequence[CauseExplanation]) -> list[RocketMQError | None]:
    """The errors that decide the exit code."""
    silent_errors = [view.route.error for view in facts.server_views if view.is_silent]
    if len(silent_errors) == len(facts.server_views):
        return list(silent_errors)
    verdict = reach_verdict(steps)
    return verdict_errors("unknown" if verdict == "fine" and _find_lost_names(steps) else verdict)


def _verdict_notes(steps: Sequence[CauseExplanation]) -> list[str]:
    lost_list = ", ".join(_find_lost_names(steps))
    return describe_verdict(
        steps,
        f"clients of each name server find queues, but not those of brokers that left: {lost_list}"
        if lost_list
        else "clients of each name server find writable and readable queues",
    )


def _find_lost_names(steps: Iterable[CauseExplanation]) -> list[str]:
    """The brokers that left all name servers with their part of the topic; the others still have queues."""
    return [
        step.finding.broker_name
        for step in steps
        if step.cause_id == "brokersGone"
        and step.finding.result == "warning"
        and step.finding.broker_name is not None
        and not step.namesrv_addrs
    ]
