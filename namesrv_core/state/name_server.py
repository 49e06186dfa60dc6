"""The complete state of a name server: tables, KV config, settings, policy and counters."""

from collections.abc import Hashable

from namesrv_core.state.kv import KvConfig
from namesrv_core.state.limits import Met
from namesrv_core.state.policy import Policy
from namesrv_core.state.refusals import Refusals
from namesrv_core.state.settings import Settings
from namesrv_core.state.tables import RouteTables

_BODIES_LIMIT = 32 * 1024 * 1024


class NameServerState:
    """The complete state of a name server.

    `journal_status` is None without a journal. `policy` is None if every request is allowed. `limit_hits`
    counts requests over a limit. `actual_settings` has values that differ from the settings: for port 0, for
    example, the port that the server got.
    """

    def __init__(self, settings: Settings, kv: KvConfig, started_at: int) -> None:
        self.settings = settings
        self.kv = kv
        self.tables = RouteTables()
        self.started_at = started_at
        self.journal_status: str | None = None
        self.shown: dict[str, str] = {}
        self.policy: Policy | None = None
        self.refusals = Refusals()
        self.met = Met()
        self.limits = settings.limits()
        self._bodies: dict[Hashable, bytes] = {}
        self._bodies_size = 0
        self._bodies_generation = 0

    @property
    def generation(self) -> int:
        """A number that changes whenever a route may change."""
        return self.tables.generation + self.kv.generation + self.settings.generation

    def remembered_body(self, key: Hashable) -> bytes | None:
        """The cached body of a route, if nothing has changed since. The body depends only on `cache_key`."""
        generation = self.generation
        if generation != self._bodies_generation or self._bodies_size > _BODIES_LIMIT:
            self._bodies_generation = generation
            self._bodies.clear()
            self._bodies_size = 0
        return self._bodies.get(key)

    def remember_body(self, key: Hashable, body: bytes) -> None:
        """Cache a body. Call this directly after `get_cached_body` returned None."""
        self._bodies[key] = body
        self._bodies_size += len(body)
