"""Keeper: a change reaches the disk before it is answered, and no other request waits for that.

Changes that come while one is being written go with the next write, all of them in one.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

CopyT = TypeVar("CopyT")

PersistCallback = Callable[[Exception | None], None]


class ChangePersister(Generic[CopyT]):
    """`snapshot` copies what is to be kept, `save` writes it (in a thread), `restore` goes back to it.

    `kept` is the copy that is on the disk.
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
        """Whether something has changed that is not on the disk yet."""
        return self._write_task is not None

    def persist_change(self, on_persisted: PersistCallback) -> None:
        """Write what is there now; `kept` is told None, or why it could not be: then it is undone."""
        self._waiting_callbacks.append(on_persisted)
        if self._write_task is None:
            self._write_task = asyncio.get_running_loop().create_task(self._write_changes())

    async def _write_changes(self) -> None:
        while self._waiting_callbacks:
            written_callbacks, self._waiting_callbacks = self._waiting_callbacks, []
            written_copy = self._take_copy()
            try:
                await asyncio.to_thread(self._save_copy, written_copy)
            except Exception as error:
                # What came meanwhile was built on what is undone now, and is undone with it.
                written_callbacks += self._waiting_callbacks
                self._waiting_callbacks = []
                self._restore_copy(self.persisted_copy)
                write_failure: Exception | None = error
            else:
                self.persisted_copy = written_copy
                write_failure = None
            for on_persisted in written_callbacks:
                on_persisted(write_failure)
        self._write_task = None

    async def finish_writes(self) -> None:
        """Until all that was asked for is written."""
        if self._write_task is not None:
            await self._write_task
