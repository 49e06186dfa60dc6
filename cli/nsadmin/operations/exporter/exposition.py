"""Turns the readings of clusters into prometheus_client's metric families, up to a limit of series."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from time import monotonic
from typing import NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from namesrv_core import __version__
from nsadmin.operations.exporter.compat_figures import derive_compat_tables
from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS
from nsadmin.operations.exporter.derived_figures import derive_tables
from nsadmin.operations.exporter.figures import FigureTable, LabelValues, MetricDefinition, Reading
from nsadmin.operations.exporter.metric_registry import METRICS, METRICS_BY_NAME
from nsadmin.operations.exporter.reading_store import ReadingStore

CONTEXT_LABEL = "context"
_OPENMETRICS_UNITS = ("seconds", "bytes", "ratio")


class ShownCluster(NamedTuple):
    """A cluster on a page: the name of its context, "" for none, and its readings."""

    context_name: str
    store: ReadingStore


class _Column(NamedTuple):
    """The figures of one metric in one table."""

    context_name: str
    table: FigureTable
    column_index: int


class ExporterMetrics(Collector):
    """All metrics of a page. They are built only in `collect`."""

    def __init__(
        self, shown_clusters: Sequence[ShownCluster], *, max_series: int = 100_000, is_compat: bool = False
    ) -> None:
        self._shown_clusters = shown_clusters
        self._max_series = max_series
        self._metrics = (*METRICS, *(COMPAT_METRICS if is_compat else ()))
        self._is_compat = is_compat
        self._has_contexts = any(cluster.context_name for cluster in shown_clusters)

    def collect(self) -> Iterator[Metric]:
        readings_by_context = [
            (cluster.context_name, cluster.store.list_readings()) for cluster in self._shown_clusters
        ]
        columns_by_metric = self._index_columns(readings_by_context)
        series_count = 0
        left_out: Counter[str] = Counter()
        invalid: Counter[str] = Counter()
        for metric in self._metrics:
            columns = columns_by_metric.get(metric.name)
            if columns is None:
                continue
            family = self._make_family(metric)
            for labels, figure in _iter_figures(columns):
                if not _is_number(figure):
                    invalid[metric.name] += 1
                elif series_count < self._max_series:
                    self._add_sample(family, metric, labels, figure)
                    series_count += 1
                else:
                    left_out[metric.name] += 1
            if family.samples:
                yield family
        yield from self._collect_own(readings_by_context, series_count)
        for own_name, counts in (("nsadmin_series_left_out", left_out), ("nsadmin_series_invalid", invalid)):
            yield self._build_own_plain(own_name, (((name,), count) for name, count in counts.items()))

    def _index_columns(
        self, readings_by_context: Iterable[tuple[str, Sequence[Reading]]]
    ) -> dict[str, list[_Column]]:
        columns_by_metric: dict[str, list[_Column]] = {}
        for context_name, readings in readings_by_context:
            tables = [table for reading in readings for table in reading.tables]
            tables += derive_tables(readings)
            if self._is_compat:
                tables += derive_compat_tables(readings)
            for table in tables:
                for column_index, metric_name in enumerate(table.metric_names):
                    columns_by_metric.setdefault(metric_name, []).append(
                        _Column(context_name, table, column_index)
                    )
        return columns_by_metric

    def _make_family(self, metric: MetricDefinition) -> Metric:
        if metric.kind == "counter":
            family_name = metric.name.removesuffix("_total")
            return CounterMetricFamily(family_name, metric.help, unit=_find_unit(family_name))
        return GaugeMetricFamily(metric.name, metric.help, unit=_find_unit(metric.name))

    def _add_sample(
        self, family: Metric, metric: MetricDefinition, labels: LabelValues, figure: float
    ) -> None:
        """Add a sample. `labels` begin with the name of the context."""
        named_labels = dict(zip(metric.labels, labels[1:], strict=True))
        if self._has_contexts:
            named_labels[CONTEXT_LABEL] = labels[0]
        family.samples.append(Sample(metric.name, named_labels, figure, None, None))

    def _collect_own(
        self, readings_by_context: Sequence[tuple[str, Sequence[Reading]]], series_count: int
    ) -> Iterator[Metric]:
        now_seconds = monotonic()
        yield self._build_own(
            "nsadmin_scrape_age_seconds",
            (
                (
                    (context_name, reading.source, reading.server.address, *reading.server.broker_labels),
                    max(now_seconds - reading.read_at, 0.0),
                )
                for context_name, readings in readings_by_context
                for reading in readings
            ),
        )
        yield self._build_own(
            "nsadmin_read_errors_total",
            (
                ((cluster.context_name, source, server.address, *server.broker_labels), count)
                for cluster in self._shown_clusters
                for source, server, count in cluster.store.list_error_counts()
            ),
        )
        pass_results = [
            ((cluster.context_name, name), result)
            for cluster in self._shown_clusters
            for name, result in cluster.store.list_pass_results().items()
        ]
        for metric_name, attribute_index in (
            ("nsadmin_pass_duration_seconds", 0),
            ("nsadmin_pass_unfinished_servers", 1),
            ("nsadmin_passes_total", 2),
        ):
            yield self._build_own(
                metric_name, ((labels, result[attribute_index]) for labels, result in pass_results)
            )
        yield self._build_single("nsadmin_series", series_count)
        yield self._build_single("nsadmin_series_limit", self._max_series)
        yield self._build_own_plain("nsadmin_exporter_info", [((__version__,), 1)])

    def _build_own(self, metric_name: str, rows: Iterable[tuple[LabelValues, float]]) -> Metric:
        metric = METRICS_BY_NAME[metric_name]
        family = self._make_family(metric)
        for labels, figure in rows:
            self._add_sample(family, metric, labels, float(figure))
        return family

    def _build_own_plain(self, metric_name: str, rows: Iterable[tuple[LabelValues, float]]) -> Metric:
        """Build a metric of the exporter as a whole, which has no context."""
        metric = METRICS_BY_NAME[metric_name]
        family = self._make_family(metric)
        for labels, figure in rows:
            named_labels = dict(zip(metric.labels, labels, strict=True))
            family.samples.append(Sample(metric.name, named_labels, float(figure), None, None))
        return family

    def _build_single(self, metric_name: str, figure: float) -> Metric:
        return self._build_own_plain(metric_name, [((), figure)])


def _iter_figures(columns: Iterable[_Column]) -> Iterator[tuple[LabelValues, float]]:
    """Yield the known figures of a metric with their labels, which begin with the context."""
    for context_name, table, column_index in columns:
        for labels, figures in table.rows:
            figure = figures[column_index]
            if figure is not None:
                yield (context_name, *labels), figure


def _is_number(figure: object) -> bool:
    """Servers send NaN, Infinity, and integers of hundreds of digits."""
    try:
        return isfinite(figure)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return False


def _find_unit(family_name: str) -> str:
    """The unit of OpenMetrics, which must be the last word of the name."""
    last_word = family_name.rpartition("_")[2]
    return last_word if last_word in _OPENMETRICS_UNITS else ""


def build_registry(collector: Collector, *, has_process: bool = True) -> CollectorRegistry:
    """Build the registry of a page; with `has_process`, it also has memory and CPU time of this process."""
    metrics_registry = CollectorRegistry(auto_describe=False)
    metrics_registry.register(collector)
    if has_process:
        ProcessCollector(registry=metrics_registry)
    return metrics_registry
