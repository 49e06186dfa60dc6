"""The complete state of a name server: tables, KV config, settings, policy and counters."""

from collections.abc import Hashable

from namesrv_core.protocol.bounded_cache import BoundedCache
from namesrv_core.state.access_policy import AccessPolicy
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.list_cache import ListCache
from namesrv_core.state.refusals import RefusalCounters
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.server_limits import LimitHits
from namesrv_core.state.settings import NameServerSettings

_ROUTE_CACHE_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 500


class NameServerState:
    """The complete state of a name server.

    `journal_status` is None without a journal. `policy` is None if every request is allowed. `limit_hits`
    counts requests over a limit. `actual_settings` has values that differ from the settings: for port 0, for
    example, the port that the server got.
    """

    def __init__(self, settings: NameServerSettings, kv_config: KvConfig, started_at_ms: int) -> None:
        self.settings = settings
        self.kv_config = kv_config
        self.tables = RouteTables()
        self.started_at_ms = started_at_ms
        self.journal_status: str | None = None
        self.actual_settings: dict[str, str] = {}
        self.policy: AccessPolicy | None = None
        self.refusals = RefusalCounters()
        self.limit_hits = LimitHits()
        self.decode_limits = settings.build_decode_limits()
        self.list_cache = ListCache(self.tables)
        self._cached_bodies: BoundedCache[Hashable, bytes] = BoundedCache(_ROUTE_CACHE_BYTES)
        self._cache_generation = 0

    @property
    def route_generation(self) -> int:
        """A number that changes whenever a route may change."""
        return self.tables.generation + self.kv_config.generation + self.settings.generation

    def get_cached_body(self, cache_key: Hashable) -> bytes | None:
        """The cached body of a route, if nothing has changed since. The body depends only on `cache_key`."""
        generation = self.route_generation
        if generation != self._cache_generation:
            self._cache_generation = generation
            self._cached_bodies.clear()
        return self._cached_bodies.get(cache_key)

    def cache_body(self, cache_key: Hashable, route_body: bytes) -> None:
        """Cache a body. Call this directly after `get_cached_body` returned None."""
        self._cached_bodies.put(cache_key, route_body, len(route_body) + _ENTRY_BYTES)
