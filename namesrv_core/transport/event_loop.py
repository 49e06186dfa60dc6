"""The choice of the event loop: uvloop if it is installed, otherwise asyncio's own."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def _find_uvloop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def run_coroutine(main: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run a coroutine to its end on uvloop or asyncio's loop."""
    with asyncio.Runner(loop_factory=_find_uvloop_factory()) as runner:
        return runner.run(main)
