"""ChangePersister, which writes a change to disk before it is answered, without delaying other requests.

Changes that arrive during a write are combined into the next write.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

CopyT = TypeVar("CopyT")

PersistCallback = Callable[[Exception | None], None]


class ChangePersister(Generic[CopyT]):
    """Persists an object by copies of it.

    `take_copy` makes a copy, `save_copy` writes it (in a thread) and `restore_copy` reverts to it.
    `persisted_copy` is the copy on disk.
    """

    def __init__(
        self,
        take_copy: Callable[[], CopyT],
        save_copy: Callable[[CopyT], None],
        restore_copy: Callable[[CopyT], None],
    ) -> None:
        self._take_copy = take_copy
        self._save_copy = save_copy
        self._restore_copy = restore_copy
        self.persisted_copy = take_copy()
        self._waiting_callbacks: list[PersistCallback] = []
        self._write_task: asyncio.Task[None] | None = None

    @property
    def is_writing(self) -> bool:
        """Whether there are changes that are not on disk yet."""
        return self._write_task is not None

    def persist_change(self, on_persisted: PersistCallback) -> None:
        """Write the current content. Calls back with None, or with the error after the change is undone."""
        self._waiting_callbacks.append(on_persisted)
        if self._write_task is None:
            self._write_task = asyncio.get_running_loop().create_task(self._write_changes())

    async def _write_changes(self) -> None:
        while self._waiting_callbacks:
            callbacks, self._waiting_callbacks = self._waiting_callbacks, []
            copy = self._take_copy()
            try:
                await asyncio.to_thread(self._save_copy, copy)
            except Exception as error:
                # Changes during the write were based on the undone one, so they are undone as well.
                callbacks += self._waiting_callbacks
                self._waiting_callbacks = []
                self._restore_copy(self.persisted_copy)
                failure: Exception | None = error
            else:
                self.persisted_copy = copy
                failure = None
            for on_persisted in callbacks:
                on_persisted(failure)
        self._write_task = None

    async def finish_writes(self) -> None:
        """Wait until all changes are written."""
        if self._write_task is not None:
            await self._write_task
