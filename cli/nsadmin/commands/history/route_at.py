"""Owns route at, which shows the route of a topic at a past time from journals."""

from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state import replayed_state
from namesrv_core.storage.journal.past_state import PastState, load_past_state
from nsadmin.client import NotFound
from nsadmin.client.topic_routes import QueueRoute, TopicRoute, parse_route
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.history.journal_source import (
    JournalOption,
    JournalServerOption,
    UnknownPastError,
    call_with_usage_errors,
    find_journals,
)
from nsadmin.commands.topics.topics import LOGICAL_QUEUES, ROUTE_COLUMNS, TopicArgument
from nsadmin.console.output import AnyColumn, Column, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

SERVER: AnyColumn = Column("server", "the name server of the journal", lambda r: r[0])
ROUTE_AT_COLUMNS = (*of_part(lambda r: r[1], ROUTE_COLUMNS), SERVER)

PastTimeOption = Annotated[str, Option("--at", metavar="TIME", help=time_arguments.TIME_HELP)]


@command(columns=ROUTE_AT_COLUMNS)
def route_at(
    session: Session,
    topic: TopicArgument,
    time_text: PastTimeOption,
    server_name: JournalServerOption = None,
    journal_folders: JournalOption = None,
) -> ResultRows:
    """Show the route of a topic at a past time, from journals.

    The rows are those of topicRoute. nsadmin asks no name server. A table of several journals has the rows of
    each name server.

    nsadmin reports times at which the route is unknown: before and after the journal, while the name server
    was stopped, and where its journal lost events. The exit code is 0 if all journals have a route, and 5 if
    no journal has one. It is 1 if the route is unknown or the name server was not ready, and 3 if journals
    differ in this.

    Examples:
        # State of a topic in the past: the route that clients received
        nsadmin route at orders --at 2025-02-01T00:00:02Z
        # Two hours ago, which is long after the end of this journal (exit code 1)
        nsadmin route at orders --at -2h
        # An unknown topic (exit code 5)
        nsadmin route at no-such-topic --at 2025-02-01T00:00:02Z
    """
    time_ms = time_arguments.parse_past_time("--at", time_text)
    queues: list[tuple[str, QueueRoute]] = []
    errors: list[RocketMQError | None] = []
    for journal in find_journals(session, journal_folders, server_name):
        try:
            past_state = call_with_usage_errors(journal, lambda folder: load_past_state(folder, time_ms))
            queues += [(journal.server_name, q) for q in _past_route(topic, past_state).queues]
            errors.append(None)
        except RocketMQError as error:
            errors.append(error)
    hidden = {SERVER.key} if len(errors) == 1 else set()
    if all(q.logical_queues is None for _, q in queues):
        hidden.add(LOGICAL_QUEUES.key)
    columns = [c.in_wide() if c.key in hidden else c for c in ROUTE_AT_COLUMNS]
    notes = [str(error) for error in errors if error is not None]
    return ResultRows.from_records(columns, queues, errors, notes, common={TOPIC: topic})


def _past_route(topic: str, past_state: PastState) -> TopicRoute:
    moment_text = format_utc(past_state.moment_ms) or past_state.moment_ms
    if past_state.journal_replay is None:
        raise UnknownPastError(
            f"{past_state.server_name}: its state at {moment_text} is unknown: {past_state.unknown_reason}"
        )
    if not past_state.was_ready:
        raise RocketMQError(f"{past_state.server_name}: the name server was not ready yet at {moment_text}")
    route_body = replayed_state.replayed_route_body(past_state.journal_replay, topic)
    if route_body is None:
        raise NotFound(f'{past_state.server_name}: "{topic}" had no route at {moment_text}')
    return parse_route(RemotingCommand(0, None, route_body))
