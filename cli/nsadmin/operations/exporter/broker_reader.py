"""Reads one broker: runtime, replication, groups and clients, or its topics."""

from collections.abc import Callable, Mapping, Sequence, Set
from time import monotonic, time
from typing import NamedTuple, TypeVar

from namesrv_core.errors import NotSupported
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.consumers.committed_offsets import CommittedOffsets
from nsadmin.client.consumers.connected_clients import ProducerClient
from nsadmin.client.consumers.consume_stats import ConsumeStats
from nsadmin.client.results import ServerResult, is_silent, is_unreachable
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.exporter.broker_figures import (
    UP_METRICS,
    build_registration_tables,
    build_replication_table,
    build_runtime_tables,
)
from nsadmin.operations.exporter.derived_figures import ClientFacts, ClientKey, group_clients, make_client_key
from nsadmin.operations.exporter.figures import (
    FigureTable,
    MetricTable,
    NameRows,
    Reading,
    ServerIdentity,
    join_rows,
)
from nsadmin.operations.exporter.group_figures import GROUP_TABLES, GroupRows, build_group_rows
from nsadmin.operations.exporter.name_filter import NameFilter
from nsadmin.operations.exporter.reading_store import ReadingStore
from nsadmin.operations.exporter.rolling_reads import RollingResult, read_rolling
from nsadmin.operations.exporter.topic_figures import TOPIC_TABLES, TopicRows, build_topic_rows
from nsadmin.operations.registration_size import measure_registration

T = TypeVar("T")

_BATCH_SIZE = 16
"""Requests that one broker gets at the same time."""


class ReadChoice(NamedTuple):
    """What is read: the names, whether figures of queues are kept, and the names per broker at most."""

    name_filter: NameFilter = NameFilter()
    shows_queues: bool = False
    max_names: int = 100_000


class BrokerReader:
    """Reads brokers of one cluster into a store. Several threads call its methods."""

    def __init__(
        self,
        admin: AdminClient,
        reading_store: ReadingStore,
        request_pace: RequestPace,
        read_choice: ReadChoice,
    ) -> None:
        self.admin = admin
        self._store = reading_store
        self._request_pace = request_pace
        self._choice = read_choice

    def read_state(self, server: ServerIdentity, reports_groups: bool, deadline: float) -> bool:
        """Read runtime figures, replication, groups and clients. Return whether all was read in time."""
        if not self._read_runtime(server):
            return False
        if server.broker_id == str(MASTER_BROKER_ID):
            with self._request_pace.reserve_requests(1):
                [ha_result] = self.admin.replication.get_status([server.address])
            if ha_result.result is not None:
                self._put(server, "replication", (build_replication_table(server, ha_result.result),))
            elif not isinstance(ha_result.error, NotSupported):
                self._store.count_error("replication", server)
        return not reports_groups or self._read_groups(server, deadline)

    def _read_runtime(self, server: ServerIdentity) -> bool:
        with self._request_pace.reserve_requests(1):
            began_at = monotonic()
            [runtime_result] = self.admin.brokers.get_runtime_info([server.address])
        # A broker that refuses the request is up.
        is_up = not is_silent(runtime_result.error)
        up_figures = (float(is_up), monotonic() - began_at)
        self._put(server, "up", (UP_METRICS.with_rows([(server.broker_labels, up_figures)]),))
        info = self._require(runtime_result, "runtime", server)
        if info is not None:
            max_offset = info.get_integer("commitLogMaxOffset")
            self._put(server, "runtime", build_runtime_tables(server, info), max_offset)
        return is_up

    def _read_groups(self, server: ServerIdentity, deadline: float) -> bool:
        with self._request_pace.reserve_requests(2):
            [table_result] = self.admin.groups.get_tables([target_at_addr(server.address)])
            [committed_result] = self.admin.consumers.get_committed_each([server.address])
        group_table = self._require(table_result, "groups", server)
        offsets = self._require(committed_result, "groups", server)
        if group_table is None or offsets is None:
            return False
        groups = sorted(filter(self._choice.name_filter.accepts_group, group_table))[: self._choice.max_names]
        # The clients first, because a group that broadcasts has no lag; half of the time is for the lag.
        now = monotonic()
        clients_result, broadcasting = self._read_clients(server, groups, now + (deadline - now) / 2)
        if clients_result.is_silent:
            return False
        lag_result = self._read_rows(
            server,
            "groups",
            groups,
            lambda batch: self._read_lags(server, batch, offsets, broadcasting),
            GROUP_TABLES,
            deadline,
        )
        return clients_result.is_complete and lag_result.is_complete

    def _read_lags(
        self, server: ServerIdentity, groups: Sequence[str], offsets: CommittedOffsets, broadcasting: Set[str]
    ) -> dict[str, GroupRows] | None:
        with self._request_pace.reserve_requests(len(groups)):
            stats_results = self.admin.consumers.get_stats_each([(server.address, group) for group in groups])
        popping = self._find_popping_groups(server, stats_results)
        rows_by_group: dict[str, GroupRows] = {}
        for group, result in zip(groups, stats_results, strict=True):
            stats = self._require(result, "groups", server)
            if stats is not None:
                rows_by_group[group] = build_group_rows(
                    server,
                    group,
                    stats,
                    offsets,
                    int(time() * 1000),
                    self._choice.shows_queues,
                    group in broadcasting,
                    group in popping,
                )
            elif is_silent(result.error):
                return None
        return rows_by_group

    def _find_popping_groups(
        self, server: ServerIdentity, stats_results: Sequence[ServerResult[ConsumeStats]]
    ) -> Set[str]:
        """The groups that pop, which only an offset beyond the end of its queue makes interesting."""
        lags = (lag for _, stats, _ in stats_results if stats is not None for lag in stats.queues)
        if all((lag.consumer_offset or 0) <= lag.broker_offset for lag in lags):
            return frozenset()
        with self._request_pace.reserve_requests(1):
            [modes] = self.admin.consume_modes.list_modes([server.address])
        return {mode.group for mode in modes.result or () if mode.mode.mode == "POP"}

    def _read_clients(
        self, server: ServerIdentity, groups: Sequence[str], deadline: float
    ) -> tuple[RollingResult, Set[str]]:
        with self._request_pace.reserve_requests(1):
            [producer_result] = self.admin.producers.list_producers([server.address])
        producer_clients: tuple[ProducerClient, ...] = ()
        if producer_result.result is not None:
            producer_clients = producer_result.result
        elif not isinstance(producer_result.error, NotSupported):
            self._store.count_error("clients", server)
        earlier = self._store.find_reading("clients", server.address)
        earlier_facts = ClientFacts({}, {}) if earlier is None else earlier.facts
        broadcasting = set(earlier_facts.broadcasting_groups)
        consumers, result = read_rolling(
            groups,
            earlier_facts.consumers,
            lambda batch: self._read_connections(server, batch, broadcasting),
            lambda: monotonic() < deadline,
            _BATCH_SIZE,
        )
        producers = group_clients(
            (client.producer_group, client)
            for client in producer_clients
            if self._choice.name_filter.accepts_group(client.producer_group)
        )
        facts = ClientFacts(consumers, producers, broadcasting)
        self._put_rolling(server, "clients", (), facts, result)
        return result, broadcasting

    def _read_connections(
        self, server: ServerIdentity, groups: Sequence[str], broadcasting: set[str]
    ) -> dict[str, frozenset[ClientKey]] | None:
        with self._request_pace.reserve_requests(len(groups)):
            connections_by_group = self.admin.consumers.get_group_connections(groups, [server.address])
        clients_by_group: dict[str, frozenset[ClientKey]] = {}
        for group, connections in connections_by_group.items():
            error = connections.errors[server.address]
            if is_silent(error):
                self._store.count_error("clients", server)
                return None
            if error is None:
                clients_by_group[group] = frozenset(map(make_client_key, connections.clients))
                (broadcasting.add if connections.is_broadcasting else broadcasting.discard)(group)
            else:
                self._store.count_error("clients", server)
        return clients_by_group

    def read_topics(self, server: ServerIdentity, deadline: float) -> bool:
        """Read the registration and the offsets of all topics. Return whether all was read in time."""
        with self._request_pace.reserve_requests(2):
            [registrant_result] = self.admin.registrations.get_each([server.address])
        registrant = self._require(registrant_result, "registration", server)
        if registrant is None:
            return False
        name_filter = self._choice.name_filter
        registration_tables = build_registration_tables(
            server, registrant, measure_registration(registrant), name_filter
        )
        self._put(server, "registration", registration_tables)
        topics = sorted(
            topic for topic in registrant.topics if name_filter.accepts_topic(topic, server.broker_labels)
        )
        result = self._read_rows(
            server,
            "topics",
            topics[: self._choice.max_names],
            lambda batch: self._read_topic_batch(server, batch),
            TOPIC_TABLES,
            deadline,
        )
        return result.is_complete

    def _read_topic_batch(self, server: ServerIdentity, topics: Sequence[str]) -> dict[str, TopicRows] | None:
        with self._request_pace.reserve_requests(len(topics)):
            stats_results = self.admin.topics.get_stats_at([(server.address, topic) for topic in topics])
        rows_by_topic: dict[str, TopicRows] = {}
        for topic, result in zip(topics, stats_results, strict=True):
            if result.result is not None:
                rows_by_topic[topic] = build_topic_rows(
                    server, topic, result.result, self._choice.shows_queues
                )
            elif is_unreachable(result.error):
                self._store.count_error("topics", server)
                if is_silent(result.error):
                    return None
        return rows_by_topic

    def _read_rows(
        self,
        server: ServerIdentity,
        source: str,
        names: Sequence[str],
        read_batch: Callable[[Sequence[str]], Mapping[str, NameRows] | None],
        metric_tables: Sequence[MetricTable],
        deadline: float,
    ) -> RollingResult:
        """Read the rows of many names; the facts of the reading are the rows by name."""
        earlier = self._store.find_reading(source, server.address)
        rows_by_name, result = read_rolling(
            names,
            {} if earlier is None else earlier.facts,
            read_batch,
            lambda: monotonic() < deadline,
            _BATCH_SIZE,
        )
        self._put_rolling(server, source, join_rows(metric_tables, rows_by_name), rows_by_name, result)
        return result

    def _put_rolling(
        self,
        server: ServerIdentity,
        source: str,
        tables: tuple[FigureTable, ...],
        facts: object,
        result: RollingResult,
    ) -> None:
        earlier = self._store.find_reading(source, server.address)
        # Some of the figures are still those of the earlier reading.
        is_mixed = earlier is not None and not result.is_complete
        read_at = earlier.read_at if is_mixed and earlier else monotonic()
        self._store.put_reading(Reading(source, server, read_at, tables, facts))

    def _put(
        self, server: ServerIdentity, source: str, tables: tuple[FigureTable, ...], facts: object = None
    ) -> None:
        self._store.put_reading(Reading(source, server, monotonic(), tables, facts))

    def _require(self, result: ServerResult[T], source: str, server: ServerIdentity) -> T | None:
        """Return the result; count the error of a failure, and return None."""
        if result.result is None:
            self._store.count_error(source, server)
        return result.result
