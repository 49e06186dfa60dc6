"""How many requests may go out."""

import random
import threading
import time
from collections.abc import Callable

import pytest

from nsadmin.operations.collector.request_pace import RequestPace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def most_within_a_second(begun: list[tuple[float, int]]) -> int:
    return max(sum(count for at, count in begun if since <= at < since + 1) for since, _ in begun)


@pytest.mark.parametrize("seed", range(5))
def test_never_more_within_any_second(seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    pace = RequestPace(100, clock, clock.sleep)
    begun = []
    for _ in range(300):
        count = chance.randrange(1, 60)
        with pace.reserve_requests(count):
            # They begin some time after they may, and end some time later.
            clock.sleep(chance.random() * 0.1)
            begun.append((clock.now, count))
            clock.sleep(chance.random() * 0.1)
    assert most_within_a_second(begun) <= 100
    assert most_within_a_second(begun) > 50


def test_it_is_not_slower_than_it_has_to_be() -> None:
    clock = Clock()
    pace = RequestPace(100, clock, clock.sleep)
    for _ in range(100):
        with pace.reserve_requests(10):
            pass
    assert 9 <= clock.now - 100 <= 9.1


def test_more_than_may_go_in_a_second_go_as_if_they_were_that_many() -> None:
    clock = Clock()
    pace = RequestPace(10, clock, clock.sleep)
    for _ in range(3):
        with pace.reserve_requests(1000):
            pass
    assert 2 <= clock.now - 100 <= 2.1


def test_nobody_waits_who_is_told_not_to() -> None:
    clock = Clock()
    never_waits: Callable[[float], bool] = lambda seconds: True  # noqa: E731
    pace = RequestPace(1, clock, never_waits)
    for _ in range(3):
        with pace.reserve_requests(1):
            assert clock.now == 100


def test_what_is_under_way_elsewhere_is_waited_for() -> None:
    clock = Clock()
    slept: list[float] = []

    def pause(seconds: float) -> None:
        slept.append(seconds)
        clock.sleep(seconds)
        if len(slept) == 5:
            outer.__exit__(None, None, None)

    pace = RequestPace(10, clock, pause)
    outer = pace.reserve_requests(10)
    outer.__enter__()
    with pace.reserve_requests(1):
        assert len(slept) == 6
        assert clock.now >= 101


def test_a_large_reservation_is_not_overtaken_by_small_ones() -> None:
    """Issue 30: the TUI polled 300 brokers in small turns, and its query for groups never got its turn."""
    pace = RequestPace(50)
    small_turns_granted, stop = [0], threading.Event()
    large_granted_at: list[int] = []

    def take_small_turns() -> None:
        while not stop.is_set():
            with pace.reserve_requests(5):
                small_turns_granted[0] += 1

    small_threads = [threading.Thread(target=take_small_turns) for _ in range(3)]
    for thread in small_threads:
        thread.start()
    while small_turns_granted[0] < 10:
        time.sleep(0.01)
    waiting_since = small_turns_granted[0]
    with pace.reserve_requests(50):
        large_granted_at.append(small_turns_granted[0])
    stop.set()
    for thread in small_threads:
        thread.join()
    # Each small thread may have one turn that was queued before the large one, and one that was granted.
    assert large_granted_at[0] - waiting_since <= 6
