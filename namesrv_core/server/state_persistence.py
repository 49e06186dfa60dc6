"""StatePersistence, which writes changed KV tables and settings to disk before requests are answered."""

from collections.abc import Sequence
from pathlib import Path

from namesrv_core.events import Event
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.server.persister import ChangePersister
from namesrv_core.state.kv_config import NamespaceTables
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.storage import kv_file, settings_file

PERSISTED_REQUESTS = frozenset(
    {RequestCode.PUT_KV_CONFIG, RequestCode.DELETE_KV_CONFIG, RequestCode.UPDATE_NAMESRV_CONFIG}
)
"""The requests whose changes are written to disk."""


class StatePersistence:
    """Has one persister for the KV config and one for the settings of a name server."""

    def __init__(self, state: NameServerState) -> None:
        settings, kv_config, kv_path = state.settings, state.kv_config, Path(state.settings.kvConfigPath)
        self._kv_persister: ChangePersister[NamespaceTables] = ChangePersister(
            lambda: {namespace: dict(table) for namespace, table in kv_config.tables_by_namespace.items()},
            lambda tables: kv_file.save_kv_tables(kv_path, tables),
            kv_config.restore_tables,
        )
        self._settings_persister: ChangePersister[dict[str, str]] = ChangePersister(
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
        persister = (
            self._settings_persister if code == RequestCode.UPDATE_NAMESRV_CONFIG else self._kv_persister
        )
        return persister if events or persister.is_writing else None

    def persisted_copies(self) -> tuple[NamespaceTables, dict[str, str]]:
        """The KV tables and the settings that are on disk."""
        return self._kv_persister.persisted_copy, self._settings_persister.persisted_copy

    async def finish_writes(self) -> None:
        """Wait until every change is on disk."""
        await self._kv_persister.finish_writes()
        await self._settings_persister.finish_writes()
