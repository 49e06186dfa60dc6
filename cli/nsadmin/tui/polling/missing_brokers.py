"""The brokers of the inventory that no name server lists, as a poll."""

from collections.abc import Callable, Iterable

from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.polling.poll_records import MissingBrokerRecord, MissingBrokersPolled, NameServerPolled


def poll_missing_brokers(
    inventory: InventoryKeeper, latest_polls: Iterable[NameServerPolled], clock: Callable[[], int]
) -> MissingBrokersPolled | None:
    """Compare the latest listings with the inventory; None if no name server answered."""
    answered_polls = [poll for poll in latest_polls if poll.error is None]
    if not answered_polls:
        return None
    missing_brokers = inventory.observe_brokers(
        [
            BrokerAddrGroup(group.cluster_name, broker_name, dict(group.broker_addrs))
            for poll in answered_polls
            for broker_name, group in poll.groups.items()
        ]
    )
    return MissingBrokersPolled(
        clock(),
        [
            MissingBrokerRecord(
                missing.broker.cluster_name,
                missing.broker.broker_name,
                missing.broker.broker_id,
                missing.broker.broker_addr,
                missing.broker.last_seen_ms,
            )
            for missing in missing_brokers
        ],
        inventory.problem or "",
    )
