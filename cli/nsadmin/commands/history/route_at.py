"""Owns route at, which shows the route of a topic at a past time from journals."""

from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state import replayed_state
from namesrv_core.storage.journal.past_state import PastState, load_past_state
from nsadmin.client import NotFound
from nsadmin.client.topic_routes import parse_route
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import command
from nsadmin.commands.history.journal_source import (
    JournalOption,
    JournalServerOption,
    UnknownPastError,
    call_with_usage_errors,
    find_journals,
)
from nsadmin.commands.topics.topics import TOPIC_ROUTE_COLUMNS, TopicArgument, route_rows
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

ROUTE_AT_COLUMNS = (*TOPIC_ROUTE_COLUMNS, "server")

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
        # The route that clients received
        nsadmin route at orders --at 2025-02-01T00:00:02Z --journal namesrv/journal
        # Two hours ago, which is long after the end of this journal (exit code 1)
        nsadmin route at orders --at -2h --journal namesrv/journal
        # An unknown topic (exit code 5)
        nsadmin route at no-such-topic --at 2025-02-01T00:00:02Z --journal namesrv/journal
    """
    time_ms = time_arguments.parse_past_time("--at", time_text)
    route_rows: list[ResultRow] = []
    table_columns: dict[str, None] = {}
    errors: list[RocketMQError | None] = []
    for server_journal in find_journals(session, journal_folders, server_name):
        try:
            past_state = call_with_usage_errors(
                server_journal, lambda folder: load_past_state(folder, time_ms)
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
            f"{past_state.server_name}: unknown at {moment_text}: {past_state.unknown_reason}"
        )
    if not past_state.was_ready:
        raise RocketMQError(f"{past_state.server_name}: the name server was not ready yet at {moment_text}")
    route_body = replayed_state.replayed_route_body(past_state.journal_replay, topic)
    if route_body is None:
        raise NotFound(f'{past_state.server_name}: "{topic}" had no route at {moment_text}')
    return route_rows(topic, parse_route(RemotingCommand(0, None, route_body)))
