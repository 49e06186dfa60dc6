"""A cluster in the lab that the exporter reads once, and its series as Prometheus reads them."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from namesrv_core.transport.metrics_renderer import render_metrics
from nsadmin import AdminClient
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.exporter.broker_reader import BrokerReader, ReadChoice
from nsadmin.operations.exporter.cluster_reader import ClusterReader, ClusterSource, ReadPlan
from nsadmin.operations.exporter.exposition import ExporterMetrics, ShownCluster, build_registry
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.reading_store import ReadingStore
from tests.support.metric_samples import parse_families

Labels = frozenset[tuple[str, str]]
Series = dict[tuple[str, Labels], float]

BROKER = ServerIdentity("h:1", "C", "a", "0")


def read_series(text: str) -> Series:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse_families(text).values()
        for sample in family.samples
    }


def series_of(
    store: ReadingStore, context: str = "", *, max_series: int = 100_000, is_compat: bool = False
) -> Series:
    """The series of a page that shows only this store."""
    metrics = ExporterMetrics([ShownCluster(context, store)], max_series=max_series, is_compat=is_compat)
    return read_series(render_metrics(build_registry(metrics, has_process=False), "")[0].decode())


def select_series(series: Series, name: str, **labels: str) -> dict[Labels, float]:
    return {
        sample_labels: value
        for (found_name, sample_labels), value in series.items()
        if found_name == name and labels.items() <= dict(sample_labels).items()
    }


class StoredReads(NamedTuple):
    """A reader with its store."""

    reader: BrokerReader
    store: ReadingStore

    def stored_series(self) -> Series:
        return series_of(self.store)


@contextmanager
def open_broker_reader(choice: ReadChoice | None = None, timeout: float = 3) -> Iterator[StoredReads]:
    """Reads of brokers by address."""
    store = ReadingStore()
    with AdminClient("127.0.0.1:1", timeout=timeout, read_only=True) as admin:
        yield StoredReads(BrokerReader(admin, store, RequestPace(100_000), choice or ReadChoice()), store)


def deadline_after(seconds: float = 30) -> float:
    return monotonic() + seconds


@contextmanager
def cluster_reader(addr: str, plan: ReadPlan, said: list[str], timeout: float = 3) -> Iterator[ClusterReader]:
    """A started reader of the cluster of these name servers."""
    source = ClusterSource("", lambda: AdminClient(addr, timeout=timeout, read_only=True))
    reader = ClusterReader(source, plan, said.append)
    reader.start()
    try:
        yield reader
    finally:
        reader.stop(10)
