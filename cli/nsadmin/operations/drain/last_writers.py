"""Finds the clients that wrote to the busiest topics of a broker last, also those behind proxies."""

from collections.abc import Mapping

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.topic_routes import QueueRoute

MAX_TOPICS = 3
MAX_QUEUES = 8
_HOST_PROPERTY = "__BORNHOST"
"""The host name of a gRPC client, which a proxy notes in each of its messages (GrpcConverter upstream)."""


def read_last_writers(
    admin: AdminClient,
    broker: str,
    master_addr: str,
    queue_counts: Mapping[str, int],
    recent_puts: Mapping[str, int],
) -> dict[str, tuple[str, ...]]:
    """Return the writers of the last message of each queue, by topic; busiest topics first.

    `queue_counts` are the write queues of the broker by topic. Topics that cannot be read are left out.
    """
    busiest_topics = sorted(
        (topic for topic, count in recent_puts.items() if count and queue_counts.get(topic)),
        key=lambda topic: (-recent_puts[topic], topic),
    )
    writers_by_topic: dict[str, tuple[str, ...]] = {}
    for topic in busiest_topics[:MAX_TOPICS]:
        queue_count = min(queue_counts[topic], MAX_QUEUES)
        route = QueueRoute(broker, None, {0: master_addr}, 6, queue_count, queue_count, 0)
        try:
            span_results = admin.queue_reader.get_spans(topic, [route])
        except RocketMQError:
            continue
        spans = [
            span._replace(begin_offset=max(span.begin_offset, span.end_offset - 1))
            for _, _, span, _ in span_results
            if span is not None and span.end_offset > span.begin_offset
        ]
        messages = [m for page in admin.queue_reader.read_pages(topic, spans) for m in page.messages]
        messages.sort(key=lambda message: -message.store_timestamp)
        if messages:
            writers_by_topic[topic] = tuple(dict.fromkeys(map(describe_writer, messages)))
    return writers_by_topic


def describe_writer(message: StoredMessage) -> str:
    """Return the host that sent a message. A gRPC client also has a name, because its proxy sent for it."""
    born_ip = message.born_host.rpartition(":")[0] or message.born_host
    host_name = message.properties.get(_HOST_PROPERTY)
    return f"{host_name} (gRPC) through {born_ip}" if host_name else born_ip
