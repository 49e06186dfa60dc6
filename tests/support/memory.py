"""Memory that a call keeps: what Python's allocator has handed out and not got back."""

import gc
import tracemalloc
from collections.abc import Callable

MEGABYTE = 1 << 20


def kept_megabytes(call: Callable[[], object]) -> float:
    """How many megabytes are still in use after the call, beyond those of before."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / MEGABYTE
    finally:
        tracemalloc.stop()
