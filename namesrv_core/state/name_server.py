"""NameServerState: all of what a name server knows, in one hand."""

from collections.abc import Hashable

from namesrv_core.state.kv import KvConfig
from namesrv_core.state.limits import Met
from namesrv_core.state.policy import Policy
from namesrv_core.state.refusals import Refusals
from namesrv_core.state.settings import Settings
from namesrv_core.state.tables import RouteTables

_BODIES_LIMIT = 32 * 1024 * 1024


class NameServerState:
    """`started_at` is in ms. `journal_status` is None without a journal, `policy` where all is allowed.

    `met` is what was over a limit, `shown` are settings that are really others, such as the port taken
    where 0 asked for a free one.
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
        """Moves whenever an answer about routes may change."""
        return self.tables.generation + self.kv.generation + self.settings.generation

    def remembered_body(self, key: Hashable) -> bytes | None:
        """The body of a route answered before, if nothing has changed since; `key` is all it depends on."""
        generation = self.generation
        if generation != self._bodies_generation or self._bodies_size > _BODIES_LIMIT:
            self._bodies_generation = generation
            self._bodies.clear()
            self._bodies_size = 0
        return self._bodies.get(key)

    def remember_body(self, key: Hashable, body: bytes) -> None:
        """Keep what `remembered_body` did not have, asked for at this same moment."""
        self._bodies[key] = body
        self._bodies_size += len(body)
