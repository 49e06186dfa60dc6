"""Runs calls in threads, side by side."""

from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def run_side_by_side(calls: Sequence[Callable[[], T]], max_threads: int) -> list[T]:
    """Return the results in order, or raise the first error. Calls that have not begun by then do not begin.

    Each has a copy of this thread's context, which has the options of commands in advice.
    """
    # This import takes 10 ms, which other commands need not pay.
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max(1, min(len(calls), max_threads)))
    try:
        tasks = [pool.submit(copy_context().run, call) for call in calls]
        return [task.result() for task in tasks]
    finally:
        pool.shutdown(cancel_futures=True)
