"""Computations in steps: generators that pause, and return their result after the last step."""

from collections.abc import Generator
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def run_all_steps(steps: Generator[Any, None, ResultT]) -> ResultT:
    """Take all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: ResultT = stop.value
            return result
