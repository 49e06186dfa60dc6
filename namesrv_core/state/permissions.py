"""The write permission of a broker's topics, which operators remove and restore by request.

Only this name server knows of the change. A registration with another data version restores the broker's own
permission (section 5.6 of the protocol notes).
"""

from namesrv_core.events import TopicChanges, WritePermAdded, WritePermWiped
from namesrv_core.protocol.codes import Perm
from namesrv_core.state.tables import RouteTables


def wipe(tables: RouteTables, broker_name: str | None) -> WritePermWiped:
    """Remove WRITE from every topic of the broker. The event counts all its topics, changed or not."""
    topics, altered = _set_perms(tables, broker_name, ~int(Perm.WRITE), 0)
    return WritePermWiped(broker_name or "", topics, altered)


def add(tables: RouteTables, broker_name: str | None) -> WritePermAdded:
    """Set the permission of every topic of the broker to 6 (read and write), as upstream does."""
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
