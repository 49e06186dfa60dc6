"""The write permission of a broker's topics, which operators remove and restore by request.

Only this name server knows of the change. A registration with another data version restores the broker's own
permission (section 5.6 of the protocol notes).
"""

from namesrv_core.events import TopicChanges, WritePermAdded, WritePermWiped
from namesrv_core.protocol.codes import Perm
from namesrv_core.state.route_tables import RouteTables


def wipe_write_permission(tables: RouteTables, broker_name: str | None) -> WritePermWiped:
    """Remove WRITE from every topic of the broker. The event counts all its topics, changed or not."""
    topic_count, changes = _change_permissions(tables, broker_name, ~int(Perm.WRITE), 0)
    return WritePermWiped(broker_name or "", topic_count, changes)


def add_write_permission(tables: RouteTables, broker_name: str | None) -> WritePermAdded:
    """Set the permission of every topic of the broker to 6 (read and write), as upstream does."""
    topic_count, changes = _change_permissions(tables, broker_name, 0, int(Perm.READ | Perm.WRITE))
    return WritePermAdded(broker_name or "", topic_count, changes)


def _change_permissions(
    tables: RouteTables, broker_name: str | None, kept_bits: int, given_bits: int
) -> tuple[int, tuple[TopicChanges, ...]]:
    if broker_name is None:
        return 0, ()
    topic_count = len(tables.topics_of_broker(broker_name))
    changes = tables.change_all_queues(
        broker_name, lambda queue: queue._replace(perm=queue.perm & kept_bits | given_bits)
    )
    if changes:
        tables.generation += 1
    return topic_count, changes
