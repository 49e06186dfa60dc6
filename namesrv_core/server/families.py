"""Families of metrics, as prometheus_client wants them, made of plain numbers and histograms."""

import zlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from namesrv_core.server.counters import Histogram

PREFIX = "nsadmin_namesrv_"

Labels = TypeVar("Labels", bound=tuple[str, ...])

_LONGEST = 128


def label(name: str) -> str:
    """A name that a peer chose, as a label of bounded length; one that had to be changed has a number."""
    text = name[:_LONGEST].encode("utf-8", "replace").decode()
    return text if text == name else f"{text}#{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def gauge(name: str, text: str, value: float) -> Metric:
    """A gauge of one series."""
    return GaugeMetricFamily(PREFIX + name, text, float(value))


def counter(name: str, text: str, value: float) -> Metric:
    """A counter of one series; its name is without `_total`."""
    return CounterMetricFamily(PREFIX + name, text, float(value))


def labelled_gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[Labels, float]) -> Metric:
    """A gauge with a series for each key of `values`."""
    family = GaugeMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def labelled_counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[Labels, float]) -> Metric:
    """A counter with a series for each key of `values`."""
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def labelled_histogram(
    name: str, text: str, values: Mapping[Labels, Histogram], labels: tuple[str, ...]
) -> Metric:
    """A histogram for each key of `values`; the key of one without labels is ()."""
    family = HistogramMetricFamily(PREFIX + name, text, labels=labels)
    for key, histogram in values.items():
        family.add_metric(key, list(_buckets(histogram)), histogram.total)
    return family


def _buckets(histogram: Histogram) -> Iterator[tuple[str, float]]:
    total = 0
    for bound, count in zip((*histogram.bounds, float("inf")), histogram.counts, strict=True):
        total += count
        yield "+Inf" if bound == float("inf") else repr(float(bound)), total
