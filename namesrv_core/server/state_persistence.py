"""StatePersistence, which writes changed KV tables and settings to disk before requests are answered.

ChangePersister does so without delaying other requests. Changes that arrive during a write are combined into
the next write.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from namesrv_core.events import Event
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.state.kv_config import NamespaceTables
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.storage import kv_file, settings_file

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
        self._callbacks: list[PersistCallback] = []
        self._write_task: asyncio.Task[None] | None = None

    @property
    def is_writing(self) -> bool:
        """Whether there are changes that are not on disk yet."""
        return self._write_task is not None

    def persist_change(self, on_persisted: PersistCallback) -> None:
        """Write the current content. Calls back with None, or with the error after the change is undone."""
        self._callbacks.append(on_persisted)
        if self._write_task is None:
            self._write_task = asyncio.get_running_loop().create_task(self._write_changes())

    async def _write_changes(self) -> None:
        while self._callbacks:
            callbacks, self._callbacks = self._callbacks, []
            copy = self._take_copy()
            try:
                await asyncio.to_thread(self._save_copy, copy)
            except Exception as error:
                # Changes during the write were based on the undone one, so they are undone as well.
                callbacks += self._callbacks
                self._callbacks = []
                self._restore_copy(self.persisted_copy)
                failure: Exception | None = error
            else:
                self.persisted_copy = copy
                failure = None
            for on_persisted in callbacks:
                on_persisted(failure)
        self._write_task = None

    async def finish_writes(self) -> None:
        if self._write_task is not None:
            await self._write_task


PERSISTED_REQUESTS = frozenset(
    {RequestCode.PUT_KV_CONFIG, RequestCode.DELETE_KV_CONFIG, RequestCode.UPDATE_NAMESRV_CONFIG}
)
"""The requests whose changes are written to disk."""


class StatePersistence:
    """Has one persister for the KV config and one for the settings of a name server."""

    def __init__(self, state: NameServerState) -> None:
        settings, kv_config, kv_path = state.settings, state.kv_config, Path(state.settings.kvConfigPath)
        self._kv: ChangePersister[NamespaceTables] = ChangePersister(
            lambda: {namespace: dict(table) for namespace, table in kv_config.tables_by_namespace.items()},
            lambda tables: kv_file.save_kv_tables(kv_path, tables),
            kv_config.restore_tables,
        )
        self._settings: ChangePersister[dict[str, str]] = ChangePersister(
            settings.shown_items,
            lambda items: settings_file.save_settings(
                Path(settings.configStorePath), {**items, **settings.hidden}
            ),
            settings.restore_items,
        )

    def persister_of_request(
        self, code: int, events: Sequence[Event]
    ) -> ChangePersister[NamespaceTables] | ChangePersister[dict[str, str]] | None:
        """The persister that a request must wait for: it made a change, or an earlier one is not on disk."""
        if code not in PERSISTED_REQUESTS:
            return None
        persister = self._settings if code == RequestCode.UPDATE_NAMESRV_CONFIG else self._kv
        return persister if events or persister.is_writing else None

    def persisted_copies(self) -> tuple[NamespaceTables, dict[str, str]]:
        """The KV tables and the settings that are on disk."""
        return self._kv.persisted_copy, self._settings.persisted_copy

    async def finish_writes(self) -> None:
        await self._kv.finish_writes()
        await self._settings.finish_writes()
