"""routeAt: shows the route of a topic at a past time from journals; asks no server."""

from typing import Annotated

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state import replayed_state
from namesrv_core.storage.journal.past_state import PastState, load_past_state
from nsadmin.client import NotFound
from nsadmin.client.topic_routes import parse_route
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.history.journal_source import (
    JournalOption,
    JournalServerOption,
    UnknownPastError,
    call_with_usage_errors,
    find_journals,
)
from nsadmin.commands.topics.topics import TOPIC_ROUTE_COLUMNS, TopicArgument, route_rows
from nsadmin.output import ResultRow, ResultRows
from nsadmin.output.timestamps import format_utc
from nsadmin.session import Session

ROUTE_AT_COLUMNS = (*TOPIC_ROUTE_COLUMNS, "server")

PastTimeOption = Annotated[str, Option("--at", metavar="TIME", help=time_arguments.TIME_HELP)]


@declare_columns(ROUTE_AT_COLUMNS)
def route_at(
    session: Session,
    topic: TopicArgument,
    time_text: PastTimeOption,
    server_name: JournalServerOption = None,
    journal_folders: JournalOption = None,
) -> ResultRows:
    """Show the route of a topic as name servers answered it at that time: the rows of topicRoute.

    It is read from the journals of name servers, so that none has to run. A table of several journals has
    the rows of each name server.

    What is not known is said, and never guessed: before a journal begins and after its end, between the end
    of a name server and its next start, and where its journal lost events. The exit code is 0 where all
    journals have a route, 5 where the topic was nowhere, 1 where nobody knows or the name server was not
    ready yet, 3 where journals differ in that.

    Examples:
        # What clients saw then
        nsadmin routeAt orders --at 2025-02-01T00:00:02Z --journal namesrv/journal
        # Two hours ago, long after this journal's end (exit code 1)
        nsadmin routeAt orders --at -2h --journal namesrv/journal
        # A topic that was nowhere (exit code 5)
        nsadmin routeAt no-such-topic --at 2025-02-01T00:00:02Z --journal namesrv/journal
    """
    time_ms = time_arguments.parse_past_time("routeAt", "--at", time_text)
    route_rows: list[ResultRow] = []
    table_columns: dict[str, None] = {}
    errors: list[RocketMQError | None] = []
    for server_journal in find_journals(session, "routeAt", journal_folders, server_name):
        try:
            past_state = call_with_usage_errors(
                "routeAt", server_journal, lambda folder: load_past_state(folder, time_ms)
            )
            past_route = _past_route(topic, past_state)
            route_rows += [
                {**route_row, "server": server_journal.server_name} for route_row in past_route.rows
            ]
            table_columns.update(dict.fromkeys(past_route.table_columns or past_route.columns))
            errors.append(None)
        except RocketMQError as error:
            errors.append(error)
    notes = [str(error) for error in errors if error is not None]
    shown_columns = [
        column_name for column_name in ROUTE_AT_COLUMNS[:-1] if column_name in table_columns
    ] or ROUTE_AT_COLUMNS[:-2]
    return ResultRows(
        ROUTE_AT_COLUMNS,
        route_rows,
        errors,
        notes,
        [*shown_columns, *(("server",) if len(errors) > 1 else ())],
    )


def _past_route(topic: str, past_state: PastState) -> ResultRows:
    moment_text = format_utc(past_state.moment_ms) or past_state.moment_ms
    if past_state.journal_replay is None:
        raise UnknownPastError(
            f"{past_state.server_name}: not known for {moment_text}: {past_state.unknown_reason}"
        )
    if not past_state.was_ready:
        raise RocketMQError(f"{past_state.server_name}: the name server was not ready yet at {moment_text}")
    route_body = replayed_state.replayed_route_body(past_state.journal_replay, topic)
    if route_body is None:
        raise NotFound(f"{past_state.server_name}: {topic!r} had no route at {moment_text}")
    return route_rows(topic, parse_route(RemotingCommand(0, None, route_body)))
