"""Owns orderConfCheck, which compares order configurations with the existing topics and brokers."""

from time import time
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.pictures import of_each
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.units import counted
from nsadmin.operations.order_checks import check
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("topic", "severity", "kind", "problem", "orderConf", "servers")
IN_TABLE = ("topic", "severity", "problem", "servers")


class Wrong(RocketMQError):
    """An order configuration that makes sends fail, or loses the order of messages."""


@shows(COLUMNS)
def order_conf_check(
    session: Session,
    topic: Annotated[str | None, Word(("-t", "--topic"), "TOPIC", "Only this topic.", required=False)],
) -> Rows:
    """Check order configurations: brokers and queues that they name have to be there, on each name server.

    Clients send by the order configuration whatever the route says, so one that names a broker that is gone
    makes sends fail. An `error` is what makes sends fail or loses the order; a `warning` may be meant so. The
    exit code is 1 where there is an error, 3 where a name server did not answer.

    Examples:
        # All topics
        nsadmin orderConfCheck
        # One of them, as JSON
        nsadmin orderConfCheck orders --json
    """
    found = of_each(session.admin, int(time() * 1000))
    pictures = [one.result for one in found if one.result is not None]
    problems = [one for one in check(pictures) if topic is None or one.topic in (topic, None)]
    rows: list[Row] = [
        {
            "topic": one.topic,
            "severity": "error" if one.grave else "warning",
            "kind": one.kind,
            "problem": one.text,
            "orderConf": next(
                (text for seen in pictures if (text := seen.kv.get(NAMESPACE, {}).get(one.topic or ""))), None
            ),
            "servers": list(one.servers),
        }
        for one in problems
    ]
    graves = sum(one.grave for one in problems)
    errors: list[RocketMQError | None] = [Wrong("errors")] if graves else [one.error for one in found]
    notes = [f"name server {addr}: {error_text(error)}" for addr, _, error in found if error is not None]
    checked = {name for seen in pictures for name in seen.kv.get(NAMESPACE, {}) if topic in (None, name)}
    if pictures:
        notes.append(
            ", ".join(
                counted(*told)
                for told in (
                    (len(checked), "order configuration"),
                    (graves, "error"),
                    (len(problems) - graves, "warning"),
                )
            )
        )
    return Rows(COLUMNS, rows, errors, notes, IN_TABLE)
