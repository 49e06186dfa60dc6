"""LimitHits, which counts how often each limit of a server was exceeded."""

from namesrv_core.state.settings import DEFAULT_LIMITS

_MAX_UNLOGGED_HITS = 16


class LimitHits:
    """Counts requests over a limit. `hit_counts` are by the key of the limit, and only grow."""

    def __init__(self) -> None:
        self.hit_counts = dict.fromkeys(DEFAULT_LIMITS, 0)
        self.unlogged_hits: list[tuple[str, str]] = []
        """Limit keys and texts for the log: the first few since the server last emptied the list."""

    def record_hit(self, limit_key: str, text: str) -> None:
        self.hit_counts[limit_key] += 1
        if len(self.unlogged_hits) < _MAX_UNLOGGED_HITS:
            self.unlogged_hits.append((limit_key, text))
