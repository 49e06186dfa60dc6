"""routeExplain: explains why a client gets "No route info of this topic"."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin import contexts, settings
from nsadmin.client.addresses import BROKER_PORT, parse_addr
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.recorded import Found, JournalOption, attempt, journals
from nsadmin.commands.topics import Topic
from nsadmin.operations.explain import gathering
from nsadmin.operations.explain.explaining import Explained, causes, explain, verdict
from nsadmin.operations.explain.facts import Elsewhere, Facts, Memory, Question
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("step", "result", "namesrvAddrs", "brokerName", "brokerAddr", "seen", "next", "command")
IN_TABLE = ("result", "step", "namesrvAddrs", "seen", "next")


@shows(COLUMNS)
def route_explain(
    session: Session,
    topic: Topic,
    cluster: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Where the client should find it.")
    ] = None,
    brokers: Annotated[
        list[str] | None,
        Option(
            "-b",
            "--brokerAddr",
            metavar="ADDR",
            help="A broker that should have it, if no name server knows that broker. Repeatable.",
        ),
    ] = None,
    client_list: Annotated[
        str | None,
        Option(
            "--client",
            metavar="ADDRS",
            help="The name servers of the client, as its configuration has them: they are asked as well.",
        ),
    ] = None,
    zone: Annotated[
        str | None, Option("--zone", metavar="NAME", help="The client's zone (rocketmq.zone), if it has one.")
    ] = None,
    all_contexts: Annotated[
        bool, Option("--contexts", help="Look for the topic in all other contexts too.")
    ] = False,
    journal: JournalOption = None,
) -> Rows:
    """Say why a client gets "No route info of this topic", or that nothing is wrong.

    Every name server is asked, and the brokers that have to do with the topic; then each cause is looked for,
    in the order in which one hides the next. A row says what was looked for, what came of it (`ok`,
    `warning`, `cause`, `unknown` or `skipped`), where, what was seen and what to do next. A warning is wrong,
    but not why clients find nothing. Journals, by --journal or of the context, say who did it, and when.

    The exit code is 0 where all is fine, 1 where a cause was found, 3 where none was found and something
    could not be asked, 4 where no name server answered.

    Examples:
        # Nothing is wrong: each step is ok
        nsadmin routeExplain orders
        # A topic that is nowhere (exit code 1)
        nsadmin routeExplain no-such-topic
        # A client's list with a comma in it; only causes, as JSON (exit code 1)
        nsadmin routeExplain orders --client 127.0.0.1:9876,127.0.0.1:9876 --filter result=cause --json
    """
    others = _other_contexts(session)
    question = Question(topic, cluster, zone, client_list, () if all_contexts else others)
    facts = gathering.gather(
        session.admin,
        question,
        [parse_addr(addr, BROKER_PORT) for addr in brokers or ()],
        _memories(session, topic, journal),
        [_elsewhere(session, name, topic) for name in others] if all_contexts else None,
    )
    found = explain(facts)
    unread = [f"journal of {one.server}: {one.error}" for one in facts.memories if one.error]
    notes = [*_notes(found), *unread]
    return Rows(COLUMNS, [_row(item) for item in found], _errors(facts, found), notes, IN_TABLE)


def _other_contexts(session: Session) -> tuple[str, ...]:
    known = contexts.load(contexts.path()).by_name
    return tuple(sorted(name for name in known if name != session.options.context))


def _elsewhere(session: Session, context: str, topic: str) -> Elsewhere:
    """Ask another context's name servers for the topic; an error becomes part of the result."""
    values: Any = defaultdict(lambda: None, context=context)
    try:
        options = settings.resolve(values)
        with session.other(options.namesrv_addr, options.access) as admin:
            return gathering.elsewhere(context, admin, topic)
    except (RocketMQError, contexts.BadConfig) as error:
        return Elsewhere(context, None, error=str(error))


def _memories(session: Session, topic: str, given: list[str] | None) -> list[Memory]:
    if not (given or session.options.journals):
        return []
    # Imported late, because only reading journals needs these modules.
    from nsadmin.operations.explain.remembering import remember

    return [_memory(remember, one, topic) for one in journals(session, "routeExplain", given, None)]


def _memory(remember: Callable[[Path, str, str], Memory], journal: Found, topic: str) -> Memory:
    try:
        return attempt("routeExplain", journal, lambda folder: remember(folder, journal.server, topic))
    except RocketMQError as error:
        return Memory(journal.server, error=str(error))


def _row(item: Explained) -> Row:
    finding = item.finding
    return {
        "step": item.cause,
        "result": finding.result,
        "namesrvAddrs": item.namesrv_addrs,
        "brokerName": finding.broker_name,
        "brokerAddr": finding.broker_addr,
        "seen": finding.seen,
        "next": None if finding.next is None else str(finding.next),
        "command": None if finding.next is None else finding.next.typed,
    }


def _errors(facts: Facts, found: Sequence[Explained]) -> list[RocketMQError | None]:
    """The errors that decide the exit code."""
    silent = [view.route.error for view in facts.views if view.is_silent]
    if len(silent) == len(facts.views):
        return list(silent)
    said = verdict(found)
    if said == "fine":
        return [None]
    return [RocketMQError(said)] if said == "cause found" else [None, RocketMQError(said)]


def _notes(found: Sequence[Explained]) -> list[str]:
    said, warned = verdict(found), _ids(found, "warning")
    line = {
        "cause found": f"cause found: {', '.join(causes(found))}",
        "unknown": f"unknown: no cause found, but not all was told: {', '.join(_ids(found, 'unknown'))}",
        "fine": "fine: clients of each name server find queues to write and to read",
    }[said]
    return [line, *([f"to be put right as well: {', '.join(warned)}"] if warned else [])]


def _ids(found: Iterable[Explained], result: str) -> list[str]:
    return list(dict.fromkeys(item.cause for item in found if item.finding.result == result))
