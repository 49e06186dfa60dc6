"""Memory: how seldom it is looked through for garbage, and how large blocks of it are placed."""

import contextlib
import ctypes
import gc

_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of malloc.h: bytes from which on memory is mapped apart."""


def collect_seldom() -> None:
    """Cycles are rare here, and a look for them goes through all topics of all brokers."""
    gc.freeze()
    # What is new is looked through in less than a millisecond, what is older once a million objects are new.
    gc.set_threshold(5_000, 200, 50)


def map_large() -> None:
    """Have glibc place whatever is large apart, where it can grow without being copied, and be given back.

    By itself it stops doing so once something large was freed, and a registration of 13 MB was copied once
    more while it came in: 7 ms. Without glibc nothing is done.
    """
    with contextlib.suppress(AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, 1 << 20)
        libc.malloc_trim(0)
