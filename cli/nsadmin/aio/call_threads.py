"""CallThreads, which runs blocking calls in threads and ends them when their task is cancelled."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.connection_pool import MAX_CALLS_AT_ONCE

T = TypeVar("T")


class CallThreads:
    """Runs the calls of one client, each in a thread. Further calls wait for a free thread."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._executor = ThreadPoolExecutor(MAX_CALLS_AT_ONCE, thread_name_prefix="nsadmin")

    async def run_call(self, function: Callable[[], T]) -> T:
        """Run a function that sends requests. If the task is cancelled, its requests end at once."""
        # The executor would raise a RuntimeError.
        self._caller.require_open()
        scope = self._caller.open_task_scope()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._executor, self._caller.run_in_scope, scope, function
            )
        except asyncio.CancelledError:
            self._caller.end_task_scope(scope)
            raise

    async def iterate_items(self, make_iterator: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        """Yield the items of an iterator that sends requests."""
        iterator = await self.run_call(make_iterator)
        while True:
            # A StopIteration cannot leave a coroutine.
            next_items = await self.run_call(lambda: list(islice(iterator, 1)))
            if not next_items:
                return
            yield next_items[0]

    async def wait_until_idle(self) -> None:
        """Wait until the threads have ended. Close the client first, which ends their calls."""
        await asyncio.to_thread(self._executor.shutdown)
