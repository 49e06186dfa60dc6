"""Percentiles and a histogram of latencies. Pure."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

_BAR_WIDTH = 40
_BUCKET_LIMITS_MS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Percentiles(NamedTuple):
    """Percentiles of latencies in ms; None without a latency."""

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p999: float | None = None
    maximum: float | None = None


def find_percentiles(latencies_ms: Sequence[float]) -> Percentiles:
    """Return the percentiles by nearest rank: each is a latency that was measured."""
    if not latencies_ms:
        return Percentiles()
    sorted_latencies = sorted(latencies_ms)
    ranks = (ceil(len(sorted_latencies) * fraction) - 1 for fraction in (0.5, 0.9, 0.99, 0.999, 1))
    return Percentiles(*(sorted_latencies[max(0, rank)] for rank in ranks))


def draw_histogram(latencies_ms: Sequence[float]) -> list[str]:
    """Return a line with a bar for each range of latencies, from the first to the last that is not empty."""
    counts = [0] * (len(_BUCKET_LIMITS_MS) + 1)
    for latency_ms in latencies_ms:
        counts[sum(latency_ms >= limit_ms for limit_ms in _BUCKET_LIMITS_MS)] += 1
    filled_buckets = [bucket for bucket, count in enumerate(counts) if count]
    if not filled_buckets:
        return []
    lines = []
    for bucket in range(filled_buckets[0], filled_buckets[-1] + 1):
        is_last = bucket == len(_BUCKET_LIMITS_MS)
        limit_text = f">= {_BUCKET_LIMITS_MS[-1]:g}" if is_last else f"< {_BUCKET_LIMITS_MS[bucket]:g}"
        bar_text = "#" * ceil(counts[bucket] * _BAR_WIDTH / max(counts))
        lines.append(f"{limit_text:>7} ms {counts[bucket]:>8} {bar_text}".rstrip())
    return lines
