"""NameServerState: all of what a name server knows, in one hand."""

from namesrv_core.state.kv import KvConfig
from namesrv_core.state.settings import Settings
from namesrv_core.state.tables import RouteTables

_BODIES_LIMIT = 32 * 1024 * 1024


class NameServerState:
    """`started_at` is in ms; `journal_status` is None where there is no journal."""

    def __init__(self, settings: Settings, kv: KvConfig, started_at: int) -> None:
        self.settings = settings
        self.kv = kv
        self.tables = RouteTables()
        self.started_at = started_at
        self.journal_status: str | None = None
        self._bodies: dict[tuple[str | None, bool], bytes] = {}
        self._bodies_size = 0
        self._bodies_generation = 0

    def remembered_body(self, topic: str | None, standard: bool) -> bytes | None:
        """The body of a route answered before, if nothing has changed since."""
        generation = self.tables.generation + self.kv.generation + self.settings.generation
        if generation != self._bodies_generation or self._bodies_size > _BODIES_LIMIT:
            self._bodies_generation = generation
            self._bodies.clear()
            self._bodies_size = 0
        return self._bodies.get((topic, standard))

    def remember_body(self, topic: str | None, standard: bool, body: bytes) -> None:
        """Keep what `remembered_body` did not have, asked for at this same moment."""
        self._bodies[topic, standard] = body
        self._bodies_size += len(body)
