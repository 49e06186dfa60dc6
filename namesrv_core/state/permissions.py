"""Write permission of a broker's topics, taken and given on request.

It is this name server's alone and no part of what the broker registers: a registration of a topic with
another data version puts the broker's own permission back (section 5.6 of the protocol notes).
"""

from namesrv_core.events import TopicChanges, WritePermAdded, WritePermWiped
from namesrv_core.protocol.codes import Perm
from namesrv_core.state.tables import RouteTables


def wipe(tables: RouteTables, broker_name: str | None) -> WritePermWiped:
    """Take WRITE from every topic of the broker; `topics` counts those it has, changed or not."""
    topics, altered = _set_perms(tables, broker_name, ~int(Perm.WRITE), 0)
    return WritePermWiped(broker_name or "", topics, altered)


def add(tables: RouteTables, broker_name: str | None) -> WritePermAdded:
    """Make every topic of the broker readable and writable: exactly 6, whatever it was, as upstream does."""
    topics, altered = _set_perms(tables, broker_name, 0, int(Perm.READ | Perm.WRITE))
    return WritePermAdded(broker_name or "", topics, altered)


def _set_perms(
    tables: RouteTables, broker_name: str | None, keep: int, give: int
) -> tuple[int, tuple[TopicChanges, ...]]:
    if broker_name is None:
        return 0, ()
    topics = len(tables.topics_of(broker_name))
    altered = tables.change_all(broker_name, lambda queue: queue._replace(perm=queue.perm & keep | give))
    if altered:
        tables.generation += 1
    return topics, altered
