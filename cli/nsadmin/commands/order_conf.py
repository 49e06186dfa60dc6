"""updateOrderConf: the order configuration of a topic, on every name server."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.order_conf import parse
from nsadmin.client.results import is_not_found
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import per_server
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "topic", "orderConf", "result", "error")


@shows(COLUMNS)
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
        return _rows(session, topic, confs.each(topic), "found")
    if method not in ("put", "delete"):
        raise UsageError(f"updateOrderConf: no method {method!r}: there are get, put and delete")
    session.require_writable(f"updateOrderConf {method}")
    if method == "put":
        text = _checked(conf)
        session.confirm(f"Write the order configuration {text} of {topic} on {where}?")
        planned = [ServerResult(addr, text, None) for addr in session.admin.addresses.addrs]
        return _rows(session, topic, planned if session.dry_run else confs.put(topic, text), "done")
    session.require_yes("updateOrderConf delete")
    session.confirm(f"Delete the order configuration of {topic} on {where}?")
    rows = _rows(session, topic, confs.each(topic) if session.dry_run else confs.delete(topic), "done")
    if None in rows.errors:
        # Where one server had it, its absence from others is what was wanted.
        return rows._replace(errors=[None if is_not_found(error) else error for error in rows.errors])
    return rows


def _checked(conf: str | None) -> str:
    if conf is None:
        raise UsageError("updateOrderConf: CONF is missing; type: nsadmin updateOrderConf TOPIC put CONF")
    try:
        parse(conf)
    except ValueError as error:
        raise UsageError(f"updateOrderConf: {error}") from error
    return conf


def _rows(session: Session, topic: str, results: Sequence[ServerResult[str]], done: str) -> Rows:
    word = "dry-run" if session.dry_run and done == "done" else done
    rows = per_server(COLUMNS, {"topic": topic}, results, "orderConf", word)
    if word != "dry-run" and any(result.error is None for result in results):
        unused = session.admin.order_confs.unused_on()
        notes = [f"name server {addr}: clients do not get it, orderMessageEnable is false" for addr in unused]
        failures = sum(error is not None for error in rows.errors)
        if notes and failures:
            notes.append(f"failed on {failures} of {len(rows.errors)} servers")
        return rows._replace(notes=notes)
    return rows
