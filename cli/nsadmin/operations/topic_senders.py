"""Finds the hosts that sent the newest messages. No server reports which producers send to a topic."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.consumers.connected_clients import ProducerClient
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.proxies.cluster_clients import INNER_PRODUCER_GROUP


class Sender(NamedTuple):
    """A host that sent some of the newest messages, and the producers that are connected from it."""

    host: str
    message_count: int
    groups: tuple[str, ...]
    newest_ms: int = 0
    versions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


class SenderReading(NamedTuple):
    """The senders, those of most messages first; what failed, by broker name and by broker address."""

    senders: tuple[Sender, ...]
    queue_errors: Mapping[str, RocketMQError]
    group_errors: Mapping[str, RocketMQError]


def find_senders(
    admin: AdminClient,
    spans_by_topic: Mapping[str, Sequence[QueueSpan]],
    broker_addrs: Iterable[str],
    newest_count: int,
) -> SenderReading:
    """Read the newest messages of each queue, and the producers that are connected to these brokers."""
    counts, times = dict[str, int](), dict[str, int]()
    queue_errors, group_errors = dict[str, RocketMQError](), dict[str, RocketMQError]()
    for topic, spans in spans_by_topic.items():
        tails = [s._replace(begin_offset=max(s.begin_offset, s.end_offset - newest_count)) for s in spans]
        for page in admin.queue_reader.read_pages(topic, tails):
            if page.error is not None:
                queue_errors.setdefault(page.broker_name, page.error)
            for message in page.messages:
                host = message.born_host.rpartition(":")[0]
                counts[host] = counts.get(host, 0) + 1
                times[host] = max(times.get(host, 0), message.store_timestamp)
    connected: dict[str, list[ProducerClient]] = {}
    for result in admin.producers.list_producers(broker_addrs) if counts else ():
        if result.error is not None:
            group_errors[result.addr] = result.error
        for producer in result.result or ():
            if producer.producer_group != INNER_PRODUCER_GROUP:
                host = (producer.client_addr or "").rpartition(":")[0]
                connected.setdefault(host, []).append(producer)
    senders = []
    for host, count in counts.items():
        producers = connected.get(host, ())
        senders.append(
            Sender(
                host,
                count,
                _list_distinct(p.producer_group for p in producers),
                times[host],
                _list_distinct(p.version for p in producers),
                _list_distinct(p.language for p in producers),
            )
        )
    return SenderReading(
        tuple(sorted(senders, key=lambda s: (-s.message_count, s.host))), queue_errors, group_errors
    )


def _list_distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))
