"""Reads how consumer groups stand with the queues of a moving topic."""

from collections.abc import Iterable, Mapping, Sequence

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError, TopicNotExist
from namesrv_core.protocol.resource_names import RETRY_PREFIX
from nsadmin.client import AdminClient
from nsadmin.client.consumers.client_runtime import ALL_QUEUES, RunningGroup
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import NotFound
from nsadmin.client.topic_routes import require_countable
from nsadmin.operations.rebalance.run_facts import GroupLag, NewQueueUse, TopicQuestion

BROADCASTING = "BROADCASTING"


class GroupReader:
    """Reads the groups of one topic on the brokers with these addresses, given by broker name."""

    def __init__(
        self, admin: AdminClient, cluster: str, question: TopicQuestion, addrs: Mapping[str, str]
    ) -> None:
        self._admin = admin
        self._cluster_name = cluster
        self._question = question
        self._addrs = addrs

    def list_groups(self) -> list[str]:
        """Return the groups that consume the topic. Raises RocketMQError if a broker does not answer."""
        topic = self._question.topic
        group_names = {
            group
            for addr in self._addrs.values()
            for group in self._admin.topics.list_consumer_groups(addr, [topic]).value()[topic]
        }
        return sorted(group for group in group_names if not is_system_group(group))

    def _read_running_group(self, group: str) -> RunningGroup | None:
        """Return the clients of a group; None if none is connected."""
        try:
            return self._admin.client_runtime.get_group(group, cluster_name=self._cluster_name)
        except NotFound:
            return None
        except RequestError as error:
            if error.code == ResponseCode.CONSUMER_NOT_ONLINE:
                return None
            raise

    def read_new_queue_use(self, groups: Sequence[str]) -> dict[str, NewQueueUse]:
        """Return how each group stands with the new queues."""
        new_queues = self._list_queues(self._question.new_queues)
        without_offset = self._find_missing_offsets(groups, new_queues)
        uses = {}
        for group in groups:
            running_group = self._read_running_group(group) if self._question.with_owners else None
            is_broadcasting = running_group is not None and running_group.message_model == BROADCASTING
            unowned, is_certain = _count_unowned(running_group, new_queues, is_broadcasting)
            uses[group] = NewQueueUse(unowned, is_certain, {} if is_broadcasting else without_offset[group])
        return uses

    def _list_queues(self, ids_by_broker: Mapping[str, range]) -> list[MessageQueue]:
        require_countable(map(len, ids_by_broker.values()))
        return [
            MessageQueue(self._question.topic, broker, queue_id)
            for broker, ids in sorted(ids_by_broker.items())
            for queue_id in ids
        ]

    def _find_missing_offsets(
        self, groups: Sequence[str], queues: Sequence[MessageQueue]
    ) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the queues without a consumer offset up to their end, by group and broker."""
        keys = [(self._addrs[queue.broker_name], group, queue) for group in groups for queue in queues]
        ends = dict(zip(queues, self._read_ends(queues), strict=True))
        missing_offsets: dict[str, dict[str, tuple[int, ...]]] = {group: {} for group in groups}
        committed_offsets = self._admin.queue_progress.get_committed_offsets(keys)
        for (_, group, queue), committed in zip(keys, committed_offsets, strict=True):
            end_offset = ends[queue]
            if isinstance(end_offset, RocketMQError):
                raise end_offset
            if committed.error is not None:
                raise committed.error
            if committed.offset is None or committed.offset > end_offset:
                known_ids = missing_offsets[group].get(queue.broker_name, ())
                missing_offsets[group][queue.broker_name] = (*known_ids, queue.queue_id)
        return missing_offsets

    def read_queue_ends(self) -> dict[str, tuple[int, ...] | None]:
        """Return the next offsets of the closing queues; None for a broker that does not tell them."""
        queues = self._list_queues(self._question.closing_queues)
        ends = self._read_ends(queues)
        ends_by_broker: dict[str, tuple[int, ...] | None] = {}
        for broker in self._question.closing_queues:
            found = [
                offset for queue, offset in zip(queues, ends, strict=True) if queue.broker_name == broker
            ]
            known_ends = tuple(offset for offset in found if isinstance(offset, int))
            ends_by_broker[broker] = known_ends if len(known_ends) == len(found) else None
        return ends_by_broker

    def _read_ends(self, queues: Sequence[MessageQueue]) -> Sequence[int | RocketMQError]:
        places = [(self._addrs[queue.broker_name], queue) for queue in queues]
        return self._admin.queue_progress.get_end_offsets(places)

    def read_group_lag(self, group: str) -> GroupLag:
        """Return what the group has not consumed."""
        running_group = self._read_running_group(group)
        is_online = running_group is not None
        if running_group is not None and running_group.message_model == BROADCASTING:
            return self._read_broadcast_lag(running_group)
        lags = self._read_lags(self._question.topic, group, self._addrs)
        closing_count = _count_unconsumed(
            lag
            for queue, lag in lags.items()
            if queue.queue_id in self._question.closing_queues.get(queue.broker_name, ())
        )
        leaving_addrs = {broker: self._addrs[broker] for broker in self._question.leaving_brokers}
        retries = _count_unconsumed(self._read_lags(f"{RETRY_PREFIX}{group}", group, leaving_addrs).values())
        return GroupLag(closing_count, _count_unconsumed(lags.values()), retries, is_online)

    def _read_lags(self, topic: str, group: str, addrs: Mapping[str, str]) -> dict[MessageQueue, Lag]:
        results = self._admin.consumers.get_stats_each([(addr, group) for addr in addrs.values()], topic)
        lags: dict[MessageQueue, Lag] = {}
        for result in results:
            if isinstance(result.error, TopicNotExist):
                continue
            for queue_lag in result.value().queues:
                if queue_lag.queue.topic == topic:
                    lags[queue_lag.queue] = queue_lag.lag
        return lags

    def _read_broadcast_lag(self, group: RunningGroup) -> GroupLag:
        """Each client consumes every message, and keeps its offsets itself."""
        queues = self._list_queues(self._question.closing_queues)
        ends = self._read_ends(queues)
        closing_count = 0
        for running_client in group.clients:
            if running_client.info is None:
                return GroupLag(None, None, 0, True)
            commits = {item.queue: item.consumer_offset for item in running_client.info.queues}
            for queue, end in zip(queues, ends, strict=True):
                commit = commits.get(queue)
                if not isinstance(end, int) or commit is None:
                    return GroupLag(None, None, 0, True)
                closing_count += max(0, end - commit)
        return GroupLag(closing_count, closing_count, 0, True)


def _count_unconsumed(lags: Iterable[Lag]) -> int | None:
    """The messages on these queues; None if unknown of one of them. A group that has none consumed all."""
    lags = list(lags)
    total_lag = sum_lags(lags) if lags else Lag(0)
    return total_lag.messages if total_lag.reason is None else None


def _count_unowned(
    group: RunningGroup | None, queues: Sequence[MessageQueue], is_broadcasting: bool
) -> tuple[int, bool]:
    """Return how many queues no client consumes, and whether all clients reported their queues."""
    if group is None:
        return 0, True
    reports = [client.info for client in group.clients]
    known_sets = [set(info.held_queues) for info in reports if info is not None]
    is_certain = len(known_sets) == len(reports)
    if is_broadcasting:
        return max((_count_missing(queues, held) for held in known_sets), default=0), is_certain
    return _count_missing(queues, set().union(*known_sets)), is_certain


def _count_missing(queues: Iterable[MessageQueue], held: set[MessageQueue]) -> int:
    return sum(queue not in held and queue._replace(queue_id=ALL_QUEUES) not in held for queue in queues)
