"""The acting master: the slave with the smallest id stands in for a missing master (5.x, SlaveActingMaster).

Brokers say in their registration whether they want it. The acting master registers the topics of its group,
which are read-only then, and routes show its address as the master's.
"""

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.state.broker_tables import BrokerClaim, RegisteredGroup


def is_smallest_slave(broker: BrokerClaim, group: RegisteredGroup) -> bool:
    """Whether a slave registers the topics of its group. Brokers older than 5.0 never do."""
    return (
        broker.enable_acting_master is not None
        and broker.broker_id != MASTER_BROKER_ID
        and broker.broker_id == min(group.broker_addrs)
    )


def lacks_master(group: RegisteredGroup) -> bool:
    """Whether the queues of a group with members are read-only, because it has no master."""
    return group.enable_acting_master and min(group.broker_addrs) > MASTER_BROKER_ID


def route_addrs(group: RegisteredGroup, queue: QueueData) -> dict[int, str]:
    """The addresses in a route: the acting master gets id 0 if these queues on its group are not writable."""
    addrs = dict(group.broker_addrs)
    if addrs and MASTER_BROKER_ID not in addrs and group.enable_acting_master and not queue.perm & Perm.WRITE:
        addrs[MASTER_BROKER_ID] = addrs.pop(min(addrs))
    return addrs
