"""The limits of a server: the keys of their settings, their defaults, and how often each was exceeded."""

from collections.abc import Mapping

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from namesrv_core.protocol.resource_names import DEFAULT_NAME_BYTES
from namesrv_core.protocol.size_limits import UNLIMITED

_KIB, _MIB = 1 << 10, 1 << 20

DEFAULT_LIMITS: Mapping[str, int] = {
    "maxConnections": 100_000,
    "maxConnectionsPerAddress": 10_000,
    "maxFrameBytes": MAX_FRAME_BYTES,
    "maxHeaderBytes": 128 * _KIB,
    "maxExtFields": 256,
    "maxJsonDepth": 100,
    "maxFramesPerSecond": 10_000,
    "maxBytesPerSecond": 64 * _MIB,
    "maxSecondsPerFrame": 60,
    "maxUnsentBytes": 64 * _MIB,
    "maxUnsentSeconds": 60,
    "maxBufferedBytes": 256 * _MIB,
    "maxRegistrationBytes": 64 * _MIB,
    "maxTopicsPerRegistration": 100_000,
    "maxMappingsPerRegistration": 10_000,
    "maxQueueIdsPerRegistration": 20_000,
    "maxFilterServersPerRegistration": 1_000,
    "maxOddRegistrationBytes": 4 * _MIB,
    "maxBodyBytes": 256 * _KIB,
    "maxNameBytes": DEFAULT_NAME_BYTES,
    "maxTopics": 1_000_000,
    "maxBrokers": 10_000,
    "maxKvEntryBytes": 64 * _KIB,
    "maxKvBytes": 8 * _MIB,
}
"""The defaults exceed the needs of any real cluster. Zero or less means no limit."""

_MAX_UNLOGGED_HITS = 16


def effective_limit(value: int) -> int:
    return value if value > 0 else UNLIMITED


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
