"""Counts the messages in queues that consumers can no longer read after a change."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient


class RemovedQueues(NamedTuple):
    """The `queues` of a topic on a broker that consumers lose."""

    broker_addr: str
    topic: str
    queues: range


class RemovedMessages(NamedTuple):
    """The messages in removed queues, and each group's lag there. None if unknown."""

    stored: int | None
    lag_by_group: Mapping[str, int | None]

    @property
    def unconsumed_count(self) -> int | None:
        """The largest lag of a group; without a group, all stored messages."""
        if self.stored == 0 or not self.lag_by_group:
            return self.stored
        lags = self.lag_by_group.values()
        return None if None in lags else max(lag or 0 for lag in lags)


def count_removed_messages(admin: AdminClient, removals: Sequence[RemovedQueues]) -> list[RemovedMessages]:
    """Count the messages in the queues of each removal. Groups are only asked where messages are stored."""
    stats_results = admin.topics.get_stats_at([(r.broker_addr, r.topic) for r in removals])
    counted = []
    for removal, (_, stats, _) in zip(removals, stats_results, strict=True):
        stored_counts = {queue.queue_id: queue.message_count for queue in stats.queues} if stats else {}
        # 4.9 tells nothing of queues beyond the write queues.
        counts = [stored_counts.get(queue) for queue in removal.queues]
        stored = None if None in counts else sum(n or 0 for n in counts)
        counted.append(RemovedMessages(stored, {} if stored == 0 else _sum_lags(admin, removal)))
    return counted


def _sum_lags(admin: AdminClient, removal: RemovedQueues) -> dict[str, int | None]:
    """How many messages each group has not consumed; {} if the groups are not known."""
    addr, topic, queues = removal
    lags: dict[str, int | None] = {}
    for group in (admin.topics.list_consumer_groups(addr, [topic]).result or {}).get(topic, ()):
        [stats] = admin.consumers.get_progress_at(group, [addr])
        counts = [
            queue_lag.lag.messages
            for queue_lag in (stats.result.queues if stats.result else ())
            if queue_lag.queue.topic == topic and queue_lag.queue.queue_id in queues
        ]
        lags[group] = sum(n or 0 for n in counts) if counts and None not in counts else None
    return lags
