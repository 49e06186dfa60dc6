"""The latest readings of one cluster. Threads write them, and pages read them."""

import threading
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from nsadmin.operations.exporter.figures import Reading, ServerIdentity


class PassResult(NamedTuple):
    """The last pass over all servers: its duration, and the servers that it did not finish in time."""

    duration_seconds: float
    unfinished_count: int
    pass_count: int


class ReadingStore:
    """Keeps one reading per source and server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readings: dict[tuple[str, str], Reading] = {}
        self._error_counts: Counter[tuple[str, ServerIdentity]] = Counter()
        self._pass_results: dict[str, PassResult] = {}

    def put_reading(self, reading: Reading) -> None:
        """Replace the reading of the same source and server."""
        with self._lock:
            self._readings[reading.source, reading.server.address] = reading

    def find_reading(self, source: str, server_addr: str) -> Reading | None:
        with self._lock:
            return self._readings.get((source, server_addr))

    def count_error(self, source: str, server: ServerIdentity) -> None:
        with self._lock:
            self._error_counts[source, server] += 1

    def retain_brokers(self, brokers: Collection[ServerIdentity], reporters: Collection[str]) -> None:
        """Forget unlisted brokers, and readings of REPORTER_SOURCES from brokers that are not reporters."""
        servers_by_addr = {server.address: server for server in brokers}
        with self._lock:
            for (source, server_addr), reading in list(self._readings.items()):
                if not reading.server.cluster_name:
                    continue
                is_listed = servers_by_addr.get(server_addr) == reading.server
                if not is_listed or (source in REPORTER_SOURCES and server_addr not in reporters):
                    del self._readings[source, server_addr]
            for source, server in list(self._error_counts):
                if server.cluster_name and servers_by_addr.get(server.address) != server:
                    del self._error_counts[source, server]

    def expire_readings(self, source_limits: dict[str, float], now_seconds: float) -> None:
        """Forget readings that are older than the limit of their source, in seconds."""
        with self._lock:
            for reading_key, reading in list(self._readings.items()):
                max_age = source_limits.get(reading.source)
                if max_age is not None and now_seconds - reading.read_at > max_age:
                    del self._readings[reading_key]

    def list_readings(self) -> list[Reading]:
        """Return all readings in the order of their servers."""
        with self._lock:
            readings = list(self._readings.values())
        return sorted(
            readings, key=lambda reading: (reading.server[1:], reading.server.address, reading.source)
        )

    def list_error_counts(self) -> list[tuple[str, ServerIdentity, int]]:
        with self._lock:
            return [(*key, count) for key, count in sorted(self._error_counts.items())]

    def record_pass(self, pass_name: str, duration_seconds: float, unfinished_count: int) -> None:
        with self._lock:
            pass_count = self._pass_results[pass_name].pass_count if pass_name in self._pass_results else 0
            self._pass_results[pass_name] = PassResult(duration_seconds, unfinished_count, pass_count + 1)

    def list_pass_results(self) -> dict[str, PassResult]:
        with self._lock:
            return dict(self._pass_results)


REPORTER_SOURCES = frozenset({"groups", "clients", "topics", "registration", "compat"})
"""Sources that only one broker of a broker name is asked for."""
