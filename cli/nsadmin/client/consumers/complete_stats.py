"""What consume statistics do not tell: which offsets were never committed, and which groups broadcast."""

from collections.abc import Mapping, Sequence
from functools import partial

from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.client_connections import find_broadcasting_groups
from nsadmin.client.consumers.committed_offsets import read_committed_offsets
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.consumers.consume_stats import ConsumeStats
from nsadmin.client.results import ServerResult


def complete_stats(
    caller: Caller,
    stats_results: Sequence[ServerResult[ConsumeStats]],
    connections_by_group: Mapping[str, GroupConnections] | None = None,
) -> list[ServerResult[ConsumeStats]]:
    """Clear the offsets that groups never committed (14), and mark the groups that broadcast (203)."""
    addressed_lags = [(r.addr, lag) for r in stats_results if r.result is not None for lag in r.result.queues]
    suspect_keys = [
        (broker_addr, queue_lag.group, queue_lag.queue)
        for broker_addr, queue_lag in addressed_lags
        if queue_lag.consumer_offset is not None and queue_lag.consumer_offset <= 0
    ]
    # An offset that could not be read counts as committed: its 0 is the broker's own word.
    offsets_by_addr: dict[str, dict[str, dict[int, int]]] = {}
    for (broker_addr, group, queue), committed in zip(
        suspect_keys, read_committed_offsets(caller, suspect_keys), strict=True
    ):
        if committed.error is not None or committed.offset is not None:
            offsets_by_key = offsets_by_addr.setdefault(broker_addr, {})
            offsets_by_key.setdefault(f"{queue.topic}@{group}", {})[queue.queue_id] = committed.offset or 0
    broadcasting_groups = (
        find_broadcasting_groups(
            caller, dict.fromkeys((broker_addr, queue_lag.group) for broker_addr, queue_lag in addressed_lags)
        )
        if connections_by_group is None
        else {group for group, connections in connections_by_group.items() if connections.is_broadcasting}
    )

    def complete(broker_addr: str, consume_stats: ConsumeStats) -> ConsumeStats:
        committed_offsets = offsets_by_addr.get(broker_addr, {})
        return consume_stats.clear_uncommitted(committed_offsets).mark_broadcasting(broadcasting_groups)

    return [stats_result.then(partial(complete, stats_result.addr)) for stats_result in stats_results]
