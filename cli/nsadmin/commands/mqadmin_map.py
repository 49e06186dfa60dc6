"""mqadminMap: lists the nsadmin command for each command of mqadmin."""

from typing import Annotated

from nsadmin import registry
from nsadmin.client import NotFound
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.mqadmin_names import KNOWN, Known
from nsadmin.likeness import like, meant
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("mqadmin", "nsadmin", "status", "since", "note")


@shows(COLUMNS)
def mqadmin_map(
    session: Session,
    command: Annotated[
        str | None,
        Word(
            ("--command",),
            "COMMAND",
            "A command of mqadmin; all if left out.",
            required=False,
            values="|".join(known.name for known in KNOWN),
        ),
    ],
) -> Rows:
    """Show what to type here for each command of mqadmin, and what is otherwise.

    All 96 commands of 5.5.0 are listed, and the 5 of 4.9 that are no more. Names and flags are mqadmin's
    where it says "same name"; nsadmin COMMAND --help has them all.

    Examples:
        # All of them
        nsadmin mqadminMap
        # One of them
        nsadmin mqadminMap updateTopic
        # What is otherwise than in mqadmin
        nsadmin mqadminMap --filter 'note~mqadmin' --columns mqadmin,note
    """
    if command is None:
        return Rows(COLUMNS, [_row(item) for item in KNOWN])
    found = [item for item in KNOWN if item.name.lower() == command.lower()]
    if not found:
        raise NotFound(f"mqadmin has no command {command!r}{_near(command)}")
    return Rows(COLUMNS, [_row(item) for item in found])


def _row(item: Known) -> Row:
    here = registry.find(item.name)
    entry = here or registry.find(item.instead or "")
    status = "same name" if here else "other command" if entry else "not yet"
    return {
        "mqadmin": item.name,
        "nsadmin": entry and entry.name,
        "status": status,
        "since": item.since,
        "note": item.note,
    }


def _near(command: str) -> str:
    near = like(command, (item.name for item in KNOWN), 0.5)
    return f": {meant(near)}" if near else ""
