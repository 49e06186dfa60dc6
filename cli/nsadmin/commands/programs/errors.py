"""Owns errors, which says what a response code or an exception of a client means."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.error_meanings import ERROR_MEANINGS, ErrorMeaning, find_meanings
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.session import Session

ERROR_COLUMNS: Columns[ErrorMeaning] = (
    Column("code", "response code, or error code of a client; null if it has none", lambda m: m.code),
    Column("name", "name of the code, or of the exception", lambda m: m.name),
    Column("meaning", "what it means", lambda m: m.meaning),
    Column("causes", "the usual causes", lambda m: m.causes),
    Column("command", "the command that finds out; replace the names in capitals", lambda m: m.command),
)


@command(columns=ERROR_COLUMNS)
def errors(
    session: Session,
    text: Annotated[
        str | None,
        Argument(metavar="CODE|TEXT", help="A code, a name or a line of a log. Default: all."),
        Flags("--text", joins_words=True),
    ] = None,
) -> ResultRows:
    """Explain a response code or a client's exception: its meaning, usual causes, and what finds out more.

    Examples:
        # A response code
        nsadmin errors 14
        # A client's exception
        nsadmin errors MQBrokerException
        # A line of a client's log
        nsadmin errors 'No route info of this topic: orders'
    """
    meanings = ERROR_MEANINGS if text is None else find_meanings(text)
    if not meanings:
        raise NotFound(f'no known error matches "{text}": run nsadmin errors to list all')
    return ResultRows.from_records(ERROR_COLUMNS, meanings)
