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


def bounded_label(peer_name: str) -> str:
    """Make a label of bounded length, without control characters, from a name that a peer chose.

    A changed name gets a checksum suffix, so that two names never become the same series.
    """
    label_text = escape_unsafe(peer_name[:_MAX_LABEL_LENGTH].encode("utf-8", "replace").decode())
    label_text = label_text[:_MAX_LABEL_LENGTH]
    return (
        label_text
        if label_text == peer_name
        else f"{label_text}#{zlib.crc32(peer_name.encode('utf-8', 'surrogatepass')):08x}"
    )


def build_gauge(metric_name: str, help_text: str, gauge_value: float) -> Metric:
    """Build a gauge with one series."""
    return GaugeMetricFamily(METRIC_PREFIX + metric_name, help_text, float(gauge_value))


def build_counter(metric_name: str, help_text: str, counter_value: float) -> Metric:
    """Build a counter with one series. Pass its name without `_total`."""
    return CounterMetricFamily(METRIC_PREFIX + metric_name, help_text, float(counter_value))


def build_labelled_gauge(
    metric_name: str,
    help_text: str,
    label_names: tuple[str, ...],
    values_by_labels: Mapping[LabelValues, float],
) -> Metric:
    """Build a gauge with a series per key."""
    metric_family = GaugeMetricFamily(METRIC_PREFIX + metric_name, help_text, labels=label_names)
    for label_values, gauge_value in values_by_labels.items():
        metric_family.add_metric(label_values, gauge_value)
    return metric_family


def build_labelled_counter(
    metric_name: str,
    help_text: str,
    label_names: tuple[str, ...],
    values_by_labels: Mapping[LabelValues, float],
) -> Metric:
    """Build a counter with a series per key."""
    metric_family = CounterMetricFamily(METRIC_PREFIX + metric_name, help_text, labels=label_names)
    for label_values, counter_value in values_by_labels.items():
        metric_family.add_metric(label_values, counter_value)
    return metric_family


def build_labelled_histogram(
    metric_name: str,
    help_text: str,
    histograms_by_labels: Mapping[LabelValues, Histogram],
    label_names: tuple[str, ...],
) -> Metric:
    """Build a histogram per key. The key of a histogram without labels is ()."""
    metric_family = HistogramMetricFamily(METRIC_PREFIX + metric_name, help_text, labels=label_names)
    for label_values, histogram in histograms_by_labels.items():
        metric_family.add_metric(label_values, list(_cumulative_buckets(histogram)), histogram.value_sum)
    return metric_family


def _cumulative_buckets(histogram: Histogram) -> Iterator[tuple[str, float]]:
    running_total = 0
    for upper_bound, bucket_count in zip(
        (*histogram.upper_bounds, float("inf")), histogram.bucket_counts, strict=True
    ):
        running_total += bucket_count
        yield "+Inf" if upper_bound == float("inf") else repr(float(upper_bound)), running_total
