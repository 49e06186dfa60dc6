"""Reads the heartbeats that cluster-mode proxies pass on to each other, from the brokers that store them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import parse_text_table
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.proxies.client_heartbeats import (
    HEARTBEAT_TOPIC,
    READ_WINDOW_MS,
    ClientHeartbeat,
    parse_heartbeat,
    select_latest,
)
from nsadmin.client.results import error_text, is_not_found
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topics import TopicAdmin

MAX_HEARTBEATS = 5_000
"""The number of heartbeats to read from each queue: those of 500 clients in 100 seconds."""


class ProxyHeartbeats(NamedTuple):
    """The last heartbeat of each consumer behind the cluster-mode proxies.

    Attributes:
        latest: In the order of groups, client ids and proxies, also of clients that are no longer connected.
        errors: Broker address to error, if heartbeats there cannot be read. Empty if all were read.
    """

    latest: tuple[ClientHeartbeat, ...] = ()
    errors: Mapping[str, RocketMQError] = {}

    @property
    def of_connected_clients(self) -> list[ClientHeartbeat]:
        """The heartbeats of clients that are connected."""
        return [heartbeat for heartbeat in self.latest if heartbeat.is_connected]


class _StoredHeartbeats(NamedTuple):
    """The messages of the topic: bodies with their ages in ms at `now_ms`; and the errors of brokers."""

    now_ms: int
    bodies: Sequence[tuple[bytes, int]]
    errors: Mapping[str, RocketMQError]

    def parse(self) -> ProxyHeartbeats:
        heartbeats = [parse_heartbeat(body, age_ms, self.now_ms) for body, age_ms in self.bodies]
        latest = select_latest(heartbeat for heartbeat in heartbeats if heartbeat is not None)
        return ProxyHeartbeats(tuple(latest), self.errors)

    def to_record(self) -> dict[str, Any]:
        """Return JSON values. A proxy writes its messages as JSON, so their bodies are text."""
        return {
            "nowMs": self.now_ms,
            "heartbeats": [[body.decode("utf-8", "replace"), age_ms] for body, age_ms in self.bodies],
            "errors": {name: error_text(error) for name, error in self.errors.items()},
        }


def _parse_record(record: Mapping[str, Any]) -> _StoredHeartbeats:
    return _StoredHeartbeats(
        record["nowMs"],
        [(body_text.encode(), age_ms) for body_text, age_ms in record["heartbeats"]],
        {name: CallError(name, "unreadable", reason) for name, reason in record["errors"].items()},
    )


class HeartbeatReader:
    """Reads the heartbeats of consumers behind cluster-mode proxies."""

    def __init__(self, caller: Caller, topics: TopicAdmin, queue_reader: QueueReader) -> None:
        self._caller, self._topics, self._queue_reader = caller, topics, queue_reader

    def read_heartbeats(self, cluster_name: str | None = None) -> ProxyHeartbeats:
        """Read the heartbeats of the last 100 seconds from each broker with the topic.

        Sends GET_ROUTEINFO_BY_TOPIC (105) to a name server. If there is a route, sends
        GET_BROKER_RUNTIME_INFO (28), GET_MIN_OFFSET (31), GET_MAX_OFFSET (30), SEARCH_OFFSET_BY_TIMESTAMP
        (29) and PULL_MESSAGE (11) to brokers.
        """
        [route_result] = self._topics.get_routes([HEARTBEAT_TOPIC]).values()
        if route_result.result is None:
            is_missing = is_not_found(route_result.error) or route_result.error is None
            return ProxyHeartbeats(
                errors={}
                if is_missing or route_result.error is None
                else {HEARTBEAT_TOPIC: route_result.error}
            )
        queue_routes = [
            r for r in route_result.result.queues if r.any_addr and cluster_name in (None, r.cluster_name)
        ]
        if self._caller.access.answers is None:
            return self._read_queues(queue_routes).parse()
        try:
            record = self._caller.run_probe(
                "heartbeats of proxies",
                cluster_name or "all clusters",
                lambda: self._read_queues(queue_routes).to_record(),
            )
        except CallError as error:
            return ProxyHeartbeats(errors={HEARTBEAT_TOPIC: error})
        return _parse_record(record).parse()

    def _read_queues(self, queue_routes: Sequence[QueueRoute]) -> "_StoredHeartbeats":
        now_ms = self._caller.clock_ms
        clocks_by_addr = self._read_clocks(queue_routes, now_ms)
        oldest_clock_ms = min([*clocks_by_addr.values(), now_ms])
        span_results = self._queue_reader.get_spans(
            HEARTBEAT_TOPIC, queue_routes, begin_ms=oldest_clock_ms - READ_WINDOW_MS
        )
        errors = {result.broker_name: result.error for result in span_results if result.error is not None}
        spans_by_queue = {
            (span_result.broker_name, span_result.queue_id): _shorten_span(span_result.queue_span)
            for span_result in span_results
            if span_result.queue_span is not None
        }
        bodies: list[tuple[bytes, int]] = []
        for page in self._queue_reader.read_pages(HEARTBEAT_TOPIC, list(spans_by_queue.values())):
            if page.error is not None:
                errors[page.broker_name] = page.error
            broker_addr = spans_by_queue[page.broker_name, page.queue_id].broker_addr
            clock_ms = clocks_by_addr.get(broker_addr, now_ms)
            for message in page.messages:
                bodies.append((message.body, max(clock_ms - message.store_timestamp, 0)))
        return _StoredHeartbeats(now_ms, bodies, errors)

    def _read_clocks(self, queue_routes: Sequence[QueueRoute], now_ms: int) -> dict[str, int]:
        """Return the time of each broker in ms, so that clocks that differ do not matter."""
        addrs = [addr for queue_route in queue_routes for addr in queue_route.broker_addrs.values()]
        results = self._caller.read_each(addrs, parse_text_table, RequestCode.GET_BROKER_RUNTIME_INFO)
        return {addr: RuntimeInfo(table or {}).clock_ms or now_ms for addr, table, _ in results}


def _shorten_span(queue_span: QueueSpan) -> QueueSpan:
    begin_offset = max(queue_span.begin_offset, queue_span.end_offset - MAX_HEARTBEATS)
    return queue_span._replace(begin_offset=begin_offset)
