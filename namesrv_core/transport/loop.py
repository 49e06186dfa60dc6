"""Which event loop: uvloop where it is installed, asyncio's own elsewhere."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def _uvloop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end on the best loop there is."""
    with asyncio.Runner(loop_factory=_uvloop()) as runner:
        return runner.run(main)
