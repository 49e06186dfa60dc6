"""Keeper: a change reaches the disk before it is answered, and no other request waits for that.

Changes that come while one is being written go with the next write, all of them in one.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")

Kept = Callable[[Exception | None], None]


class Keeper(Generic[S]):
    """`snapshot` copies what is to be kept, `save` writes it (in a thread), `restore` goes back to it.

    `kept` is the copy that is on the disk.
    """

    def __init__(
        self, snapshot: Callable[[], S], save: Callable[[S], None], restore: Callable[[S], None]
    ) -> None:
        self._snapshot = snapshot
        self._save = save
        self._restore = restore
        self.kept = snapshot()
        self._waiting: list[Kept] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def is_writing(self) -> bool:
        """Whether something has changed that is not on the disk yet."""
        return self._writing is not None

    def keep(self, kept: Kept) -> None:
        """Write what is there now; `kept` is told None, or why it could not be: then it is undone."""
        self._waiting.append(kept)
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            told, self._waiting = self._waiting, []
            snapshot = self._snapshot()
            try:
                await asyncio.to_thread(self._save, snapshot)
            except Exception as error:
                # What came meanwhile was built on what is undone now, and is undone with it.
                told += self._waiting
                self._waiting = []
                self._restore(self.kept)
                failure: Exception | None = error
            else:
                self.kept = snapshot
                failure = None
            for kept in told:
                kept(failure)
        self._writing = None

    async def finish(self) -> None:
        """Until all that was asked for is written."""
        if self._writing is not None:
            await self._writing
