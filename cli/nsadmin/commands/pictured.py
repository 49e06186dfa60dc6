"""Gets a cluster snapshot from a file, name servers, a context, or a past time in journals."""

import os
from collections import defaultdict
from pathlib import Path
from time import time
from typing import Any

from namesrv_core.errors import RocketMQError
from namesrv_core.storage import past
from nsadmin import contexts, settings
from nsadmin.client import pictures
from nsadmin.client.access import Access
from nsadmin.client.addresses import BadAddress, parse_addrs
from nsadmin.client.pictures import BadPicture, Picture
from nsadmin.commands import moments
from nsadmin.commands.recorded import attempt, journals
from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.session import Session

HELP = "a snapshot's file, HOST:PORT of a name server, a context, or a time"


def picture(
    session: Session, command: str, option: str, text: str, given: list[str] | None, server: str | None
) -> Picture:
    """Resolve an operand to a snapshot; a one-line UsageError if it is malformed or its past is unknown."""
    if os.path.isfile(text):
        return loaded(command, text)
    known = contexts.load(contexts.path()).by_name
    if text in known:
        values: Any = defaultdict(lambda: None, context=text)
        options = settings.resolve(values)
        return _live(session, options.access, options.namesrv_addr)
    try:
        now = int(time() * 1000)
        moment = moments.moment(command, option, text, 0, now)
    except UsageError:
        return _live(session, session.options.access, _addrs(command, option, text))
    if moment > now:
        raise UsageError(f"{command}: {option} {text} is still to come: it is {utc(now)} now")
    return past_picture(session, command, moment, given, server)


def _addrs(command: str, option: str, text: str) -> tuple[str, ...]:
    try:
        if ":" in text:
            return parse_addrs([text])
    except BadAddress:
        pass
    raise UsageError(f"{command}: {option} {text} is none of these: {HELP}, as {moments.HELP}")


def _live(session: Session, access: Access, addrs: Any) -> Picture:
    with session.other(addrs, access) as admin:
        return pictures.of_cluster(admin, int(time() * 1000))


def past_picture(
    session: Session, command: str, moment: int, given: list[str] | None, server: str | None
) -> Picture:
    """Rebuild a name server's state at `time_ms` from its journal; UsageError if the state is unknown."""
    found = journals(session, command, given, server)
    if len(found) > 1:
        names = ", ".join(one.server for one in found)
        raise UsageError(f"{command}: whose past? Add --namesrv NAME, one of: {names}")
    try:
        seen = attempt(command, found[0], lambda folder: past.at(folder, moment))
    except RocketMQError as error:
        raise UsageError(f"{command}: {error}") from None
    if seen.tables is None:
        raise UsageError(f"{command}: {seen.server}: not known for {utc(moment) or moment}: {seen.why}")
    return pictures.of_tables(f"{seen.server} at {utc(moment)}", moment, seen.tables)


def loaded(command: str, file: str) -> Picture:
    """Load the snapshot in a file; UsageError if the file is no snapshot."""
    try:
        return pictures.from_bytes(Path(file).read_bytes())
    except BadPicture as error:
        raise UsageError(f"{command}: {file} is no snapshot: {error}") from None
    except OSError as error:
        raise UsageError(f"{command}: {file}: {error.strerror}") from None
