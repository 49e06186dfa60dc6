"""Builders of prometheus_client's metric families from plain numbers and histograms."""

import zlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from namesrv_core.printable_text import escape_unsafe
from namesrv_core.server.counters import Histogram

METRIC_PREFIX = "nsadmin_namesrv_"

LabelValues = TypeVar("LabelValues", bound=tuple[str, ...])

_MAX_LABEL_LENGTH = 128


def bounded_label(peer: str) -> str:
    """Make a label of bounded length, without control characters, from a name that a peer chose.

    A changed name gets a checksum suffix, so that two names never become the same series.
    """
    label = escape_unsafe(peer[:_MAX_LABEL_LENGTH].encode("utf-8", "replace").decode())
    label = label[:_MAX_LABEL_LENGTH]
    return label if label == peer else f"{label}#{zlib.crc32(peer.encode('utf-8', 'surrogatepass')):08x}"


def build_gauge(name: str, help_text: str, value: float) -> Metric:
    """Build a gauge with one series."""
    return GaugeMetricFamily(METRIC_PREFIX + name, help_text, float(value))


def build_counter(name: str, help_text: str, value: float) -> Metric:
    """Build a counter with one series. Pass its name without `_total`."""
    return CounterMetricFamily(METRIC_PREFIX + name, help_text, float(value))


def build_labelled_gauge(
    name: str, help_text: str, labels: tuple[str, ...], values_by_labels: Mapping[LabelValues, float]
) -> Metric:
    """Build a gauge with a series per key."""
    family = GaugeMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, value in values_by_labels.items():
        family.add_metric(values, value)
    return family


def build_labelled_counter(
    name: str, help_text: str, labels: tuple[str, ...], values_by_labels: Mapping[LabelValues, float]
) -> Metric:
    """Build a counter with a series per key."""
    family = CounterMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, value in values_by_labels.items():
        family.add_metric(values, value)
    return family


def build_labelled_histogram(
    name: str, help_text: str, histograms: Mapping[LabelValues, Histogram], labels: tuple[str, ...]
) -> Metric:
    """Build a histogram per key. The key of a histogram without labels is ()."""
    family = HistogramMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, histogram in histograms.items():
        family.add_metric(values, list(_cumulative_buckets(histogram)), histogram.value_sum)
    return family


def _cumulative_buckets(histogram: Histogram) -> Iterator[tuple[str, float]]:
    total = 0
    for upper_bound, count in zip(
        (*histogram.upper_bounds, float("inf")), histogram.bucket_counts, strict=True
    ):
        total += count
        yield "+Inf" if upper_bound == float("inf") else repr(float(upper_bound)), total
