"""BoundedCache, a cache with a bound on the bytes of its entries.

Peers choose keys and values of the caches of a name server, so a number of entries is no bound.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

CacheKey = TypeVar("CacheKey")
CacheValue = TypeVar("CacheValue")


class BoundedCache(Generic[CacheKey, CacheValue]):
    """A cache that forgets everything once it is full. `get` returns None for an unknown key.

    `total_bytes` is the sum of the entries' sizes, which the callers of `put` estimate.
    """

    __slots__ = ("_entries", "_max_bytes", "get", "total_bytes")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: dict[CacheKey, CacheValue] = {}
        # The dict's own method: a lookup takes no additional call.
        self.get: Callable[[CacheKey], CacheValue | None] = self._entries.get
        self.total_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, key: CacheKey, value: CacheValue, size: int) -> None:
        """Add an entry with a new key. An entry that is larger than the cache is left out."""
        if size > self._max_bytes:
            return
        if self.total_bytes + size > self._max_bytes:
            self.clear()
        self._entries[key] = value
        self.total_bytes += size

    def clear(self) -> None:
        self._entries.clear()
        self.total_bytes = 0
