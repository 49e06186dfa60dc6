"""Reads one cluster again and again: name servers, brokers, topics, divergence and drains.

Each kind of pass has its own threads. A pass ends at its deadline, and a slow server delays only itself.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.name_servers.name_server_tables import NameServerListing
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.console.phrases import abbreviate_names, all_do
from nsadmin.operations.collector.request_pace import PollStopped, RequestPace
from nsadmin.operations.exporter.broker_reader import BrokerReader, ReadChoice
from nsadmin.operations.exporter.cluster_figures import ClusterFigures
from nsadmin.operations.exporter.compat_reader import CompatReader
from nsadmin.operations.exporter.figures import Reading, ServerIdentity
from nsadmin.operations.exporter.name_server_figures import (
    build_name_server_tables,
    choose_reported_brokers,
    list_brokers,
)
from nsadmin.operations.exporter.reading_store import ReadingStore
from nsadmin.operations.exporter.server_lanes import ServerLanes, ServerRead

_EXPIRY_PASSES = 3
"""After this many missed passes, figures are no longer served."""
_MIN_EXPIRY_SECONDS = 60.0
_DEADLINE_SHARE = 0.9
_STATE_SOURCES = ("up", "runtime", "replication", "groups", "clients")
_TOPIC_SOURCES = ("registration", "topics")
_COMPAT_INTERVALS = 4
"""The number of further intervals that a broker may take for the figures of --compat."""
_STATE_THREADS, _TOPIC_THREADS = 8, 4
_MAX_NAMED = 4


class ReadPlan(NamedTuple):
    """How often a cluster is read, and the limit of requests per second to all its servers.

    `topic_interval_seconds` is the time between two passes over topics; they need a request per topic.
    """

    interval_seconds: float = 30.0
    topic_interval_seconds: float = 60.0
    requests_per_second: int = 250
    choice: ReadChoice = ReadChoice()
    is_compat: bool = False


class ClusterSource(NamedTuple):
    """A cluster to read: the name of its context, "" for none, and a function that opens a client."""

    context_name: str
    open_client: Callable[[], AbstractContextManager[AdminClient]]


class ClusterReader:
    """The threads that read one cluster. `report` gets a line when servers fall silent or answer again."""

    def __init__(self, source: ClusterSource, read_plan: ReadPlan, report: Callable[[str], object]) -> None:
        self.context_name = source.context_name
        self.store = ReadingStore()
        self._source = source
        self._plan = read_plan
        self._report = report
        self._stop_event = threading.Event()
        self._request_pace = RequestPace(
            read_plan.requests_per_second, pause=self._stop_event.wait, is_stopped=self._stop_event.is_set
        )
        self._listings: dict[str, NameServerListing] = {}
        self._namesrv_addrs: tuple[str, ...] = ()
        self._brokers: list[ServerIdentity] = []
        self._reporters: set[str] = set()
        self._brokers_known = threading.Event()
        self._silent_names: frozenset[str] = frozenset()
        self._failure_text = ""
        self._threads: list[threading.Thread] = []
        self._lanes: list[ServerLanes] = []

    @property
    def name_servers(self) -> tuple[str, ...]:
        """The addresses of the name servers; () before the first pass."""
        return self._namesrv_addrs

    @property
    def brokers(self) -> Sequence[ServerIdentity]:
        """The brokers that name servers listed last."""
        return self._brokers

    @property
    def has_read(self) -> bool:
        """Whether the first pass over the brokers is done."""
        return "brokers" in self.store.list_pass_results()

    def start(self) -> None:
        thread_bodies = [self._run_state_passes, self._run_topic_passes, self._run_cluster_reads]
        if self._plan.is_compat:
            thread_bodies.append(self._run_compat_passes)
        self._threads = [
            threading.Thread(target=self._run_with_restarts, args=(body,), daemon=True)
            for body in thread_bodies
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, patience_seconds: float = 2.0) -> None:
        """Stop all threads. Wait this many seconds for requests that are running."""
        self._stop_event.set()
        self._brokers_known.set()
        for lanes in self._lanes:
            lanes.close()
        deadline = monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(deadline - monotonic(), 0))

    def make_broker_reader(self, admin: AdminClient, store: ReadingStore) -> BrokerReader:
        """Make a reader with the choice and the pace of this cluster."""
        return BrokerReader(admin, store, self._request_pace, self._plan.choice)

    def open_client(self) -> AbstractContextManager[AdminClient]:
        return self._source.open_client()

    def _run_with_restarts(self, thread_body: Callable[[], None]) -> None:
        while not self._stop_event.is_set():
            try:
                thread_body()
            except (PollStopped, ClientClosed):
                return
            except Exception as error:
                self._report_failure(error)
                self._stop_event.wait(self._plan.interval_seconds)

    def _report_failure(self, error: Exception) -> None:
        """Report an error once, also if it occurs in every pass. `stop` itself breaks off passes."""
        if self._stop_event.is_set():
            return
        failure_text = error_text(error) if isinstance(error, RocketMQError) else repr(error)
        if failure_text != self._failure_text:
            self._failure_text = failure_text
            self._report(f"{self._prefix}cannot read the cluster: {failure_text}")

    @property
    def _prefix(self) -> str:
        return f"{self.context_name}: " if self.context_name else ""

    def _open_lanes(self, name: str, thread_count: int) -> ServerLanes:
        lanes = ServerLanes(name, thread_count)
        self._lanes.append(lanes)
        return lanes

    def _repeat_passes(
        self,
        pass_name: str,
        sources: Sequence[str],
        interval_seconds: float,
        run_pass: Callable[[float], int],
        max_intervals: int = 1,
        after_pass: Callable[[], object] = lambda: None,
    ) -> None:
        """Run a pass per interval. `run_pass` returns how many servers were not finished by its deadline.

        The deadline is earlier, so that the reads end before the next pass.
        """
        max_age = max(_EXPIRY_PASSES * max_intervals * interval_seconds, _MIN_EXPIRY_SECONDS)
        while not self._stop_event.is_set():
            began_at = monotonic()
            unfinished_count = run_pass(began_at + _DEADLINE_SHARE * interval_seconds)
            self.store.expire_readings(dict.fromkeys(sources, max_age), monotonic())
            self.store.record_pass(pass_name, monotonic() - began_at, unfinished_count)
            after_pass()
            self._stop_event.wait(max(began_at + interval_seconds - monotonic(), 0.05))

    def _run_state_passes(self) -> None:
        namesrv_lanes = self._open_lanes("namesrvs", 4)
        broker_lanes = self._open_lanes("brokers", _STATE_THREADS)
        with self._source.open_client() as admin:
            broker_reader = self.make_broker_reader(admin, self.store)

            def run_pass(deadline: float) -> int:
                self._read_name_servers(admin, namesrv_lanes, deadline)
                return broker_lanes.run_pass(
                    self._brokers,
                    self._guard_read(
                        lambda server: broker_reader.read_state(
                            server, server.address in self._reporters, deadline
                        )
                    ),
                    deadline,
                )

            self._repeat_passes(
                "brokers",
                _STATE_SOURCES,
                self._plan.interval_seconds,
                run_pass,
                after_pass=self._report_silent,
            )

    def _read_name_servers(self, admin: AdminClient, lanes: ServerLanes, deadline: float) -> None:
        self._namesrv_addrs = tuple(admin.addresses.addrs)
        servers = [ServerIdentity(addr) for addr in self._namesrv_addrs]
        lanes.run_pass(servers, self._guard_read(partial(self._read_name_server, admin)), deadline)
        self._brokers = list_brokers(
            self._listings[addr] for addr in self._namesrv_addrs if addr in self._listings
        )
        self._reporters = choose_reported_brokers(self._brokers)
        self.store.retain_brokers(self._brokers, self._reporters)
        self._brokers_known.set()

    def _read_name_server(self, admin: AdminClient, server: ServerIdentity) -> bool:
        with self._request_pace.reserve_requests(3):
            began_at = monotonic()
            [result] = admin.name_server_tables.get_listing_each([server.address], ())
        answer_seconds = monotonic() - began_at
        if result.result is None:
            self.store.count_error("tables", server)
        else:
            # A name server without any broker may have just started: keep what is known.
            self._listings[server.address] = result.result
        tables = build_name_server_tables(server.address, result.result, answer_seconds)
        self.store.put_reading(Reading("tables", server, monotonic(), tables))
        return result.error is None

    def _run_topic_passes(self) -> None:
        self._brokers_known.wait()
        lanes = self._open_lanes("topics", _TOPIC_THREADS)
        with self._source.open_client() as admin:
            broker_reader = self.make_broker_reader(admin, self.store)

            def run_pass(deadline: float) -> int:
                reporters = [server for server in self._brokers if server.address in self._reporters]
                return lanes.run_pass(
                    reporters,
                    self._guard_read(lambda server: broker_reader.read_topics(server, deadline)),
                    deadline,
                )

            self._repeat_passes("topics", _TOPIC_SOURCES, self._plan.topic_interval_seconds, run_pass)

    def _run_compat_passes(self) -> None:
        """Read what only --compat needs. A broker may take several intervals, because it is asked a lot."""
        self._brokers_known.wait()
        lanes = self._open_lanes("compat", _TOPIC_THREADS)
        interval_seconds = self._plan.topic_interval_seconds
        with self._source.open_client() as admin:
            compat_reader = CompatReader(admin, self.store, self._request_pace, self._plan.choice)

            def run_pass(deadline: float) -> int:
                read_deadline = deadline + _COMPAT_INTERVALS * interval_seconds
                return lanes.run_pass(
                    self._brokers,
                    self._guard_read(lambda server: compat_reader.read_broker(server, read_deadline)),
                    deadline,
                )

            self._repeat_passes("compat", ("compat",), interval_seconds, run_pass, 1 + _COMPAT_INTERVALS)

    def _run_cluster_reads(self) -> None:
        self._brokers_known.wait()
        with self._source.open_client() as admin:
            cluster_figures = ClusterFigures(admin, self._plan.choice.name_filter)
            while not self._stop_event.is_set():
                began_at = monotonic()
                for reading in cluster_figures.read_all({server.cluster_name for server in self._brokers}):
                    self.store.put_reading(reading)
                # A comparison reads all routes of all name servers: rest ten times as long.
                rest_seconds = max(10 * (monotonic() - began_at), self._plan.interval_seconds)
                self._stop_event.wait(rest_seconds)

    def _guard_read(self, read_server: ServerRead) -> ServerRead:
        """Turn the errors of a read into an unfinished one, so that it does not end the pass."""

        def read_guarded(server: ServerIdentity) -> bool:
            try:
                return read_server(server)
            except (PollStopped, ClientClosed):
                return False
            except Exception as error:
                self._report_failure(error)
                return False

        return read_guarded

    def _report_silent(self) -> None:
        """Report which brokers do not answer, if that has changed since the last pass."""
        silent_names = frozenset(
            "/".join(reading.server[1:])
            for reading in self.store.list_readings()
            if reading.source == "up" and reading.tables[0].rows[0][1][0] == 0
        )
        if silent_names != self._silent_names:
            self._silent_names = silent_names
            silent_text = (
                f"{len(silent_names)} of {len(self._brokers)} brokers do not answer: "
                f"{abbreviate_names(sorted(silent_names), _MAX_NAMED)}"
                if silent_names
                else f"{all_do(len(self._brokers), 'broker', 'answer')} again"
            )
            self._report(self._prefix + silent_text)
