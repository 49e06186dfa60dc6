"""Owns updateOrderConf, which shows, writes or deletes a topic's order configuration on name servers."""

from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.order_conf import parse
from nsadmin.client.results import is_not_found
from nsadmin.commands.changes import CHANGE, forgiving, per_name_server
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import per_server
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "topic", "orderConf", "result", "error")
CHANGE_COLUMNS = ("namesrvAddr", "topic", *CHANGE)


@shows(COLUMNS, CHANGE_COLUMNS)
def update_order_conf(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    method: Annotated[str, Word(("-m", "--method"), "get|put|delete", "What to do.")],
    conf: Annotated[
        str | None,
        Word(("-v", "--orderConf"), "CONF", "For put: broker-a:4;broker-b:8, queues by broker.", False),
    ],
) -> Rows:
    """Show, write or delete a topic's order configuration on every name server.

    It says on which brokers, in how many queues, the ordered messages of the topic are; put replaces all of
    it. Clients get it with the route, but only of name servers whose orderMessageEnable is true. Off a
    terminal, delete needs --yes.

    Examples:
        # Show it
        nsadmin updateOrderConf orders get
        # Write it, 8 queues on each of two brokers
        nsadmin updateOrderConf orders put "broker-a-0:8;broker-a-1:8" --yes
        # Delete it
        nsadmin updateOrderConf orders delete --yes
    """
    confs = session.admin.order_confs
    where = ", ".join(session.admin.addresses.addrs)
    if method == "get":
        return _noted(session, per_server(COLUMNS, {"topic": topic}, confs.each(topic), "orderConf", "found"))
    if method not in ("put", "delete"):
        raise UsageError(f"updateOrderConf: no method {method!r}: there are get, put and delete")
    session.require_writable(f"updateOrderConf {method}")
    word = "dry-run" if session.dry_run else "done"
    if method == "put":
        text = _checked(conf)
        session.confirm(f"Write the order configuration {text} of {topic} on {where}?")
        before = confs.each(topic)
        done = [_planned(found, text) for found in before] if session.dry_run else confs.put(topic, text)
        return _noted(session, per_name_server({"topic": topic}, before, done, word))
    session.require_yes("updateOrderConf delete")
    session.confirm(f"Delete the order configuration of {topic} on {where}?")
    before = confs.each(topic) if session.dry_run else confs.delete(topic)
    gone = [ServerResult[str](addr, None, error) for addr, _, error in before]
    return forgiving(_noted(session, per_name_server({"topic": topic}, before, gone, word)))


def _planned(found: ServerResult[str], text: str) -> ServerResult[str]:
    if found.error is None or is_not_found(found.error):
        return ServerResult(found.addr, text, None)
    return found


def _checked(conf: str | None) -> str:
    if conf is None:
        raise UsageError("updateOrderConf: CONF is missing; type: nsadmin updateOrderConf TOPIC put CONF")
    try:
        parse(conf)
    except ValueError as error:
        raise UsageError(f"updateOrderConf: {error}") from error
    return conf


def _noted(session: Session, rows: Rows) -> Rows:
    """Add a note for each name server that does not send order configurations to clients."""
    if session.dry_run or None not in rows.errors:
        return rows
    unused = session.admin.order_confs.unused_on()
    notes = [f"name server {addr}: clients do not get it, orderMessageEnable is false" for addr in unused]
    failures = sum(error is not None for error in rows.errors)
    if notes and failures:
        notes.append(f"failed on {failures} of {len(rows.errors)} servers")
    return rows._replace(notes=notes)
