"""routeExplain: explains why a client gets "No route info of this topic"."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin import contexts, settings
from nsadmin.client.connection.addresses import DEFAULT_BROKER_PORT, parse_addr
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.history.journal_source import (
    JournalOption,
    ServerJournal,
    call_with_usage_errors,
    find_journals,
)
from nsadmin.commands.topics.topics import TopicArgument
from nsadmin.exit_codes import UsageError
from nsadmin.operations.explain import observer
from nsadmin.operations.explain.diagnosis import (
    CauseExplanation,
    explain_route,
    list_cause_ids,
    reach_verdict,
)
from nsadmin.operations.explain.facts import JournalEvidence, OtherContextRoute, RouteFacts, RouteQuestion
from nsadmin.output import ResultRow, ResultRows
from nsadmin.session import Session

EXPLAIN_COLUMNS = ("step", "result", "namesrvAddrs", "brokerName", "brokerAddr", "seen", "next", "command")
EXPLAIN_TABLE_COLUMNS = ("result", "step", "namesrvAddrs", "seen", "next")


@declare_columns(EXPLAIN_COLUMNS)
def route_explain(
    session: Session,
    topic: TopicArgument,
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Where the client should find it.")
    ] = None,
    broker_addrs: Annotated[
        list[str] | None,
        Option(
            "-b",
            "--brokerAddr",
            metavar="ADDR",
            help="A broker that should have it, if no name server knows that broker. Repeatable.",
        ),
    ] = None,
    client_namesrv_list: Annotated[
        str | None,
        Option(
            "--client",
            metavar="ADDRS",
            help="The name servers of the client, as its configuration has them: they are asked as well.",
        ),
    ] = None,
    zone_name: Annotated[
        str | None, Option("--zone", metavar="NAME", help="The client's zone (rocketmq.zone), if it has one.")
    ] = None,
    all_contexts: Annotated[
        bool, Option("--contexts", help="Look for the topic in all other contexts too.")
    ] = False,
    journal_folders: JournalOption = None,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Say why a client gets "No route info of this topic", or that nothing is wrong.

    Every name server is asked, and the brokers that have to do with the topic; then each cause is looked for,
    in the order in which one hides the next. A row says what was looked for, what came of it (`ok`,
    `warning`, `cause`, `unknown` or `skipped`), where, what was seen and what to do next. A warning is wrong,
    but not why clients find nothing. Journals, by --journal or of the context, say who did it, and when.

    A broker that left all name servers is named if it had the topic, as journals and the inventory know (see
    inventory list). That is the cause, or a warning if other brokers have the topic.

    The exit code is 0 where all is fine, 1 where a cause was found, 3 where none was found and something
    could not be asked or a broker of the topic has left, 4 where no name server answered.

    Examples:
        # Nothing is wrong: each step is ok
        nsadmin routeExplain orders
        # A topic that is nowhere (exit code 1)
        nsadmin routeExplain no-such-topic
        # A client's list with a comma in it; only causes, as JSON (exit code 1)
        nsadmin routeExplain orders --client 127.0.0.1:9876,127.0.0.1:9876 --filter result=cause --json
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
    explained_steps = explain_route(gathered_facts)
    unread_notes = [
        f"journal of {journal_memory.namesrv_name}: {journal_memory.error}"
        for journal_memory in gathered_facts.memories
        if journal_memory.error
    ]
    notes = [*_verdict_notes(explained_steps), *unread_notes]
    return ResultRows(
        EXPLAIN_COLUMNS,
        [_step_row(explained_step) for explained_step in explained_steps],
        _exit_errors(gathered_facts, explained_steps),
        notes,
        EXPLAIN_TABLE_COLUMNS,
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
        for server_journal in find_journals(session, "routeExplain", journal_folders, None)
    ]


def _read_memory(
    remember_topic: Callable[[Path, str, str], JournalEvidence], server_journal: ServerJournal, topic: str
) -> JournalEvidence:
    try:
        return call_with_usage_errors(
            "routeExplain",
            server_journal,
            lambda folder: remember_topic(folder, server_journal.server_name, topic),
        )
    except RocketMQError as error:
        return JournalEvidence(server_journal.server_name, error=str(error))


def _step_row(explained_step: CauseExplanation) -> ResultRow:
    finding = explained_step.finding
    return {
        "step": explained_step.cause_id,
        "result": finding.result,
        "namesrvAddrs": explained_step.namesrv_addrs,
        "brokerName": finding.broker_name,
        "brokerAddr": finding.broker_addr,
        "seen": finding.evidence,
        "next": None if finding.advice is None else str(finding.advice),
        "command": None if finding.advice is None else finding.advice.shell_command,
    }


def _exit_errors(
    gathered_facts: RouteFacts, explained_steps: Sequence[CauseExplanation]
) -> list[RocketMQError | None]:
    """The errors that decide the exit code."""
    silent_errors = [
        server_view.route.error for server_view in gathered_facts.server_views if server_view.is_silent
    ]
    if len(silent_errors) == len(gathered_facts.server_views):
        return list(silent_errors)
    verdict_text = reach_verdict(explained_steps)
    lost_names = _find_lost_names(explained_steps)
    if verdict_text == "fine" and not lost_names:
        return [None]
    return (
        [RocketMQError(verdict_text)]
        if verdict_text == "cause found"
        else [None, RocketMQError(verdict_text)]
    )


def _verdict_notes(explained_steps: Sequence[CauseExplanation]) -> list[str]:
    verdict_text, warned_causes = (
        reach_verdict(explained_steps),
        _causes_with_result(explained_steps, "warning"),
    )
    verdict_line = {
        "cause found": f"cause found: {', '.join(list_cause_ids(explained_steps))}",
        "unknown": f"unknown: no cause found, but not all was told: "
        f"{', '.join(_causes_with_result(explained_steps, 'unknown'))}",
        "fine": "fine: clients of each name server find queues to write and to read",
    }[verdict_text]
    lost_names = _find_lost_names(explained_steps)
    if verdict_text == "fine" and lost_names:
        verdict_line = (
            "clients of each name server find queues, but not those of brokers that left: "
            f"{', '.join(lost_names)}"
        )
    return [
        verdict_line,
        *([f"to be put right as well: {', '.join(warned_causes)}"] if warned_causes else []),
    ]


def _find_lost_names(explained_steps: Iterable[CauseExplanation]) -> list[str]:
    """The brokers that left all name servers with their part of the topic; the others still have queues."""
    return [
        explained_step.finding.broker_name
        for explained_step in explained_steps
        if explained_step.cause_id == "brokersGone"
        and explained_step.finding.result == "warning"
        and explained_step.finding.broker_name is not None
        and not explained_step.namesrv_addrs
    ]


def _causes_with_result(explained_steps: Iterable[CauseExplanation], result_word: str) -> list[str]:
    return list(
        dict.fromkeys(
            explained_step.cause_id
            for explained_step in explained_steps
            if explained_step.finding.result == result_word
        )
    )
