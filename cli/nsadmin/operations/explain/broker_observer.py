"""Asks one broker for its figures, several times, and for its settings, replication, topics and clients."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from namesrv_core.errors import RocketMQError
from namesrv_core.events import BrokerRuntime
from namesrv_core.history.records import JournalRecord, event_of_record
from nsadmin.client import AdminClient
from nsadmin.client.brokers.send_limits import read_limit, read_lock_ms
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.operations.broker_disks import REFUSING, observe_disks
from nsadmin.operations.explain.broker_facts import SHOWN_TOPICS, BrokerFacts
from nsadmin.operations.topic_senders import Sender, find_senders

_LOOKS, _PAUSE_SECONDS = 20, 0.1
"""A queue fills and empties within milliseconds: one look often misses it."""
_MAX_TOPICS, _MAX_QUEUES, _NEWEST = 1000, 8, 32


def gather_facts(
    admin: AdminClient,
    target: BrokerTarget,
    slave_count: int | None,
    pause: Callable[[float], object],
    journal_records: Iterable[JournalRecord] | None = None,
) -> BrokerFacts:
    """Gather the facts about a broker. A request that fails does not end it.

    `pause` waits between two looks. `journal_records` are those of a collector's journal of brokers.
    """
    addr = target.broker_addr or ""
    looks = admin.brokers.get_runtime_info([addr])
    while looks[0].error is None and len(looks) < _LOOKS:
        pause(_PAUSE_SECONDS)
        looks += admin.brokers.get_runtime_info([addr])
    [config] = admin.broker_configs.get_each([addr])
    [change_time] = admin.broker_configs.get_change_times([addr])
    [ha_status] = admin.replication.get_status([addr])
    [cold_data] = admin.cold_data.get_each([addr])
    [topics] = admin.topic_configs.list_broker_topics([addr])
    counts = topics.then(lambda found: _count_topics(admin, addr, found))
    return BrokerFacts(
        target,
        tuple(looks),
        config,
        observe_disks(admin, looks[-1:]),
        ha_status,
        slave_count,
        cold_data,
        counts,
        max(0, len(topics.result or ()) - _MAX_TOPICS),
        _find_clients(admin, addr, topics.result or (), (counts.result or ())[:SHOWN_TOPICS]),
        change_time.result,
        None if journal_records is None else find_reached_since(journal_records, addr, config.result or {}),
        admin.clock_ms,
    )


def _count_topics(
    admin: AdminClient, addr: str, topics: Sequence[BrokerTopicConfig]
) -> tuple[tuple[str, int], ...]:
    names = [config.topic_name for config in topics[:_MAX_TOPICS]]
    counts = [r.result for r in admin.put_counts.count_topic_messages(addr, names) if r.result is not None]
    return tuple(sorted((pair for pair in counts if pair[1]), key=lambda pair: -pair[1]))


def _find_clients(
    admin: AdminClient,
    addr: str,
    topics: Iterable[BrokerTopicConfig],
    topic_counts: Iterable[tuple[str, int]],
) -> tuple[Sender, ...]:
    """The hosts that sent the newest messages of the topics with the most, those with the most first."""
    queue_counts = {config.topic_name: config.write_queue_nums for config in topics}
    spans: dict[str, list[QueueSpan]] = {}
    for topic, _ in topic_counts:
        queues = [MessageQueue(topic, addr, i) for i in range(min(queue_counts[topic], _MAX_QUEUES))]
        ends = admin.queue_progress.get_end_offsets([(addr, queue) for queue in queues])
        spans[topic] = [
            QueueSpan(addr, addr, queue.queue_id, 0, end)
            for queue, end in zip(queues, ends, strict=True)
            if not isinstance(end, RocketMQError)
        ]
    return find_senders(admin, spans, [addr], _NEWEST).senders


def find_reached_since(
    records: Iterable[JournalRecord], addr: str, config: Mapping[str, str]
) -> dict[str, int]:
    """Since when the limits are reached without a break, by setting, as far as a collector polled them."""
    settings = ("waitTimeMillsInSendQueue", "osPageCacheBusyTimeOutMills", "sendThreadPoolQueueCapacity")
    limits = {setting: read_limit(config, setting) for setting in settings}
    limits[REFUSING.key] = REFUSING.of(config)
    since: dict[str, int] = {}
    for record in records:
        event = event_of_record(record)
        if not isinstance(event, BrokerRuntime) or event.broker_addr != addr:
            continue
        lock_ms, ratio = event.page_cache_lock_millis, event.commit_log_disk_ratio
        uses = (
            event.send_queue_wait_millis,
            None if lock_ms is None else read_lock_ms(lock_ms),
            event.send_queue_size,
            None if ratio is None else 100 * ratio,
        )
        for (setting, limit), used in zip(limits.items(), uses, strict=True):
            if used is not None and used >= limit:
                since.setdefault(setting, record.time_ms)
            else:
                since.pop(setting, None)
    return since
