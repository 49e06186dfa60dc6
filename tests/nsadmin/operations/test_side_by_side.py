"""Calls side by side."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from threading import Barrier, Event

import pytest

from nsadmin.operations.side_by_side import run_side_by_side

OPTION = ContextVar("OPTION", default="none")


def test_calls_run_at_the_same_time_with_the_context_of_the_caller() -> None:
    OPTION.set("some")
    both_run = Barrier(2, timeout=10)

    def call(name: str) -> str:
        both_run.wait()
        return f"{name} {OPTION.get()}"

    assert run_side_by_side([partial(call, "a"), partial(call, "b")], 8) == ["a some", "b some"]
    assert run_side_by_side(list[Callable[[], str]](), 8) == []


def test_the_first_error_is_raised_and_ends_the_rest() -> None:
    begun = []

    def call(number: int) -> None:
        begun.append(number)
        if number == 0:
            raise ValueError("first")
        Event().wait(0.05)

    with pytest.raises(ValueError, match="first"):
        run_side_by_side([partial(call, number) for number in range(200)], 1)
    assert len(begun) < 200
