"""Polls all tables of one name server. A poll counts only if the name server answers every request."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.events import QueueData
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.name_servers.name_server_tables import (
    NO_TOPIC_QUEUES,
    NameServerListing,
    NameServerTables,
    TopicQueues,
    parse_topic_queues,
)
from nsadmin.client.redaction import is_secret_name
from nsadmin.operations.collector.request_pace import RequestPace

_MAX_SHARED_QUEUES = 100_000


class PollObservation(NamedTuple):
    """The result of a poll. `changed_queues` has only the routes that differ from the last accepted poll.

    `answer_hashes` has a hash of every route response, which the next poll compares with.
    """

    server_listing: NameServerListing
    changed_queues: Mapping[str, TopicQueues]
    answer_hashes: Mapping[str, int]


class NameServerPoller:
    """Polls one name server with at most `max_in_flight` concurrent requests."""

    def __init__(
        self,
        server_tables: NameServerTables,
        namesrv_addr: str,
        namespaces: Sequence[str],
        request_pace: RequestPace,
        max_in_flight: int,
    ) -> None:
        self._server_tables = server_tables
        self._namesrv_addr = namesrv_addr
        self._namespaces = tuple(namespaces)
        self._request_pace = request_pace
        self._batch_size = min(max_in_flight, request_pace.per_second)
        self._answer_hashes: Mapping[str, int] = {}
        self._shared_queues: dict[QueueData, QueueData] = {}

    def poll_tables(self) -> PollObservation:
        """Read all tables. Raises RocketMQError if a response is missing, and PollStopped."""
        server_listing = self._read_listing()
        changed_queues: dict[str, TopicQueues] = {}
        answer_hashes: dict[str, int] = {}
        topic_names = iter(server_listing.topics)
        while topic_batch := list(islice(topic_names, self._batch_size)):
            for topic, route_body in zip(topic_batch, self._read_route_bodies(topic_batch), strict=True):
                answer_hashes[topic] = hash(route_body)
                if self._answer_hashes.get(topic) != answer_hashes[topic]:
                    changed_queues[topic] = self._decode_queues(route_body)
        return PollObservation(server_listing, changed_queues, answer_hashes)

    def accept_poll(self, poll_observation: PollObservation) -> None:
        """Note that the observation is in the journal, so that the next poll omits unchanged routes."""
        self._answer_hashes = poll_observation.answer_hashes

    def _read_listing(self) -> NameServerListing:
        server_listing: NameServerListing | None = None
        kv_tables: dict[str, Mapping[str, str | None]] = {}
        for namespace_batch in self._split_namespaces():
            with self._request_pace.reserve_requests(3 + len(namespace_batch)):
                server_listing = self._server_tables.get_listing(self._namesrv_addr, namespace_batch)
            kv_tables.update(server_listing.kv)
        assert server_listing is not None
        public_settings = {k: v for k, v in server_listing.settings.items() if not is_secret_name(k)}
        return server_listing._replace(settings=public_settings, kv=kv_tables)

    def _split_namespaces(self) -> list[tuple[str, ...]]:
        batch_size = max(self._batch_size - 3, 1)
        return [
            self._namespaces[s : s + batch_size] for s in range(0, len(self._namespaces) or 1, batch_size)
        ]

    def _read_route_bodies(self, topic_batch: Sequence[str]) -> list[bytes]:
        with self._request_pace.reserve_requests(len(topic_batch)):
            route_results = self._server_tables.get_route_bodies(self._namesrv_addr, topic_batch)
        return [_require_body(route_result.result, route_result.error) for route_result in route_results]

    def _decode_queues(self, route_body: bytes) -> TopicQueues:
        if not route_body:
            return NO_TOPIC_QUEUES
        try:
            queues_by_broker, topic_mappings = parse_topic_queues(route_body)
        except ValueError as error:
            raise CallError(self._namesrv_addr, "unreadable", f"a route is malformed ({error})") from error
        if len(self._shared_queues) > _MAX_SHARED_QUEUES:
            self._shared_queues.clear()
        return TopicQueues(
            {name: self._shared_queues.setdefault(data, data) for name, data in queues_by_broker.items()},
            topic_mappings,
        )


def _require_body(route_body: bytes | None, error: RocketMQError | None) -> bytes:
    """Return the route's body; empty if the topic has no route or was deleted after it was listed."""
    if isinstance(error, TopicNotExist):
        return b""
    if error is not None:
        raise error
    return route_body or b""
