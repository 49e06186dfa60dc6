"""A cache with a bound on its bytes."""

import pytest

from namesrv_core.protocol.bounded_cache import BoundedCache


def test_an_entry_is_found_until_the_cache_is_full() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 6)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), cache.total_bytes) == (1, 2, None, 10)
    cache.put("c", 3, 1)
    assert (cache.get("a"), cache.get("c"), cache.total_bytes) == (None, 3, 1)


def test_an_entry_that_is_larger_than_the_cache_displaces_nothing() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 11)
    assert (cache.get("a"), cache.get("b"), cache.total_bytes) == (1, None, 4)


def test_a_cleared_cache_is_empty_and_goes_on() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 4)
    cache.clear()
    assert (cache.get("a"), cache.total_bytes) == (None, 0)
    cache.put("a", 5, 4)
    assert cache.get("a") == 5


@pytest.mark.parametrize("size", [1, 3, 7])
def test_the_bytes_of_all_entries_never_exceed_the_bound(size: int) -> None:
    cache: BoundedCache[int, int] = BoundedCache(20)
    for number in range(100):
        cache.put(number, number, size)
        assert len(cache) * size == cache.total_bytes <= 20
