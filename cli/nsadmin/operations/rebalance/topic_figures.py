"""Measures topics: messages and bytes per second, from statistics of brokers, a sample, or a journal."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from nsadmin.client import AdminClient
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.operations.plans.records import ClusterState

_REQUESTS_AT_ONCE = 2000
BrokerTopic = tuple[str, str]
"""A broker name and a topic."""
QueueOffsets = Mapping[int, int]
"""Queue id to offset."""
T = TypeVar("T")


class TopicFigures(NamedTuple):
    """The traffic of a topic on all brokers, per second: messages sent and received, bytes sent."""

    sent: float = 0.0
    received: float = 0.0
    bytes_sent: float = 0.0


FiguresByTopic = Mapping[str, TopicFigures]


class OffsetReading(NamedTuple):
    """Offsets by place: the next offset of each queue, and the consumer offsets of each group."""

    max_offsets: Mapping[BrokerTopic, QueueOffsets]
    group_offsets: Mapping[BrokerTopic, Mapping[str, QueueOffsets]]

    def count_sent(self) -> dict[str, int]:
        """The sum of the next offsets, by topic."""
        sums: dict[str, int] = defaultdict(int)
        for (_, topic), offsets in self.max_offsets.items():
            sums[topic] += sum(offsets.values())
        return sums

    def count_received(self) -> dict[str, int]:
        """The sum of the consumer offsets of all groups, by topic."""
        sums: dict[str, int] = defaultdict(int)
        for (_, topic), offsets_by_group in self.group_offsets.items():
            sums[topic] += sum(sum(offsets.values()) for offsets in offsets_by_group.values())
        return sums

    def groups_by_topic(self) -> dict[str, set[str]]:
        """The groups that committed an offset, by topic."""
        groups: dict[str, set[str]] = defaultdict(set)
        for (_, topic), offsets_by_group in self.group_offsets.items():
            groups[topic].update(offsets_by_group)
        return groups

    def count_unread(self, place: BrokerTopic, first_queue_id: int) -> int:
        """The messages that groups have still to consume, in the queues from this id on."""
        max_offsets = self.max_offsets.get(place, {})
        return sum(
            max(0, max_offsets.get(queue_id, 0) - offset)
            for offsets in self.group_offsets.get(place, {}).values()
            for queue_id, offset in offsets.items()
            if queue_id >= first_queue_id
        )


def list_broker_topics(cluster: ClusterState, topics: Iterable[str]) -> list[BrokerTopic]:
    """The brokers of each of these topics."""
    return [(b.broker_name, t) for t in topics for b in cluster.broker_states if t in b.topics]


def read_offsets(admin: AdminClient, cluster: ClusterState, places: Sequence[BrokerTopic]) -> OffsetReading:
    """Read the offsets of all queues and groups of these topics.

    Raises:
        RocketMQError: a broker did not answer.
    """
    addrs = _master_addrs(cluster)
    max_offsets = {}
    for topic_batch in _split_batches(places):
        stats_results = admin.topics.get_stats_at([(addrs[broker], topic) for broker, topic in topic_batch])
        for place, stats_result in zip(topic_batch, stats_results, strict=True):
            queues = stats_result.value().queues
            max_offsets[place] = {queue.queue_id: queue.max_offset for queue in queues}
    group_offsets: dict[BrokerTopic, dict[str, QueueOffsets]] = defaultdict(dict)
    known_topics = set(places)
    committed_results = admin.consumers.get_committed_each(list(addrs.values()))
    for broker, committed_result in zip(addrs, committed_results, strict=True):
        for topic_and_group, offsets in committed_result.value().items():
            topic, _, group = topic_and_group.partition("@")
            if (broker, topic) in known_topics and not is_system_group(group):
                group_offsets[broker, topic][group] = dict(offsets)
    return OffsetReading(max_offsets, dict(group_offsets))


def read_statistics(
    admin: AdminClient, cluster: ClusterState, reading: OffsetReading
) -> dict[str, TopicFigures]:
    """The means that brokers measured: of 24 hours, or of an hour or a minute if they run for less time.

    Raises:
        RocketMQError: a broker did not answer.
    """
    places = list(reading.max_offsets)
    sent = _read_rates(admin, cluster, "TOPIC_PUT_NUMS", ((place, place[1]) for place in places))
    sizes = _read_rates(admin, cluster, "TOPIC_PUT_SIZE", ((place, place[1]) for place in places))
    received = _read_rates(
        admin,
        cluster,
        "GROUP_GET_NUMS",
        (
            (place, f"{place[1]}@{group}")
            for place, offsets in reading.group_offsets.items()
            for group in offsets
        ),
    )
    return {
        topic: TopicFigures(sent.get(topic, 0.0), received.get(topic, 0.0), sizes.get(topic, 0.0))
        for topic in sorted({topic for _, topic in places})
    }


def sample_figures(
    admin: AdminClient,
    cluster: ClusterState,
    first_reading: OffsetReading,
    sample_seconds: float,
    pause: Callable[[float], None],
) -> dict[str, TopicFigures]:
    """Read the offsets again after a pause: the difference is the traffic. Sizes are those of statistics.

    Raises:
        RocketMQError: a broker did not answer.
    """
    pause(sample_seconds)
    second_reading = read_offsets(admin, cluster, list(first_reading.max_offsets))
    sent_before, received_before = first_reading.count_sent(), first_reading.count_received()
    sent_after, received_after = second_reading.count_sent(), second_reading.count_received()
    sent = {t: max(0, count - sent_before.get(t, 0)) / sample_seconds for t, count in sent_after.items()}
    received = {
        topic: max(0, received_after.get(topic, 0) - received_before.get(topic, 0)) / sample_seconds
        for topic in sent
    }
    # The mean bytes per message, by topic.
    sizes = {
        topic: figures.bytes_sent / figures.sent
        for topic, figures in read_statistics(admin, cluster, first_reading).items()
        if figures.sent and figures.bytes_sent
    }
    mean_size = sum(sizes.values()) / len(sizes) if sizes else 1.0
    return {t: TopicFigures(sent[t], received[t], sent[t] * sizes.get(t, mean_size)) for t in sorted(sent)}


def read_journal_figures(journal_folder: Path, cluster: str) -> tuple[dict[str, TopicFigures], float]:
    """The traffic in a journal of `nsadmin collect --runtime --lag`, and the seconds that it covers.

    The journal has offsets of topics that a group consumes. All messages count as equally large.

    Raises:
        InvalidSegmentError, OSError: the journal cannot be read.
    """
    from namesrv_core.events import ConsumerLag
    from namesrv_core.history.records import event_of_record
    from namesrv_core.storage.journal import reader

    times: list[int] = []
    first_offsets: dict[tuple[str, str, str], tuple[int, int]] = {}
    last_offsets: dict[tuple[str, str, str], tuple[int, int]] = {}
    record_filter = reader.RecordFilter(event_types=("ConsumerLag", "BrokersPolled"))
    for journal_record in reader.read_records(journal_folder, 0, record_filter):
        if journal_record.event_type == "BrokersPolled":
            times.append(journal_record.time_ms)
        if journal_record.event_type != "ConsumerLag":
            continue
        event = event_of_record(journal_record)
        if isinstance(event, ConsumerLag) and event.cluster_name == cluster:
            for topic_lag in event.lags:
                group_key = event.broker_name, topic_lag.topic, event.consumer_group
                offsets = topic_lag.broker_offset, topic_lag.consumer_offset or 0
                first_offsets.setdefault(group_key, offsets)
                last_offsets[group_key] = offsets
    covered_seconds = (times[-1] - times[0]) / 1000 if len(times) > 1 else 0.0
    return _combine_groups(first_offsets, last_offsets, covered_seconds or 1.0), covered_seconds


def _combine_groups(
    first_offsets: Mapping[tuple[str, str, str], tuple[int, int]],
    last_offsets: Mapping[tuple[str, str, str], tuple[int, int]],
    covered_seconds: float,
) -> dict[str, TopicFigures]:
    sent: dict[BrokerTopic, int] = defaultdict(int)
    received: dict[str, int] = defaultdict(int)
    for group_key, (broker_offset, consumer_offset) in last_offsets.items():
        broker, topic, _ = group_key
        first_broker_offset, first_consumer_offset = first_offsets[group_key]
        # Each group reports the offsets of the topic: count the messages that were sent once.
        sent_count = max(0, broker_offset - first_broker_offset)
        sent[broker, topic] = max(sent[broker, topic], sent_count)
        received[topic] += max(0, consumer_offset - first_consumer_offset)
    sent_by_topic: dict[str, int] = defaultdict(int)
    for (_, topic), count in sent.items():
        sent_by_topic[topic] += count
    return {
        topic: TopicFigures(
            count / covered_seconds, received[topic] / covered_seconds, count / covered_seconds
        )
        for topic, count in sorted(sent_by_topic.items())
    }


def _read_rates(
    admin: AdminClient,
    cluster: ClusterState,
    stats_name: str,
    topics_and_keys: Iterable[tuple[BrokerTopic, str]],
) -> dict[str, float]:
    """The sums of rates by topic."""
    addrs = _master_addrs(cluster)
    rates: dict[str, float] = defaultdict(float)
    for key_batch in _split_batches(list(topics_and_keys)):
        results = admin.bulk.list_rates((addrs[broker], stats_name, key) for (broker, _), key in key_batch)
        for ((_, topic), _), rate_result in zip(key_batch, results, strict=True):
            rates[topic] += rate_result.value()
    return rates


def _master_addrs(cluster: ClusterState) -> dict[str, str]:
    return {b.broker_name: b.master_addr for b in cluster.broker_states if b.master_addr is not None}


def _split_batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for batch_start in range(0, len(items), _REQUESTS_AT_ONCE):
        yield items[batch_start : batch_start + _REQUESTS_AT_ONCE]
