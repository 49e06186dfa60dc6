"""routeAt: shows the route of a topic at a past time from journals; asks no server."""

from typing import Annotated

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command
from namesrv_core.state import restored
from namesrv_core.storage import past
from namesrv_core.storage.past import Past
from nsadmin.client import NotFound
from nsadmin.client.routes import route_of
from nsadmin.commands import moments
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.recorded import JournalOption, ServerOption, Unknown, attempt, journals
from nsadmin.commands.times import utc
from nsadmin.commands.topics import ROUTE_COLUMNS, Topic, route_table
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*ROUTE_COLUMNS, "server")

AtOption = Annotated[str, Option("--at", metavar="TIME", help=moments.HELP)]


@shows(COLUMNS)
def route_at(
    session: Session,
    topic: Topic,
    at: AtOption,
    server: ServerOption = None,
    journal: JournalOption = None,
) -> Rows:
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
    moment = moments.past("routeAt", "--at", at)
    rows: list[Row] = []
    in_table: dict[str, None] = {}
    errors: list[RocketMQError | None] = []
    for found in journals(session, "routeAt", journal, server):
        try:
            seen = attempt("routeAt", found, lambda folder: past.at(folder, moment))
            route = _route(topic, seen)
            rows += [{**row, "server": found.server} for row in route.rows]
            in_table.update(dict.fromkeys(route.in_table or route.columns))
            errors.append(None)
        except RocketMQError as error:
            errors.append(error)
    notes = [str(error) for error in errors if error is not None]
    shown = [name for name in COLUMNS[:-1] if name in in_table] or COLUMNS[:-2]
    return Rows(COLUMNS, rows, errors, notes, [*shown, *(("server",) if len(errors) > 1 else ())])


def _route(topic: str, seen: Past) -> Rows:
    moment = utc(seen.moment) or seen.moment
    if seen.tables is None:
        raise Unknown(f"{seen.server}: not known for {moment}: {seen.why}")
    if not seen.was_ready:
        raise RocketMQError(f"{seen.server}: the name server was not ready yet at {moment}")
    body = restored.route_body(seen.tables, topic)
    if body is None:
        raise NotFound(f"{seen.server}: {topic!r} had no route at {moment}")
    return route_table(topic, route_of(Command(0, None, body)))
