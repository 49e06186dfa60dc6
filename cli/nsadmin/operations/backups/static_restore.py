"""Restores the shares of brokers in static topics, and reads them back.

Rule: a mapping that was changed after the backup stays, because an older mapping would lose messages.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import NotApplied
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.operations.backups.records import BrokerBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome, change_item
from nsadmin.operations.broker_items import share_fields

ShareResult = ServerResult[BrokerQueueShare | None]


class StaticTopicRestore:
    """Restores the static topics of brokers.

    Args:
        admin: The client.
        master_addrs: The address of every master of the cluster, by broker name.
        is_dry_run: Only find out what would be done.
    """

    def __init__(self, admin: AdminClient, master_addrs: Mapping[str, str], *, is_dry_run: bool) -> None:
        self._admin, self._master_addrs, self._is_dry_run = admin, master_addrs, is_dry_run

    def restore_topics(self, brokers: Iterable[BrokerBackup]) -> Iterator[RestoreOutcome]:
        """Restore each topic on all of its brokers, and yield the outcome of each broker."""
        shares_by_topic: dict[str, dict[str, BrokerQueueShare]] = {}
        for broker in brokers:
            for topic, share in broker.static_topics.items():
                if share is not None and broker.broker_name in self._master_addrs:
                    shares_by_topic.setdefault(topic, {})[broker.broker_name] = share
        for topic, saved_shares in sorted(shares_by_topic.items()):
            yield from self._restore_topic(topic, saved_shares)

    def _restore_topic(
        self, topic: str, saved_shares: Mapping[str, BrokerQueueShare]
    ) -> Iterator[RestoreOutcome]:
        addrs = self._master_addrs.values()
        results = dict(
            zip(self._master_addrs, self._admin.queue_mappings.get_each(topic, addrs), strict=True)
        )
        for broker, share in saved_shares.items():
            current_share = results[broker].result
            before = None if current_share is None else share_fields(current_share)
            after = share_fields(share)
            error = None
            if before != after:
                error = find_obstacle(share, results) or self._find_lost_messages(topic, broker, share)
            yield change_item(
                Section.STATIC_TOPICS,
                broker,
                topic,
                (before, after),
                error,
                partial(self._put_share, topic, broker, share),
                is_dry_run=self._is_dry_run,
            )

    def _find_lost_messages(self, topic: str, broker: str, share: BrokerQueueShare) -> RocketMQError | None:
        """Return an error if a queue of the broker ends before the mapping begins to use it."""
        starts = {
            parts[-1].queue_id: parts[-1].start_offset
            for parts in share.hosted_queues.values()
            if parts and parts[-1].bname == broker and parts[-1].start_offset > 0
        }
        ends = self._admin.queue_mappings.get_own_ends(topic, self._master_addrs[broker], list(starts))
        for (queue_id, start_offset), end in zip(starts.items(), ends, strict=True):
            if isinstance(end, RocketMQError):
                return end
            if end < start_offset:
                return NotApplied(
                    f"queue {queue_id} has lost its messages: it ends at {end}, and the mapping begins at "
                    f"{start_offset}: create the topic: `nsadmin updateStaticTopic --help`"
                )
        return None

    def _put_share(self, topic: str, broker: str, share: BrokerQueueShare) -> RocketMQError | None:
        addr = self._master_addrs[broker]
        mappings = self._admin.queue_mappings
        [put_result] = mappings.put_shares(topic, [(addr, broker, share)])
        if put_result.error is not None:
            return put_result.error
        [read_result] = mappings.get_each(topic, [addr])
        if read_result.error is not None:
            return read_result.error
        if read_result.result is None or share_fields(read_result.result) != share_fields(share):
            return NotApplied("the broker reported success, but has another mapping")
        return None


def find_obstacle(share: BrokerQueueShare, results: Mapping[str, ShareResult]) -> RocketMQError | None:
    """Return why a share cannot be restored, or None. `results` has every master by broker name."""
    unknown = sorted({part.bname for parts in share.hosted_queues.values() for part in parts} - set(results))
    if unknown:
        return NotApplied(
            f"the mapping has queues on {', '.join(unknown)}, which the cluster lacks: pass "
            "--map OLD=NEW, or create the topic: `nsadmin updateStaticTopic --help`"
        )
    for broker, result in results.items():
        if result.error is not None:
            return NotApplied(f"the mapping on {broker} is unknown: {result.error}")
        if result.result is not None and result.result.epoch > share.epoch:
            return NotApplied(
                f"the mapping on {broker} is newer than the backup (epoch {result.result.epoch}, "
                f"not {share.epoch}): see `nsadmin updateStaticTopic --help`"
            )
    return None
